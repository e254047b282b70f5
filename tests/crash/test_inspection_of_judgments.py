"""The independent checker over what judgments, links and promotions leave: sound stores pass, a lost row does not."""

from __future__ import annotations

import pytest

from crash_tests.inspection.chains import events_of
from crash_tests.inspection.checkpoints import check_checkpoints
from crash_tests.inspection.indexes import check_indexes
from crash_tests.inspection.journals import check_journals
from crash_tests.inspection.judgments import check_judgments
from crash_tests.inspection.stored import StoredRows
from crash_tests.violation import Violation
from relatum.clock import ManualClock
from relatum.errors import StorageInconsistency
from relatum.ledger import Ledger
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, Table
from tests.integrity.damage import damaged, forged, removed
from tests.support.builders import START_MILLIS
from tests.support.history import every_kind_of_event
from tests.support.stores import published_rows
from tests.verify.test_judgments import SEEDS, judged

Rows = dict[bytes, bytes]


@pytest.fixture(scope="module")
def found() -> Rows:
    clock = ManualClock(START_MILLIS)
    with Ledger.in_memory(clock=clock) as ledger:
        every_kind_of_event(ledger, clock)
        return published_rows(ledger)


def inspected(found: Rows) -> int:
    """The rows of judgments that were compared, in all partitions."""
    compared = 0
    for partition in StoredRows(found).partitions():
        events = events_of(partition)
        check_journals(partition, events)
        check_checkpoints(partition, events)
        check_indexes(partition)
        compared += check_judgments(partition, events)
    return compared


def rows_of_judgments(found: Rows, table: Table | None = None) -> list[bytes]:
    own = [
        key
        for key in sorted(found)
        if not key.startswith(STORE_PREFIX) and Table.STANDING <= key[PREFIX_BYTES] < Table.LEAF
    ]
    return [key for key in own if table is None or key[PREFIX_BYTES] == table]


def test_every_kind_of_event_is_followed(found: Rows) -> None:
    assert len(rows_of_judgments(found)) == inspected(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_what_a_restless_judge_leaves_is_sound(seed: int) -> None:
    assert len(rows_of_judgments(judged(seed))) == inspected(judged(seed))


@pytest.mark.parametrize(
    "table", [table for table in Table if Table.STANDING <= table < Table.LEAF], ids=lambda table: table.name
)
def test_a_row_that_is_lost_or_forged_is_a_violation(found: Rows, table: Table) -> None:
    own = rows_of_judgments(found, table)
    for manner in (removed, forged):
        for key in {own[0], own[-1]}:
            with pytest.raises((Violation, StorageInconsistency)):
                inspected(damaged(found, (key,), manner))
