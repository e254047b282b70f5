"""What a thread of the process asks for next: seeded commands of every family on what is stored."""

from __future__ import annotations

from itertools import islice
from random import Random
from typing import Final, Literal

import msgspec

from crash_tests.company import ADMINISTRATOR
from crash_tests.curation import Curator
from crash_tests.embedded.accounts import COMPANY_PARTITION, DESKS
from crash_tests.embedded.messages import (
    Activation,
    CredentialAction,
    CredentialChange,
    Judgment,
    Memory,
    Saving,
    Sent,
)
from crash_tests.history import Command, Desk, Family, Json
from crash_tests.operations import STANDINGS, Sight
from relatum.core import journal
from relatum.core.candidates import Orphaned
from relatum.core.changes import JournalHead
from relatum.core.commands import AssertRelation
from relatum.core.consequences import Consequences
from relatum.core.cursors import Advance, CheckpointCommand, Reconcile
from relatum.core.events import Event, JudgmentEvent
from relatum.core.ids import Partition
from relatum.core.stored_judgments import SweepRun
from relatum.core.streams import RECORDS, RELATIONS, Cursor, Stream
from relatum.ledger import Ledger
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView

BATCH_MAX: Final = 12
STALE: Final = 0.1
RECONCILED: Final = 0.15
TENDING: Final = 0.3
"""So much of what is done to records and relations is to save, to link, or to change a standing."""
PENDING_MAX: Final = 20
_STREAMS: Final[tuple[Stream, ...]] = (RECORDS, RELATIONS)
_FAMILIES: Final[dict[Family, Literal["record", "relation", "link"]]] = {
    "record": "record",
    "relation": "relation",
    "link": "link",
}
_CHANGES: Final[tuple[CredentialAction, ...]] = ("issue", "issue", "rotate", "revoke", "scope_authority")


class Sights:
    """What the threads know of each partition: what was stored when the ledger was opened, and every receipt since."""

    def __init__(self, view: LedgerView) -> None:
        self._of: dict[Partition, Sight] = {}
        self._swept: dict[Partition, list[Json]] = {}
        for desk in DESKS:
            if desk.partition not in self._of:
                self._of[desk.partition] = sight = Sight()
                _fill(sight, view.partition(desk.partition))

    def of(self, desk: Desk) -> Sight:
        """What is known of a desk's partition."""
        return self._of[desk.partition]

    def swept(self, desk: Desk) -> list[Json]:
        """What was swept in a desk's partition, as an undo names it."""
        return self._swept.setdefault(desk.partition, [])

    def learn(self, ledger: Ledger, sent: Sent, receipt: str) -> None:
        """A command was acknowledged. Raises StorageFailure where its event can't be read."""
        ask = sent.ask
        if isinstance(ask, Memory):
            desk = DESKS[ask.desk]
            command = Command(desk, ask.family, sent.id, ask.operation, receipt.encode())
            self.of(desk).learn(command)
            if ask.operation["type"] == "save":
                with ledger.view() as view:
                    event = view.partition(desk.partition).event(command.told()["commit_sequence"])
                self._hear(desk, event)
        elif isinstance(ask, Judgment):
            for event in msgspec.json.decode(receipt, type=list[JudgmentEvent]):
                self._hear(DESKS[ask.desk], event)

    def _hear(self, desk: Desk, event: Event | None) -> None:
        """What verdicts and sweeps have brought about."""
        brought = (event.consequences if event else None) or Consequences()
        for part in brought.relations:
            self.of(desk).hear(msgspec.to_builtins(part.receipt))
            if isinstance(part.operation, AssertRelation) and not part.plain:
                said = part.operation.relation
                self.of(desk).hear_verdict(part.relation_id, (said.source.record_id, said.target.record_id))
        if isinstance(event, JudgmentEvent) and isinstance(event.operation, SweepRun) and brought.candidates:
            self.swept(desk).append({"run_id": event.operation.run_id})
            self.swept(desk).extend(
                {"operation_id": one.operation_id} for one in brought.candidates if isinstance(one, Orphaned)
            )


