"""Draining and closing: what was taken is answered, nothing more is taken, and reopening finds the same rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from relatum.clock import ManualClock
from relatum.core import digests
from relatum.core.receipts import RecordReceipt
from relatum.errors import StorageFailure, StoreUnavailable, WritesRefused
from relatum.ledger import Ledger
from tests.support import builders
from tests.support.desk import Desk
from tests.support.polling import WAIT_SECONDS
from tests.support.stores import TrialStore, assert_rebuilds, published_rows


def test_a_draining_ledger_answers_what_it_took_and_takes_no_more(disk: TrialStore, ledger: Ledger, desk: Desk) -> None:
    kept = desk.accept(builders.create(), "kept")

    async def scenario() -> None:
        disk.hold()
        tasks = [asyncio.create_task(ledger.submit_async([desk.command(builders.create())]))]
        await asyncio.to_thread(disk.wait_for_sync)
        tasks += [asyncio.create_task(ledger.submit_async([desk.command(builders.create())])) for _ in range(3)]
        await asyncio.sleep(0)
        assert "ready" == ledger.readiness()
        assert not ledger.drain(timeout_seconds=0)
        assert "draining" == ledger.readiness()
        with pytest.raises(WritesRefused):
            await ledger.submit_async([desk.command(builders.create())])
        disk.release()
        answers = await asyncio.wait_for(asyncio.gather(*tasks), WAIT_SECONDS)
        assert all(isinstance(one, RecordReceipt) for (one,) in answers)

    asyncio.run(scenario())
    assert ledger.drain(WAIT_SECONDS)
    assert kept == desk.submit(builders.create(), "kept")
    with desk.view() as view:
        assert 5 == view.partition(desk.partition).head().sequence


def test_closing_twice_and_draining_an_idle_ledger_are_no_trouble(clock: ManualClock) -> None:
    ledger = Ledger.in_memory(clock=clock)
    assert ledger.drain()
    ledger.close()
    ledger.close()


def test_a_closed_ledger_takes_nothing_and_shows_nothing(clock: ManualClock) -> None:
    ledger = Ledger.in_memory(clock=clock)
    desk = Desk(ledger)
    ledger.close()
    with pytest.raises((WritesRefused, StorageFailure)):
        desk.submit(builders.create())
    with pytest.raises(StorageFailure):
        ledger.view()


def test_a_ledger_does_not_close_while_the_disk_is_held_up(disk: TrialStore, ledger: Ledger, desk: Desk) -> None:
    async def scenario() -> None:
        disk.hold()
        waiting = asyncio.create_task(ledger.submit_async([desk.command(builders.create())]))
        await asyncio.to_thread(disk.wait_for_sync)
        with pytest.raises(StorageFailure):
            ledger.close(timeout_seconds=0)
        disk.release()
        await asyncio.wait_for(waiting, WAIT_SECONDS)

    asyncio.run(scenario())


def test_a_reopened_ledger_has_the_same_rows(reopen: Callable[[], Ledger]) -> None:
    ledger = reopen()
    desk = Desk(ledger)
    one, two = desk.create(topic_key="tides"), desk.create()
    desk.judge(desk.retire(desk.relate(one, two)), "rejected")
    desk.delete(desk.review(desk.derive(one)))
    before = published_rows(ledger)
    reopened = reopen()
    assert before == published_rows(reopened)
    assert_rebuilds(reopened)
    assert 9 == Desk(reopened).accept(builders.create()).commit_sequence


def test_reopening_writes_nothing(reopen: Callable[[], Ledger]) -> None:
    ledger = reopen()
    before = published_rows(ledger)
    assert before == published_rows(reopen()) == published_rows(reopen())


def test_a_directory_has_one_owner(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger", create=True), pytest.raises(StoreUnavailable):
        Ledger.open(tmp_path / "ledger")
    Ledger.open(tmp_path / "ledger").close()


def test_a_directory_without_a_ledger_is_refused_and_left_alone(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        Ledger.open(tmp_path / "nothing")
    assert [] == list(tmp_path.iterdir())


def test_a_ledger_whose_mined_edges_are_damaged_is_as_good_as_ever_but_for_them(tmp_path: Path) -> None:
    Ledger.open(tmp_path, create=True).close()
    edges = tmp_path / "derived.sqlite"
    edges.write_bytes(b"nothing that SQLite knows" * 1_000)
    with Ledger.open(tmp_path) as ledger:
        desk = Desk(ledger)
        desk.create()
        for _ in range(2):
            with pytest.raises(StorageFailure, match="mine again"):
                ledger._derived.count(digests.workspace_id(desk.partition))
    edges.unlink()
    with Ledger.open(tmp_path) as ledger:
        assert 0 == ledger._derived.count(digests.workspace_id(Desk(ledger).partition))


def test_a_ledger_whose_index_is_in_use_does_not_close_and_does_later(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path, create=True)
    for using in (ledger._index._using, ledger._derived._using):
        done, held = Event(), Event()

        def use(using: Any = using, held: Event = held, done: Event = done) -> None:
            with using:
                held.set()
                done.wait(WAIT_SECONDS)

        user = Thread(target=use)
        user.start()
        assert held.wait(WAIT_SECONDS)
        assert ledger.drain(WAIT_SECONDS)
        with pytest.raises(StorageFailure):
            ledger.close(timeout_seconds=0.1)
        done.set()
        user.join(WAIT_SECONDS)
    ledger.close(WAIT_SECONDS)
