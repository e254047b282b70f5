"""A small past with one of everything: told to clients as claims, and left in a store as rows."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from crash_tests.inspection.claims import AnyReceipt, Claim
from crash_tests.inspection.stored import read_store
from relatum.core import journal
from relatum.core.commands import RecordOperation, RelationOperation
from relatum.core.cursors import Advance, Checkpoint, CheckpointCommand, CheckpointReceipt, Reconcile
from relatum.core.ids import Author, Partition, Ref
from relatum.core.receipts import Family, RecordReceipt, RelationReceipt
from relatum.core.streams import RECORDS, RELATIONS, Cursor, Stream
from relatum.errors import Refusal
from relatum.ledger import Ledger
from tests.support.builders import (
    ADA,
    BOB,
    PARTITION,
    PRIVATE,
    assertion,
    create,
    delete,
    derive,
    judge,
    restore,
    retire,
    review,
    revise,
)


class Past(NamedTuple):
    """What clients were told, and the rows that are stored."""

    claims: list[Claim]
    rows: dict[bytes, bytes]


class Teller:
    """Gives commands to a ledger and remembers what it was told, as a client would."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self.claims: list[Claim] = []
        self._saved: dict[tuple[Stream, str], Checkpoint] = {}

    def record(self, operation: RecordOperation, author: Author = ADA, partition: Partition = PARTITION) -> Ref:
        key = f"key {len(self.claims)}"
        receipt = self.ledger.submit(self.ledger.command(partition, author, key, operation))
        assert isinstance(receipt, RecordReceipt), receipt
        self.claims.append(told("record", partition, receipt))
        return Ref(record_id=receipt.record_id, revision=receipt.revision)

    def relation(self, operation: RelationOperation, author: Author = ADA) -> str:
        key = f"key {len(self.claims)}"
        receipt = self.ledger.submit(self.ledger.command(PARTITION, author, key, operation))
        assert isinstance(receipt, RelationReceipt), receipt
        self.claims.append(told("relation", PARTITION, receipt))
        return receipt.relation_id

    def saves(self, stream: Stream, place: int, author: Author = ADA, *, reconciles: bool = False) -> None:
        """A consumer of `author` saves the cursor behind so many changes."""
        operation: Advance | Reconcile = Advance(cursor=self.cursor(stream, place))
        if reconciles:
            operation = Reconcile(cursor=operation.cursor, evidence_ref="restore/7")
        before = self._saved.get((stream, author.subject_id))
        command = CheckpointCommand(
            contract_version=1,
            idempotency_key=f"key {len(self.claims)}",
            consumer_id="mirror",
            expected_revision=before.revision if before else 0,
            expected_checkpoint_digest=before.checkpoint_digest if before else None,
            operation=operation,
        )
        receipt = self.ledger.save_checkpoint(PARTITION, author, stream, command)
        assert isinstance(receipt, CheckpointReceipt), receipt
        self._saved[stream, author.subject_id] = receipt.checkpoint
        self.claims.append(told("checkpoint", PARTITION, receipt))

    def cursor(self, stream: Stream, place: int) -> Cursor:
        with self.ledger.view() as view:
            reader = view.partition(PARTITION)
            tip, entry = reader.head().streams[stream], reader.entry(stream, place)
        at = journal.opened(reader.workspace_id, stream, tip.journal_id)
        if entry is not None:
            at = replace(at, sequence=place, prefix_digest=entry.prefix_digest)
        return journal.cursor(stream, at)

    def refused(self, operation: RecordOperation) -> None:
        outcome = self.ledger.submit(self.ledger.command(PARTITION, ADA, "refused", operation))
        assert isinstance(outcome, Refusal), outcome


def told(family: Family, partition: Partition, receipt: AnyReceipt) -> Claim:
    """The claim that `receipt` makes."""
    author = receipt.checkpoint.author if isinstance(receipt, CheckpointReceipt) else receipt.author
    return Claim(
        partition=partition,
        family=family,
        subject_id=author.subject_id,
        idempotency_key=receipt.idempotency_key,
        receipt=msgspec.json.encode(receipt).decode(),
    )


def live(teller: Teller) -> None:
    """One of everything. The last command asserts a relation, so that its rows are those of the last event."""
    tides = teller.record(create("the tide turned at noon", topic_key="tides", tags=("sea",)))
    moon = teller.record(create("the moon was full", event_time_millis=5))
    gulls = teller.record(create("gulls flew inland"), BOB)
    tides = teller.record(revise(tides, "the tide turned at one", topic_key="tides at noon"))
    moon = teller.record(review(moon), BOB)
    teller.record(derive(tides, moon, content="tides follow the moon"))
    gone = teller.record(review(teller.record(create("to be forgotten", topic_key="nothing")), "rejected"))
    teller.record(delete(gone))
    teller.record(create("a private thought"), ADA, PRIVATE)
    teller.ledger.activate(PARTITION, ADA, RELATIONS)
    teller.ledger.activate(PRIVATE, ADA, RELATIONS)
    for place in (0, 3, 3, 7):
        teller.saves(RECORDS, place)
    teller.saves(RECORDS, 2, reconciles=True)
    teller.saves(RECORDS, 4, BOB)
    teller.saves(RELATIONS, 0)
    teller.refused(revise(Ref(record_id=tides.record_id, revision=1)))
    teller.relation(judge(teller.relation(assertion(moon, tides, "causal_claim")), 1, "approved"), BOB)
    teller.relation(retire(teller.relation(assertion(tides, gulls, "semantic_related")), 1))
    teller.relation(judge(teller.relation(assertion(gulls, tides, "contradicts")), 1, "rejected"))
    teller.relation(restore(teller.relation(retire(teller.relation(assertion(gulls, moon)), 1)), 2))
    teller.relation(assertion(moon, gulls, "supports", evidence_sources=(tides,)))


def make_past(directory: Path) -> Past:
    """Lives it in a ledger on disk and reads what is left."""
    with Ledger.open(directory, create=True) as ledger:
        admin = ledger.bootstrap("acme", "root")
        assert not isinstance(admin, Refusal)
        rotated = asyncio.run(ledger.rotate_credential(admin.credential, admin.credential.id, 1))
        assert not isinstance(rotated, Refusal)
        teller = Teller(ledger)
        live(teller)
    return Past(teller.claims, read_store(directory))
