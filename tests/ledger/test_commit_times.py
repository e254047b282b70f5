"""Commit times never run backwards, whatever the clock does, and reads never judge by an earlier instant."""

from __future__ import annotations

from collections.abc import Callable

from relatum.clock import ManualClock
from relatum.core.eligibility import Evaluator
from relatum.ledger import Ledger
from tests.support import builders
from tests.support.builders import PRIVATE, START_MILLIS
from tests.support.desk import Desk


def committed(desk: Desk) -> int:
    return desk.accept(builders.create()).committed_at_millis


def test_a_commit_carries_the_time_of_the_clock(desk: Desk, clock: ManualClock) -> None:
    assert START_MILLIS == committed(desk)
    clock.advance(5)
    assert START_MILLIS + 5 == committed(desk)


def test_a_clock_that_goes_back_holds_commits_at_the_last_time(desk: Desk, clock: ManualClock) -> None:
    clock.advance(1_000)
    latest = committed(desk)
    clock.set(START_MILLIS)
    assert latest == committed(desk)
    clock.set(latest + 1)
    assert latest + 1 == committed(desk)


def test_a_clock_that_goes_back_holds_reads_too(ledger: Ledger, desk: Desk, clock: ManualClock) -> None:
    at = desk.create(valid_until_millis=START_MILLIS + 1_000)
    clock.advance(1_000)
    desk.create()
    clock.set(START_MILLIS)
    with ledger.view() as view:
        assert START_MILLIS + 1_000 == view.now_millis
        version = view.partition(desk.partition).record(at.record_id)
        assert version is not None
        assert not Evaluator(view.partition(desk.partition), view.now_millis).is_eligible(version)


def test_a_commit_in_one_partition_holds_the_others(ledger: Ledger, desk: Desk, clock: ManualClock) -> None:
    clock.advance(1_000)
    latest = committed(desk)
    clock.set(START_MILLIS)
    assert latest == committed(Desk(ledger, PRIVATE))


def test_a_reopened_ledger_remembers_its_last_commit(reopen: Callable[[], Ledger], clock: ManualClock) -> None:
    clock.advance(1_000)
    latest = committed(Desk(reopen()))
    clock.set(START_MILLIS)
    reopened = reopen()
    with reopened.view() as view:
        assert latest == view.now_millis
    assert latest == committed(Desk(reopened))


def test_reads_alone_do_not_hold_the_clock(ledger: Ledger, desk: Desk, clock: ManualClock) -> None:
    desk.create()
    clock.advance(1_000)
    with ledger.view() as view:
        assert START_MILLIS + 1_000 == view.now_millis
    clock.advance(-500)
    assert START_MILLIS + 500 == committed(desk)


def test_one_group_has_one_time(ledger: Ledger, desk: Desk) -> None:
    class Ticking(ManualClock):
        def millis(self) -> int:
            self.advance(1)
            return super().millis()

    with Ledger.in_memory(clock=Ticking(START_MILLIS)) as ticking:
        busy = Desk(ticking)
        outcomes = ticking.submit_all([busy.command(builders.create()) for _ in range(5)])
        assert 1 == len({outcome.committed_at_millis for outcome in outcomes})  # type: ignore[union-attr]  # all are receipts
