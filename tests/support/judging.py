"""Judgments for tests: a desk that saves, judges, compares, sweeps and undoes in process."""

from __future__ import annotations

from itertools import count
from typing import Any

from relatum.core.answers.standings import Outcome
from relatum.core.candidates import Candidate, CandidateChange, Opened
from relatum.core.commands import (
    ArchiveRecord,
    PinRecord,
    RecordOperation,
    SaveRecord,
    UnarchiveRecord,
    UnpinRecord,
)
from relatum.core.decide.saves import Detected, Hit
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Author, Partition, Ref
from relatum.core.judgments import (
    Comparing,
    Comparison,
    ConfirmationInput,
    Confirming,
    Judging,
    Judgment,
    JudgmentOperation,
    Pair,
    Submitting,
    Sweeping,
    Undoing,
)
from relatum.core.receipts import RecordReceipt
from relatum.core.standings import Standing
from relatum.core.verdicts import Verdict
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.writer.submission import RecordSubmission
from tests.support.builders import ADA, PARTITION, record

NO_DETECTION = Detected()


class JudgingDesk:
    """Gives judgment commands in one partition, each under a key of its own."""

    def __init__(self, ledger: Ledger, partition: Partition = PARTITION, author: Author = ADA) -> None:
        self.ledger = ledger
        self.partition = partition
        self.author = author
        self._keys = count(1)

    # Records

    def save(
        self, content: str = "the tide turned at noon", *, like: tuple[Ref, ...] = (), most: int = 5, **members: Any
    ) -> Ref:
        """Saves a record; the records of `like` are what the index is made to find."""
        receipt = self.try_save(content, like=like, most=most, **members)
        assert isinstance(receipt, RecordReceipt), receipt
        return Ref(record_id=receipt.record_id, revision=receipt.revision)

    def try_save(
        self, content: str, *, like: tuple[Ref, ...] = (), most: int = 5, **members: Any
    ) -> RecordReceipt | Refusal:
        operation = SaveRecord(record=record(content, **members), candidates_max=most)
        detected = Detected(tuple(Hit(ref.record_id, 0.5) for ref in like))
        return self._record(operation, detected)

    def archive(self, ref: Ref) -> RecordReceipt | Refusal:
        return self._record(ArchiveRecord(record_id=ref.record_id, expected_revision=ref.revision))

    def unarchive(self, ref: Ref) -> RecordReceipt | Refusal:
        return self._record(UnarchiveRecord(record_id=ref.record_id, expected_revision=ref.revision))

    def pin(self, ref: Ref) -> RecordReceipt | Refusal:
        return self._record(PinRecord(record_id=ref.record_id, expected_revision=ref.revision))

    def unpin(self, ref: Ref) -> RecordReceipt | Refusal:
        return self._record(UnpinRecord(record_id=ref.record_id, expected_revision=ref.revision))

    def _record(self, operation: RecordOperation, detected: Detected = NO_DETECTION) -> RecordReceipt | Refusal:
        given = self.ledger.command(self.partition, self.author, self.key(), operation)
        assert isinstance(given, RecordSubmission)
        receipt = self.ledger.submit(given._replace(detected=detected))
        assert isinstance(receipt, RecordReceipt | Refusal)
        return receipt

    # Judgments

    def judge(self, candidate_id: str, relation: Verdict, **members: Any) -> JudgmentEvent:
        """One verdict; its event, refused or not."""
        [event] = self.judge_all([Judgment(candidate_id=candidate_id, relation=relation, **members)])
        return event

    def judge_all(self, judgments: list[Judgment], key: str | None = None) -> list[JudgmentEvent]:
        outcomes = self.command(Judging(judgments=tuple(judgments)), key)
        assert not isinstance(outcomes, Refusal), outcomes
        return outcomes

    def compare(self, source: Ref, target: Ref, relation: Verdict, **members: Any) -> JudgmentEvent | Refusal:
        given: dict[str, Any] = {"confidence": 0.75} | members
        comparison = Comparison(source_id=source.record_id, target_id=target.record_id, relation=relation, **given)
        return self._alone(Comparing(comparison=comparison))

    def submit(self, *pairs: tuple[Ref, Ref]) -> JudgmentEvent | Refusal:
        given = tuple(Pair(source=one.record_id, target=other.record_id, similarity=0.25) for one, other in pairs)
        return self._alone(Submitting(candidates=given))

    def sweep(self) -> JudgmentEvent | Refusal:
        return self._alone(Sweeping())

    def undo(self, *, run_id: str | None = None, operation_id: str | None = None) -> JudgmentEvent | Refusal:
        return self._alone(Undoing(run_id=run_id, operation_id=operation_id))

    def confirm(self, ref: Ref, outcome: Outcome = "affirmed") -> JudgmentEvent | Refusal:
        given = ConfirmationInput(record_id=ref.record_id, outcome=outcome, evidence_ref="note/6")
        return self._alone(Confirming(confirmations=(given,)))

    def command(self, operation: JudgmentOperation, key: str | None = None) -> list[JudgmentEvent] | Refusal:
        outcomes = self.ledger.judgments.submit(self.partition, self.author, key or self.key(), operation)
        if isinstance(outcomes, Refusal):
            return outcomes
        events = [outcome for outcome in outcomes if isinstance(outcome, JudgmentEvent)]
        assert len(events) == len(outcomes), outcomes
        return events

    def _alone(self, operation: JudgmentOperation) -> JudgmentEvent | Refusal:
        outcomes = self.command(operation)
        return outcomes if isinstance(outcomes, Refusal) else outcomes[0]

    def key(self) -> str:
        return f"judging {next(self._keys)}"

    # What is there

    def standing(self, ref: Ref) -> Standing:
        with self.ledger.view() as view:
            return view.partition(self.partition).standing(ref.record_id)

    def candidate(self, candidate_id: str) -> Candidate:
        with self.ledger.view() as view:
            found = view.partition(self.partition).candidate(candidate_id)
        assert found is not None
        return found

    def pending(self) -> list[Candidate]:
        with self.ledger.view() as view:
            return list(view.partition(self.partition).candidates("pending"))

    def pending_between(self, one: Ref, other: Ref) -> str:
        with self.ledger.view() as view:
            found = view.partition(self.partition).pending_between(one.record_id, other.record_id)
        assert found is not None
        return found


def opened(changes: tuple[CandidateChange, ...]) -> list[Opened]:
    """The candidates that an event has opened."""
    return [change for change in changes if isinstance(change, Opened)]
