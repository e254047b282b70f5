"""A small past with one of everything: told to clients as claims, and left in a store as rows."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from crash_tests.inspection.claims import Claim
from crash_tests.inspection.stored import read_store
from relatum.core.commands import RecordOperation, RelationOperation
from relatum.core.ids import Author, Partition, Ref
from relatum.core.receipts import RecordReceipt, RelationReceipt
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

    def refused(self, operation: RecordOperation) -> None:
        outcome = self.ledger.submit(self.ledger.command(PARTITION, ADA, "refused", operation))
        assert isinstance(outcome, Refusal), outcome


def told(family: str, partition: Partition, receipt: RecordReceipt | RelationReceipt) -> Claim:
    """The claim that `receipt` makes."""
    return Claim(
        partition=partition,
        family="record" if family == "record" else "relation",
        subject_id=receipt.author.subject_id,
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
    teller.refused(revise(Ref(record_id=tides.record_id, revision=1)))
    teller.relation(judge(teller.relation(assertion(moon, tides, "causal_claim")), 1, "approved"), BOB)
    teller.relation(retire(teller.relation(assertion(tides, gulls, "semantic_related")), 1))
    teller.relation(judge(teller.relation(assertion(gulls, tides, "contradicts")), 1, "rejected"))
    teller.relation(restore(teller.relation(retire(teller.relation(assertion(gulls, moon)), 1)), 2))
    teller.relation(assertion(moon, gulls, "supports", evidence_sources=(tides,)))


def make_past(directory: Path) -> Past:
    """Lives it in a ledger on disk and reads what is left."""
    with Ledger.open(directory, create=True) as ledger:
        ledger.bootstrap("acme", "root")
        teller = Teller(ledger)
        live(teller)
    return Past(teller.claims, read_store(directory))
