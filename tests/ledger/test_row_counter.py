"""The first command of a large partition waits until that is counted, and nobody else's does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from relatum.core.ids import Partition
from relatum.core.row_counts import Tally, tally_in_slices
from relatum.errors import StorageInconsistency, WritesRefused
from relatum.ledger import Ledger
from relatum.ledger.writer import row_counter
from relatum.ledger.writer.group import Group
from tests.support.builders import PARTITION, PRIVATE, create
from tests.support.desk import Desk
from tests.support.polling import WAIT_SECONDS

RECORDS = 12


class Held:
    """Counting that stands still before its second slice until it is let go."""

    def __init__(self) -> None:
        self.begun, self.go_on = Event(), Event()
        self.counted = 0

    def __call__(self, rows: Iterator[tuple[bytes, bytes]], _slice_rows: int) -> Iterator[Tally]:
        self.counted += 1
        for tally in tally_in_slices(rows, 1):
            self.begun.set()
            assert self.go_on.wait(WAIT_SECONDS)
            yield tally


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    held = Held()
    monkeypatch.setattr(row_counter, "FEW_ROWS", RECORDS - 1)
    monkeypatch.setattr(row_counter, "tally_in_slices", held)
    yield held
    held.go_on.set()


@pytest.fixture
def ledger(tmp_path: Path, held: Held) -> Iterator[Ledger]:
    """One that has just been opened: a partition with a dozen counted rows, and one with a single one."""
    with Ledger.open(tmp_path / "ledger", create=True) as first:
        desk = Desk(first)
        for number in range(RECORDS):
            desk.create(topic_key=f"topic {number}")
        Desk(first, PRIVATE).create(topic_key="topic")
    with Ledger.open(tmp_path / "ledger") as opened:
        yield opened


def test_commands_of_another_partition_are_answered_while_a_large_one_is_counted(ledger: Ledger, held: Held) -> None:
    desk, other = Desk(ledger), Desk(ledger, PRIVATE)
    with ThreadPoolExecutor(2) as threads:
        waiting = [threads.submit(desk.accept, create(f"number {number}")) for number in range(2)]
        assert held.begun.wait(WAIT_SECONDS)
        assert 2 == other.accept(create("meanwhile")).commit_sequence

        async def from_a_loop() -> list[object]:
            return list(await ledger.submit_async([other.command(create("and from a loop"))]))

        assert 1 == len(asyncio.run(from_a_loop()))
        assert not any(one.done() for one in waiting)
        held.go_on.set()
        assert {RECORDS + 1, RECORDS + 2} == {one.result(WAIT_SECONDS).commit_sequence for one in waiting}
    assert 1 == held.counted, "who waits for the same partition waits for one counting"


def test_the_writer_counts_no_large_partition(ledger: Ledger, held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    by_writer = list[object]()
    counting: Callable[..., None] = Group.count

    def watched(group: Group, partition: Partition) -> None:
        by_writer.append(partition)
        counting(group, partition)

    monkeypatch.setattr(Group, "count", watched)
    held.go_on.set()
    Desk(ledger).create("first")
    Desk(ledger, PRIVATE).create("first")
    assert [PRIVATE] == by_writer


def test_a_row_that_is_missing_is_told_to_who_needs_it_and_to_nobody_else(
    ledger: Ledger, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    held.go_on.set()
    monkeypatch.setattr(row_counter, "tally_in_slices", lambda rows, _: iter([Tally(RECORDS - 1, bytes(32))]))
    with pytest.raises(StorageInconsistency, match="are not those that are there"):
        Desk(ledger).create("needs a slot", topic_key="another")
    Desk(ledger, PRIVATE).create("is none the worse")


def test_a_ledger_that_closes_gives_the_counting_up(ledger: Ledger, held: Held) -> None:
    with ThreadPoolExecutor(2) as threads:
        waiting = threads.submit(Desk(ledger).accept, create("too late"))
        assert held.begun.wait(WAIT_SECONDS)
        closing = threads.submit(ledger.close)
        assert ledger._committer.row_counter._closed.wait(WAIT_SECONDS)
        held.go_on.set()
        with pytest.raises(WritesRefused):
            waiting.result(WAIT_SECONDS)
        closing.result(WAIT_SECONDS)


def test_all_that_is_being_counted_is_given_up_at_once(
    ledger: Ledger, held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Watched(Event):
        def wait(self, timeout: float | None = None) -> bool:
            pausing.set()
            return super().wait(timeout)

    pausing = Event()
    counter = ledger._committer.row_counter
    monkeypatch.setattr(counter, "_closed", Watched())
    monkeypatch.setattr(row_counter, "FEW_ROWS", 0)
    monkeypatch.setattr(row_counter, "PAUSE_SECONDS", WAIT_SECONDS)
    held.go_on.set()
    waiting = counter.uncounted([PARTITION])
    assert pausing.wait(WAIT_SECONDS)
    waiting += counter.uncounted([PRIVATE])
    counter.close()
    assert [WritesRefused] * 2 == [type(one.exception(WAIT_SECONDS)) for one in waiting]
