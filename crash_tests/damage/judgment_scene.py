"""Judgments, links and promotions, in partitions of their own, where nobody does anything else.

What always holds: after three rounds there are rows in every table that they leave, some changed, some gone again.
"""

from __future__ import annotations

from typing import Any, Final

from crash_tests.company import COMPANY
from crash_tests.violation import require
from relatum.clock import ManualClock
from relatum.core.answers.receipts import LinkKind
from relatum.core.commands import (
    ArchiveRecord,
    CreateRecord,
    DeleteRecord,
    MarkStale,
    PinRecord,
    RecordOperation,
    RelationOperation,
    RestoreRelation,
    RetireRelation,
    SaveRecord,
    UnarchiveRecord,
    UnpinRecord,
)
from relatum.core.decide.saves import Detected, Hit
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Author, Ref, Scope, memory_partition
from relatum.core.judgments import (
    Comparing,
    Comparison,
    ConfirmationInput,
    Confirming,
    JudgmentOperation,
    Pair,
    Submitting,
    Sweeping,
    Undoing,
)
from relatum.core.links import Link, LinkOperation, LinkReceipt, Unlink
from relatum.core.log import TILE_HASHES
from relatum.core.promotions import MiningRun, Promoting, Proposal
from relatum.core.receipts import RecordReceipt, RelationReceipt
from relatum.core.records import RecordInput, RecordProvenance
from relatum.core.stored_judgments import SweepRun
from relatum.core.verdicts import Verdict
from relatum.ledger import Ledger
from relatum.ledger.writer.submission import RecordSubmission
from relatum.limits import DAY_MILLIS

LONG: Final = memory_partition(COMPANY, "judge", Scope(project_id="long", agent_id="scout", visibility="shared"))
"""Two records that are linked over and over, so that its log has tiles."""
JUDGED: Final = memory_partition(COMPANY, "judge", Scope(project_id="judged", agent_id="scout", visibility="shared"))


FROM: Final = RecordProvenance(source_id="timetable")


