"""An index that is behind is brought up in slices: nobody waits for another partition, and a search says how far."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from relatum.core.commands import DeleteRecord
from relatum.core.ids import Partition, Ref
from relatum.ledger import Ledger
from relatum.ledger.search import index as indexes
from relatum.ledger.search.background import BackgroundIndexing
from relatum.ledger.search.fair_lock import FairLock
from relatum.ledger.search.index import Patience, SearchIndex
from relatum.ledger.search.index_sync import Keeper
from relatum.ledger.search.tables import Tables
from relatum.ledger.search_index import Indexing
from relatum.telemetry import Log
from tests.support.builders import PARTITION, PRIVATE
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.support.polling import WAIT_SECONDS, until

RECORDS = 10


@pytest.fixture
def loaded(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> Ledger:
    """Ten ferries in one partition, indexed two at a time, and one in another."""
    monkeypatch.setattr(indexes, "SLICE_ENTRIES", 2)
    for number in range(RECORDS):
        Desk(ledger).create(f"ferry {number}")
    Desk(ledger, PRIVATE).create("ferry")
    return ledger


def test_a_search_that_may_not_wait_finds_what_is_indexed_and_says_how_much(
    loaded: Ledger, path: Path, log: Log
) -> None:
    index = SearchIndex(path, log, Patience(search_seconds=0, detection_seconds=0))
    behind = list[object]()
    index.on_behind = behind.append
    with loaded.view() as view:
        reader = view.partition(PARTITION)
        told = [index.searched(reader, "ferry") for _ in range(5)]
        assert [(2, 2), (4, 4), (6, 6), (8, 8), (10, 10)] == [(len(one.found), one.indexed) for one in told]
        assert {RECORDS} == {one.changes for one in told}
        assert [PARTITION] * 4 == behind
        assert not index.surroundings(reader, "ferry").behind
        assert index.surroundings(view.partition(PRIVATE), "ferry").behind is False
    index.close()


def test_another_partition_is_answered_between_two_slices(
    loaded: Ledger, path: Path, log: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = SearchIndex(path, log)
    slices = list[str]()
    begun, go_on = Event(), Event()
    catching_up: Callable[..., Any] = Keeper.caught_up

    def watched(keeper: Keeper, partition: Any, entries_max: int | None = None) -> Any:
        slices.append(partition.partition.visibility)
        if len(slices) == 2:
            begun.set()
            assert go_on.wait(WAIT_SECONDS)
        return catching_up(keeper, partition, entries_max)

    monkeypatch.setattr(Keeper, "caught_up", watched)
    with loaded.view() as view, ThreadPoolExecutor(2) as threads:
        long = threads.submit(index.search, view.partition(PARTITION), "ferry")
        assert begun.wait(WAIT_SECONDS)
        short = threads.submit(index.search, view.partition(PRIVATE), "ferry")
        until(lambda: len(index._using._waiting) == 1)
        go_on.set()
        assert (1, RECORDS) == (len(short.result(WAIT_SECONDS)), len(long.result(WAIT_SECONDS)))
    assert ["shared", "shared", "private"] == slices[:3]
    index.close()


def test_a_deleted_record_leaves_an_index_that_is_far_behind_and_no_older_view_brings_it_back(
    loaded: Ledger, path: Path, log: Log
) -> None:
    index = SearchIndex(path, log, Patience(search_seconds=0))
    desk = Desk(loaded)
    gone = desk.create("unmistakable")
    with loaded.view() as old:
        for _ in range(3):
            index.search(old.partition(PARTITION), "ferry")
        desk.accept(DeleteRecord(record_id=gone.record_id, expected_revision=1))
        with loaded.view() as view:
            index.remove(view.partition(PARTITION), [gone.record_id])
        while index.advance(old.partition(PARTITION)):
            pass
        assert [] == index.search(old.partition(PARTITION), "unmistakable")
    with loaded.view() as view:
        assert [] == index.search(view.partition(PARTITION), "unmistakable")
    index.close()


@pytest.mark.parametrize("made", ["not yet", "for another partition", "again"])
def test_no_older_view_brings_back_what_was_deleted_before_its_partition_was_indexed(
    loaded: Ledger, index: SearchIndex, path: Path, made: str
) -> None:
    desk = Desk(loaded)
    gone = desk.create("unmistakable")
    with loaded.view() as old:
        if made == "for another partition":
            index.search(old.partition(PRIVATE), "ferry")
        desk.accept(DeleteRecord(record_id=gone.record_id, expected_revision=1))
        with loaded.view() as view:
            index.remove(view.partition(PARTITION), [gone.record_id])
        if made == "again":
            index._keeper = index._made_again(path)
        assert RECORDS == len(index.search(old.partition(PARTITION), "ferry"))
        assert [] == index.search(old.partition(PARTITION), "unmistakable")
    index.close()
    assert not any(b"unmistakable" in file.read_bytes() for file in path.parent.glob("search.sqlite*"))


@pytest.mark.parametrize("from_a_loop", [False, True])
def test_a_deletion_is_told_to_an_index_that_is_not_made_yet(
    loaded: Ledger, index: SearchIndex, log: Log, from_a_loop: bool
) -> None:
    indexing = Indexing(index, loaded.view, log)
    desk = Desk(loaded)
    gone = desk.create("unmistakable")
    deletion = desk.command(DeleteRecord(record_id=gone.record_id, expected_revision=1))
    with loaded.view() as old:
        loaded.submit(deletion)
        if from_a_loop:
            asyncio.run(indexing.keep_in_step_async([deletion]))
        else:
            indexing.keep_in_step([deletion])
        assert index.is_unmade()
        assert [] == index.search(old.partition(PARTITION), "unmistakable")
    indexing.close()


def test_a_partition_that_fails_costs_no_other_its_indexing_and_is_logged_once(
    loaded: Ledger, index: SearchIndex, log: Log, said: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    advance: Callable[..., bool] = SearchIndex.advance
    broken, tried = {PARTITION}, list[Partition]()

    def failing(index: Any, reader: Any) -> bool:
        try:
            if reader.partition in broken:
                raise AssertionError("whatever it is")
            return advance(index, reader)
        finally:
            tried.append(reader.partition)

    monkeypatch.setattr(SearchIndex, "advance", failing)
    background = BackgroundIndexing(index, loaded.view, log)

    def run(*partitions: Partition) -> None:
        tried.clear()
        for partition in partitions:
            background.add(partition)
        until(lambda: set(partitions) <= set(tried) and not background._running)

    run(PARTITION, PRIVATE)
    run(PARTITION)
    assert 1 == said.getvalue().count("a partition could not be indexed")
    broken.clear()
    run(PARTITION)
    broken.add(PARTITION)
    run(PARTITION)
    assert 2 == said.getvalue().count("a partition could not be indexed")
    background.close()


def test_an_index_is_kept_in_step_in_the_background(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "SLICE_ENTRIES", 3)
    indexed = list[bytes]()
    put: Callable[..., None] = Tables.put_record

    def watched(tables: Any, number: int, outline: Any, words: Any) -> None:
        put(tables, number, outline, words)
        indexed.append(outline.record_id)

    monkeypatch.setattr(Tables, "put_record", watched)
    with Ledger.open(tmp_path / "ledger", create=True) as ledger:
        made: list[Ref] = [Desk(ledger).create(f"ferry {number}") for number in range(RECORDS)]
        JudgingDesk(ledger, PRIVATE).save("a ferry elsewhere")
        until(lambda: len(set(indexed)) == RECORDS + 1)
        with ledger.view() as view:
            assert (RECORDS, RECORDS) == view.searched(view.partition(PARTITION), "ferry")[1:]
        assert len(made) == RECORDS


def test_a_lock_goes_to_whoever_has_waited_longest() -> None:
    lock, order = FairLock(), list[int]()

    def take(number: int) -> None:
        with lock:
            order.append(number)

    lock.acquire()
    assert not lock.acquire(timeout=0.001)
    with ThreadPoolExecutor(3) as threads:
        for number in range(3):
            threads.submit(take, number)
            until(lambda: len(lock._waiting) == number + 1)  # noqa: B023 - it holds before the next round
        lock.release()
    assert [0, 1, 2] == order
    assert lock.acquire(timeout=0)
