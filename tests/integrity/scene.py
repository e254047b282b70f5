"""A small ledger with a row of every kind, as bytes, and the names of what is in it.

The scene is made once; a test damages a copy of its rows and opens a ledger on what is left. Nothing in it depends on
chance or on the time of day, so that the same command given to two copies gets the same receipt.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from typing import NamedTuple

from relatum.clock import ManualClock
from relatum.core.cursors import Advance, CheckpointCommand
from relatum.core.ids import Partition, Ref, Scope, memory_partition
from relatum.core.receipts import Receipt, RelationReceipt
from relatum.core.streams import RELATIONS, Cursor
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.store.journal import Journal
from relatum.store.memory import MemoryStore
from relatum.telemetry import Log
from tests.graphs.counted import Counted
from tests.support.builders import ADA, PARTITION, START_MILLIS
from tests.support.desk import Desk
from tests.support.steps import Operation
from tests.support.stores import database_on, published_rows

Rows = dict[bytes, bytes]

ELSEWHERE: Partition = memory_partition(
    "acme", ADA.subject_id, Scope(project_id="borealis", agent_id="scout", visibility="shared")
)
"""Another partition of the same company; damage to the scene must never be felt there."""

CONSUMER = "mirror"


class Scene(NamedTuple):
    """What was made. `main` lists the receipts of one relation's four revisions; its current state is active."""

    rows: Rows
    witness: Ref
    source: Ref
    target: Ref
    derived: Ref
    reviewed: Ref
    revised: Ref
    deleted: Ref
    main: tuple[RelationReceipt, ...]
    side: RelationReceipt
    rejected: RelationReceipt
    elsewhere: tuple[Ref, Ref, RelationReceipt]


def opened(rows: Mapping[bytes, bytes]) -> Ledger:
    """A ledger on a copy of `rows`, at the instant and with the chance of every other such ledger."""
    return ledger_on(rows, ManualClock(START_MILLIS), Counted(start=1_000_000))


def made() -> Scene:
    """The scene."""
    with ledger_on({}, ManualClock(START_MILLIS), Counted()) as ledger:
        desk, other = Keyed(ledger), Keyed(ledger, ELSEWHERE)
        witness, source, target = desk.create("witness"), desk.create("source", topic_key="slot"), desk.create("target")
        derived, reviewed = desk.derive(source), desk.review(desk.create("reviewed"))
        revised, deleted = desk.revise(desk.create("revised")), desk.delete(desk.create("deleted"))
        asserted = desk.relate(source, target, evidence_sources=(witness,))
        retired = desk.retire(asserted)
        restored = desk.restore(retired)
        approved = desk.judge(restored)
        side, rejected = desk.relate(source, reviewed), desk.judge(desk.relate(target, source), "rejected")
        save_checkpoint(desk)
        there, yonder = other.create("there"), other.create("yonder")
        elsewhere = there, yonder, other.relate(there, yonder)
        return Scene(
            rows=published_rows(ledger),
            witness=witness,
            source=source,
            target=target,
            derived=derived,
            reviewed=reviewed,
            revised=revised,
            deleted=deleted,
            main=(asserted, retired, restored, approved),
            side=side,
            rejected=rejected,
            elsewhere=elsewhere,
        )


def ledger_on(rows: Mapping[bytes, bytes], clock: ManualClock, entropy: Counted) -> Ledger:
    """A ledger on a copy of `rows`."""
    unread = Log(StringIO(), clock.millis)
    return Ledger(database_on(MemoryStore(rows)), clock=clock, entropy=entropy, log=unread)


class Keyed(Desk):
    """A desk whose keys are counted from one, so that they are the same on every copy of the scene."""

    def __init__(self, ledger: Ledger, partition: Partition = PARTITION) -> None:
        super().__init__(ledger, partition)
        self._commands = 0

    def submit(self, operation: Operation, key: str | None = None) -> Receipt | Refusal:
        self._commands += 1
        return super().submit(operation, key or f"scene-{self._commands}")


def save_checkpoint(desk: Desk) -> None:
    with desk.view() as view:
        journal = Journal.open(view.partition(desk.partition), RELATIONS)
        assert journal is not None
        place: Cursor = journal.high_watermark
    command = CheckpointCommand(
        contract_version=1,
        idempotency_key="checkpoint-1",
        consumer_id=CONSUMER,
        expected_revision=0,
        operation=Advance(cursor=place),
    )
    saved = desk.ledger.save_checkpoint(desk.partition, desk.author, RELATIONS, command)
    assert not isinstance(saved, Refusal), saved