class Thinker:
    """One thread's ideas; deterministic but for what the sights and the view have come to show."""

    def __init__(self, name: str, random: Random, sights: Sights) -> None:
        self._name = name
        self._random = random
        self._sights = sights
        self._number = 0

    def memory(self, count: int = 1) -> list[Sent]:
        """Commands on records, relations and links, from one desk."""
        number = self._random.randrange(len(DESKS))
        curator = Curator(self._random, self._sights.of(DESKS[number]))
        return [Sent(id=self._fresh_id(), ask=self._thought_of(curator, number)) for _ in range(count)]

    def batch(self) -> list[Sent]:
        """Several of them."""
        return self.memory(self._random.randint(2, BATCH_MAX))

    def judgment(self, view: LedgerView) -> Sent:
        """A judgment of what waits, or of what somebody knows."""
        number = self._random.randrange(len(DESKS))
        desk = DESKS[number]
        curator = Curator(self._random, self._sights.of(desk))
        waiting = view.partition(desk.partition).pending_since(view.now_millis + 1)
        pending = [one.candidate_id for one in islice(waiting, PENDING_MAX)]
        operation = curator.judgment(pending, self._sights.swept(desk))
        return Sent(id=self._fresh_id(), ask=Judgment(desk=number, operation=operation))

    def activation(self) -> Sent:
        """A stream is to be active, whether or not it is."""
        ask = Activation(desk=self._random.randrange(len(DESKS)), stream=self._random.choice(_STREAMS))
        return Sent(id=self._fresh_id(), ask=ask)

    def saving(self, view: LedgerView) -> Sent:
        """A checkpoint at some place of a stream; an activation where the stream is not active."""
        number, stream = self._random.randrange(len(DESKS)), self._random.choice(_STREAMS)
        desk = DESKS[number]
        partition = view.partition(desk.partition)
        tip = partition.head().streams.get(stream)
        if tip is None:
            return Sent(id=self._fresh_id(), ask=Activation(desk=number, stream=stream))
        consumer_id = self._random.choice(("pager", "follower"))
        saved = partition.checkpoint(stream, desk.account.subject_id, consumer_id)
        own_id, place = self._fresh_id(), self._place(partition, stream, tip)
        reconciles = self._random.random() < RECONCILED
        command = CheckpointCommand(
            contract_version=1,
            idempotency_key=own_id,
            consumer_id=consumer_id,
            expected_revision=saved.revision if saved else 0,
            expected_checkpoint_digest=saved.checkpoint_digest if saved else None,
            operation=Reconcile(cursor=place, evidence_ref="note 7") if reconciles else Advance(cursor=place),
        )
        return Sent(id=own_id, ask=Saving(desk=number, stream=stream, command=command))

    def credential_change(self, view: LedgerView) -> Sent:
        """A credential is issued, or one that was issued is changed."""
        own_id = self._fresh_id()
        action = self._random.choice(_CHANGES)
        credentials = [one.credential for one in view.partition(COMPANY_PARTITION).credentials()]
        issued = [one for one in credentials if one.spec.subject_id != ADMINISTRATOR]
        if action == "issue" or not issued:
            return Sent(id=own_id, ask=CredentialChange(action="issue", subject_id=f"subject-{own_id}"))
        chosen = self._random.choice(issued)
        return Sent(
            id=own_id,
            ask=CredentialChange(action=action, credential_id=chosen.id, expected_revision=chosen.revision),
        )

    def _thought_of(self, curator: Curator, number: int) -> Memory:
        tends = self._random.random() < TENDING
        family, operation = curator.tending() if tends else curator.operation()
        hits = curator.hits() if operation["type"] == "save" else []
        return Memory(desk=number, family=_FAMILIES[family], operation=operation, hits=hits)

    def _place(self, partition: PartitionReader, stream: Stream, tip: JournalHead) -> Cursor:
        """Mostly the tip; now and then a place before it, which may be a step back and refused."""
        sequence = tip.sequence if self._random.random() > STALE else self._random.randint(0, tip.sequence)
        entry = partition.entry(stream, sequence)
        if sequence == tip.sequence or entry is None:
            return journal.cursor(stream, tip)
        place = JournalHead(journal_id=tip.journal_id, sequence=sequence, prefix_digest=entry.prefix_digest)
        return journal.cursor(stream, place)

    def _fresh_id(self) -> str:
        self._number += 1
        return f"{self._name}-{self._number}"


def bootstrap(name: str) -> Sent:
    """The company is to be made."""
    return Sent(id=f"{name}-bootstrap", ask=CredentialChange(action="bootstrap", subject_id=ADMINISTRATOR))


def _fill(sight: Sight, partition: PartitionReader) -> None:
    for record in partition.records():
        meta = record.meta
        standing = partition.standing(meta.record_id)
        stands = zip(STANDINGS, (standing.archived, standing.pinned_at_millis is not None), strict=True)
        state = "deleted" if meta.state == "deleted" else "revised"
        for action in (state, *(name for name, holds in stands if holds)):
            sight.hear({"record_id": meta.record_id, "revision": meta.revision, "action": action})
    for version in partition.relations():
        relation = version.relation
        action = "retired" if relation.state == "retired" else "asserted"
        sight.hear({"relation_id": relation.relation_id, "revision": relation.revision, "action": action})
        if partition.verdict(relation.relation_id) is not None:
            ends = relation.input.source.record_id, relation.input.target.record_id
            sight.hear_verdict(relation.relation_id, ends)
