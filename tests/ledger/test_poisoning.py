"""A failed sync: nobody is told success or refusal, writes are refused, reads go on, a restart decides the truth."""

from __future__ import annotations

import asyncio
import io

import pytest

from relatum.clock import ManualClock
from relatum.errors import WritesRefused
from relatum.ledger import Ledger
from relatum.telemetry import Log
from tests.support import builders
from tests.support.builders import START_MILLIS
from tests.support.desk import Desk
from tests.support.measures import measured
from tests.support.polling import WAIT_SECONDS
from tests.support.stores import TrialStore, assert_rebuilds, database_on, published_rows


@pytest.fixture
def log() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def ledger(clock: ManualClock, disk: TrialStore, log: io.StringIO) -> Ledger:
    """A ledger whose log is kept, since it has something to say here. Closing is part of the tests."""
    return Ledger(database_on(disk), clock=clock, log=Log(log, lambda: START_MILLIS, "warning"))


def test_a_failed_sync_leaves_the_outcome_open(disk: TrialStore, ledger: Ledger, desk: Desk, log: io.StringIO) -> None:
    desk.accept(builders.create("kept"), "kept")
    before = published_rows(ledger)
    disk.fail()
    with pytest.raises(WritesRefused):
        desk.submit(builders.create("in doubt"), "doubt")
    assert before == published_rows(ledger)
    assert "poisoned" == ledger.readiness()
    assert 1 == measured(ledger, "relatum_poisoned")
    assert 1 == measured(ledger, "relatum_syncs_total")
    assert "a commit failed" in log.getvalue()
    assert "in doubt" not in log.getvalue()
    ledger.close()


def test_after_a_failed_sync_every_write_is_refused_and_reads_and_replays_go_on(
    disk: TrialStore, ledger: Ledger, desk: Desk
) -> None:
    kept = desk.accept(builders.create("kept"), "kept")
    disk.fail()
    with pytest.raises(WritesRefused):
        desk.submit(builders.create("in doubt"), "doubt")
    for key in ("doubt", "new"):
        with pytest.raises(WritesRefused):
            desk.submit(builders.create("in doubt"), key)
    assert kept == desk.submit(builders.create("kept"), "kept")
    assert (409, "idempotency_conflict") == desk.refuse(builders.create("other"), "kept")
    with desk.view() as view:
        assert view.partition(desk.partition).head().sequence == 1
    ledger.close()


def test_the_whole_group_is_in_doubt_and_so_is_who_waited_behind_it(
    disk: TrialStore, ledger: Ledger, desk: Desk
) -> None:
    async def scenario() -> list[object]:
        disk.hold()
        disk.fail()
        tasks = [asyncio.create_task(ledger.submit_async([desk.command(builders.create())]))]
        await asyncio.to_thread(disk.wait_for_sync)
        tasks += [asyncio.create_task(ledger.submit_async([desk.command(builders.create(" "))])) for _ in range(3)]
        await asyncio.sleep(0)
        disk.release()
        return list(await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), WAIT_SECONDS))

    assert [WritesRefused] * 4 == [type(outcome) for outcome in asyncio.run(scenario())]
    ledger.close()


@pytest.mark.parametrize("kept_after_all", [False, True])
def test_a_restart_decides_and_the_same_command_resolves_it(
    disk: TrialStore, ledger: Ledger, desk: Desk, clock: ManualClock, kept_after_all: bool
) -> None:
    desk.accept(builders.create("kept"), "kept")
    disk.fail()
    with pytest.raises(WritesRefused):
        desk.submit(builders.create("in doubt"), "doubt")
    ledger.close()
    with Ledger(database_on(disk.after_power_cut(keep_unsynced=kept_after_all)), clock=clock) as reopened:
        again = Desk(reopened)
        with again.view() as view:
            assert (2 if kept_after_all else 1) == view.partition(desk.partition).head().sequence
        receipt = again.accept(builders.create("in doubt"), "doubt")
        assert 2 == receipt.commit_sequence
        assert (1 if kept_after_all else 0) == measured(reopened, "relatum_replays_total")
        assert_rebuilds(reopened)
        assert "ready" == reopened.readiness()
