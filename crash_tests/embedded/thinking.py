"""What a thread of the process asks for next: seeded commands of every family on what is stored."""

from __future__ import annotations

from random import Random
from typing import Final

import msgspec

from crash_tests.company import ADMINISTRATOR
from crash_tests.embedded.desks import COMPANY_PARTITION, DESKS
from crash_tests.embedded.messages import Activation, CredentialAction, CredentialChange, Memory, Saving, Sent
from crash_tests.history import Command, Desk
from crash_tests.operations import Author, Sight
from relatum.core import journal
from relatum.core.changes import JournalHead
from relatum.core.cursors import Advance, CheckpointCommand, Cursor
from relatum.core.ids import Partition
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView

BATCH_MAX: Final = 12
STALE: Final = 0.1
_STREAMS: Final[tuple[Stream, ...]] = (RECORDS, RELATIONS)
_CHANGES: Final[tuple[CredentialAction, ...]] = ("issue", "issue", "rotate", "revoke", "scope_authority")


class Sights:
    """What the threads know of each partition: what was stored when the ledger was opened, and every receipt since."""

    def __init__(self, view: LedgerView) -> None:
        self._of: dict[Partition, Sight] = {}
        for desk in DESKS:
            if desk.partition not in self._of:
                self._of[desk.partition] = sight = Sight()
                _fill(sight, desk, view.partition(desk.partition))

    def of(self, desk: Desk) -> Sight:
        """What is known of a desk's partition."""
        return self._of[desk.partition]

    def learn(self, sent: Sent, receipt: str) -> None:
        """A command on records or relations was acknowledged."""
        ask = sent.ask
        assert isinstance(ask, Memory)
        desk = DESKS[ask.desk]
        self.of(desk).learn(Command(desk, ask.family, sent.id, ask.operation, receipt.encode()))


class Thinker:
    """One thread's ideas; deterministic but for what the sights and the view have come to show."""

    def __init__(self, name: str, random: Random, sights: Sights) -> None:
        self._name = name
        self._random = random
        self._sights = sights
        self._number = 0

    def memory(self, count: int = 1) -> list[Sent]:
        """Commands on records and relations, from one desk."""
        number = self._random.randrange(len(DESKS))
        author = Author(self._random, self._sights.of(DESKS[number]))
        asked = [author.operation() for _ in range(count)]
        return [
            Sent(
                id=self._fresh_id(),
                ask=Memory(desk=number, family="record" if family == "record" else "relation", operation=operation),
            )
            for family, operation in asked
        ]

    def batch(self) -> list[Sent]:
        """Several of them."""
        return self.memory(self._random.randint(2, BATCH_MAX))

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
        own_id = self._fresh_id()
        command = CheckpointCommand(
            contract_version=1,
            idempotency_key=own_id,
            consumer_id=consumer_id,
            expected_revision=saved.revision if saved else 0,
            expected_checkpoint_digest=saved.checkpoint_digest if saved else None,
            operation=Advance(cursor=self._place(partition, stream, tip)),
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


def _fill(sight: Sight, desk: Desk, partition: PartitionReader) -> None:
    for record in partition.records():
        meta = record.meta
        action = "deleted" if meta.state == "deleted" else "revised"
        told = {"record_id": meta.record_id, "revision": meta.revision, "action": action}
        sight.learn(Command(desk, "record", "", {}, msgspec.json.encode(told)))
    for version in partition.relations():
        relation = version.relation
        action = "retired" if relation.state == "retired" else "asserted"
        told = {"relation_id": relation.relation_id, "revision": relation.revision, "action": action}
        sight.learn(Command(desk, "relation", "", {}, msgspec.json.encode(told)))