class Judge:
    """Whoever judges there, one round after another."""

    def __init__(self, clock: ManualClock, author: Author) -> None:
        self._clock = clock
        self._author = author
        self._keys = 0
        self._rounds = 0
        self._kept: list[Ref] = []
        self._spare: Ref | None = None
        """A record that is there in one round and gone in the next."""
        self._linked: list[str] = []

    def round(self, ledger: Ledger) -> None:
        """A round: every kind of command once at least."""
        self._rounds += 1
        old = self._save(ledger, "it left at nine", topic_key="ferry", fact_key="departure")
        new = self._save(ledger, "it left at ten", old, *self._kept[-2:], topic_key="ferry", fact_key="departure")
        kept = self._save(ledger, "kept", new, fact_key="kept", provenance=FROM)
        gone = self._record(ledger, CreateRecord(record=_said("gone", fact_key="kept", provenance=FROM)))
        self._kept.append(kept)
        if self._spare is not None:
            self._record(ledger, DeleteRecord(record_id=self._spare.record_id, expected_revision=1))
        self._spare = self._record(ledger, CreateRecord(record=_said("spare", provenance=FROM)))
        self._judge(ledger, _pairs((old, kept), (new, gone)))
        given = self._compare(ledger, kept, new, "supersedes")
        at = self._relation(ledger, RetireRelation(relation_id=given, expected_revision=1, evidence_ref="note"))
        if self._rounds % 2:
            self._relation(ledger, RestoreRelation(relation_id=given, expected_revision=at, evidence_ref="note"))
        self._compare(ledger, gone, kept, "related")
        self._stand(ledger, old, new, kept)
        self._links(ledger, old, new, gone)
        self._judge(ledger, _proposals(self._rounds, self._kept[0], new, (old, kept)))
        self._clock.advance(20 * DAY_MILLIS)
        swept = self._judge(ledger, Sweeping())
        assert isinstance(swept.operation, SweepRun)
        if self._rounds % 2:
            self._judge(ledger, Undoing(run_id=swept.operation.run_id))
        self._record(ledger, DeleteRecord(record_id=gone.record_id, expected_revision=1))

    def fill_tile(self, ledger: Ledger) -> None:
        """As many events as a tile of the log has hashes, in a partition of their own."""
        key, author = self._key, self._author
        if not self._linked:
            made = [ledger.command(LONG, author, key(), CreateRecord(record=_said(one))) for one in ("one", "other")]
            receipts = ledger.submit_all(made)
            self._linked = [receipt.record_id for receipt in receipts if isinstance(receipt, RecordReceipt)]
        source, target = self._linked
        kinds: tuple[LinkKind, ...] = ("related", "supports")
        links = [Link(source_id=source, target_id=target, kind=kind) for kind in kinds * (TILE_HASHES // 2)]
        receipts = ledger.submit_all([ledger.command(LONG, author, key(), link) for link in links])
        require(all(isinstance(receipt, LinkReceipt) for receipt in receipts), "a sound link was refused")

    def _stand(self, ledger: Ledger, old: Ref, new: Ref, kept: Ref) -> None:
        at, first = _at(kept), _at(self._kept[0])
        self._record(ledger, ArchiveRecord(**at))
        if self._rounds % 2:
            self._record(ledger, UnarchiveRecord(**at))
        self._record(ledger, PinRecord(**at) if self._rounds != 2 else UnpinRecord(**first))
        self._record(ledger, MarkStale(record_id=kept.record_id, because=new))
        given = ConfirmationInput(record_id=old.record_id, outcome="refuted", evidence_ref="note")
        self._judge(ledger, Confirming(confirmations=(given,)))

    def _links(self, ledger: Ledger, old: Ref, new: Ref, gone: Ref) -> None:
        one, other = old.record_id, new.record_id
        self._link(ledger, Link(source_id=one, target_id=other, kind="related"))
        self._link(ledger, Link(source_id=one, target_id=gone.record_id, kind="supports"))
        self._link(ledger, Link(source_id=other, target_id=one, kind="conflicts"))
        if self._rounds == 2:
            self._link(ledger, Unlink(source_id=one, target_id=other))

    # Commands

    def _save(self, ledger: Ledger, content: str, *like: Ref, **members: Any) -> Ref:
        hits = tuple(Hit(ref.record_id, 0.5) for ref in like)
        return self._record(ledger, SaveRecord(record=_said(content, **members)), Detected(hits))

    def _record(self, ledger: Ledger, operation: RecordOperation, detected: Detected | None = None) -> Ref:
        given = ledger.command(JUDGED, self._author, self._key(), operation)
        assert isinstance(given, RecordSubmission)
        receipt = ledger.submit(given if detected is None else given._replace(detected=detected))
        assert isinstance(receipt, RecordReceipt), receipt
        return Ref(record_id=receipt.record_id, revision=receipt.revision)

    def _relation(self, ledger: Ledger, operation: RelationOperation) -> int:
        receipt = ledger.submit(ledger.command(JUDGED, self._author, self._key(), operation))
        assert isinstance(receipt, RelationReceipt), receipt
        return receipt.revision

    def _link(self, ledger: Ledger, operation: LinkOperation) -> None:
        receipt = ledger.submit(ledger.command(JUDGED, self._author, self._key(), operation))
        require(isinstance(receipt, LinkReceipt), f"a sound link was refused: {receipt}")

    def _compare(self, ledger: Ledger, source: Ref, target: Ref, relation: Verdict) -> str:
        comparison = Comparison(
            source_id=source.record_id, target_id=target.record_id, relation=relation, confidence=0.5, reason="so"
        )
        event = self._judge(ledger, Comparing(comparison=comparison))
        assert event.receipt is not None
        return event.receipt.relation_id

    def _judge(self, ledger: Ledger, operation: JudgmentOperation) -> JudgmentEvent:
        outcomes = ledger.judgments.submit(JUDGED, self._author, self._key(), operation)
        assert isinstance(outcomes, list), outcomes
        assert isinstance(outcomes[0], JudgmentEvent), outcomes
        return outcomes[0]

    def _key(self) -> str:
        self._keys += 1
        return f"judgment {self._keys}"


def _said(content: str, **members: Any) -> RecordInput:
    return RecordInput(content=content, **members)


def _at(ref: Ref) -> dict[str, Any]:
    return {"record_id": ref.record_id, "expected_revision": ref.revision}


def _pairs(*pairs: tuple[Ref, Ref]) -> Submitting:
    return Submitting(candidates=tuple(Pair(source=one.record_id, target=other.record_id) for one, other in pairs))


def _proposals(day: int, first: Ref, new: Ref, unrelated: tuple[Ref, Ref]) -> Promoting:
    """Two records are suspected; an edge between two that nobody has related is promoted."""
    run = MiningRun(run_id=f"run {day}", run_date=f"2023-11-{day:02}")
    source, target = unrelated
    suspected = Proposal(source_id=first.record_id, target_id=new.record_id, kind="contradicts", confidence=0.99)
    supported = Proposal(source_id=source.record_id, target_id=target.record_id, kind="supports", confidence=0.99)
    return Promoting(run=run, proposals=(suspected, supported))
