"""A partition that has lost rows of its judgments keeps nothing from the other ones: not the sweep, not a purge."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest

from relatum.clock import ManualClock
from relatum.ledger.search.index import SearchIndex
from relatum.limits import DAY_MILLIS
from relatum.store.counts import Recounts
from relatum.store.keys import STORE_PREFIX, PartitionKeys, StoreTable, Table
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from relatum.telemetry import Log
from tests.graphs.counted import Counted
from tests.integrity.scene import Rows, ledger_on
from tests.support import builders
from tests.support.builders import PARTITION, PRIVATE, START_MILLIS
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.support.stores import published_rows

DAMAGED, SOUND = PRIVATE, PARTITION


@pytest.fixture(scope="module")
def made() -> Rows:
    """Two partitions with a candidate each that has waited for too long."""
    with ledger_on({}, ManualClock(START_MILLIS), Counted()) as ledger:
        for partition in (DAMAGED, SOUND):
            desk = JudgingDesk(ledger, partition)
            first = desk.save("the ferry leaves at nine", fact_key="departure")
            desk.save("the ferry leaves at ten", like=(first,))
        return published_rows(ledger)


def damaged(found: Rows, table: Table) -> Rows:
    """The rows without one row of a table of the partition that is damaged."""
    prefix = _keys(found).table(table)
    lost = max(key for key in found if key.startswith(prefix))
    return {key: row for key, row in found.items() if key != lost}


def _keys(found: Rows) -> PartitionKeys:
    return PartitionReader(MemoryStore(found), DAMAGED).keys


@pytest.mark.parametrize("table", [Table.CANDIDATE, Table.CANDIDATE_PAIR, Table.FACT], ids=lambda table: table.name)
def test_the_timer_sweeps_whatever_is_sound(made: Rows, table: Table) -> None:
    clock = ManualClock(START_MILLIS + 20 * DAY_MILLIS)
    with ledger_on(damaged(made, table), clock, Counted(start=1_000_000)) as ledger:
        assert 1 == ledger.judgments.sweep_due()
        assert [] == JudgingDesk(ledger, SOUND).pending()
        assert 0 == ledger.judgments.sweep_due()


def test_the_timer_sweeps_what_the_list_of_workspaces_names_before_it_breaks_off(made: Rows) -> None:
    clock = ManualClock(START_MILLIS + 20 * DAY_MILLIS)
    last = max(key for key in made if key.startswith(STORE_PREFIX + bytes([StoreTable.WORKSPACE])))
    log = StringIO()
    with ledger_on({**made, last: b"torn"}, clock, Counted(start=1_000_000)) as ledger:
        ledger.judgments._log = Log(log, clock.millis, "warning")
        assert 1 == ledger.judgments.sweep_due()
        assert 0 == ledger.judgments.sweep_due()
    assert 2 == log.getvalue().count("the list of workspaces is damaged")


def test_a_purge_of_the_search_index_leaves_nothing_of_a_partition_that_can_not_be_followed(
    made: Rows, tmp_path: Path
) -> None:
    path = tmp_path / "search.sqlite"
    index = SearchIndex(path, Log(StringIO(), lambda: START_MILLIS))

    def readers(found: Rows) -> list[PartitionReader]:
        store, recounts = MemoryStore(found), Recounts()
        return [PartitionReader(store, partition, recounts) for partition in (DAMAGED, SOUND)]

    for reader in readers(made):
        assert 2 == len(index.search(reader, "ferry"))
    clock = ManualClock(START_MILLIS)
    with ledger_on(made, clock, Counted(start=1_000_000)) as ledger:
        for partition in (DAMAGED, SOUND):
            Desk(ledger, partition).accept(builders.create("another ferry"), key="another")
        later = published_rows(ledger)
    assert index.purge(readers(damaged(later, Table.FACT)))
    with closing(sqlite3.connect(path)) as database:
        assert [(1,)] == database.execute("SELECT count(*) FROM partition").fetchall()
    for reader in readers(later):
        assert 3 == len(index.search(reader, "ferry"))
    index.close()
