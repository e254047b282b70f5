"""Clocks: what a floor promises while the clock beneath it moves either way."""

from __future__ import annotations

import threading
import time

from hypothesis import given
from hypothesis import strategies as st

from relatum.clock import Clock, FloorClock, ManualClock, SystemClock
from tests.support.polling import WAIT_SECONDS

INSTANTS = st.integers(min_value=-(2**63), max_value=2**63 - 1)


def test_the_system_clock_answers_unix_milliseconds() -> None:
    before = time.time_ns() // 1_000_000  # noqa: TID251 (the reading under test is compared with the real one)
    answered = SystemClock().millis()
    after = time.time_ns() // 1_000_000  # noqa: TID251
    assert before <= answered <= after


def test_a_manual_clock_stands_still_until_it_is_moved_and_moves_both_ways() -> None:
    clock = ManualClock(1_000)
    assert (1_000, 1_000) == (clock.millis(), clock.millis())
    clock.advance(5)
    assert 1_005 == clock.millis()
    clock.advance(-10)
    assert 995 == clock.millis()
    clock.set(7)
    assert 7 == clock.millis()


def test_a_floor_holds_while_the_clock_beneath_lags_and_gives_way_once_it_has_caught_up() -> None:
    beneath = ManualClock(999)
    clock = FloorClock(beneath, floor_millis=1_000)
    assert 1_000 == clock.millis()
    beneath.set(1_000)
    assert 1_000 == clock.millis()
    beneath.set(1_001)
    assert 1_001 == clock.millis()


def test_a_reading_does_not_raise_the_floor_only_a_commit_does() -> None:
    beneath = ManualClock(2_000)
    clock = FloorClock(beneath, floor_millis=0)
    assert 2_000 == clock.millis()
    beneath.set(1_500)
    assert 1_500 == clock.millis()
    clock.raise_floor(1_800)
    assert 1_800 == clock.millis()


def test_raising_the_floor_to_an_earlier_instant_changes_nothing() -> None:
    clock = FloorClock(ManualClock(0), floor_millis=500)
    clock.raise_floor(499)
    assert 500 == clock.millis()


@given(st.lists(st.tuples(st.booleans(), INSTANTS)), INSTANTS, INSTANTS)
def test_it_never_answers_less_than_any_commit_time_it_was_told(
    moves: list[tuple[bool, int]], start: int, floor: int
) -> None:
    beneath = ManualClock(start)
    clock: Clock = (floored := FloorClock(beneath, floor))
    told = floor
    for is_commit, instant in moves:
        if is_commit:
            floored.raise_floor(instant)
            told = max(told, instant)
        else:
            beneath.set(instant)
        assert max(told, beneath.millis()) == clock.millis()


def test_threads_that_raise_it_at_once_leave_the_greatest_floor() -> None:
    clock = FloorClock(ManualClock(0), floor_millis=0)

    def raise_all(first: int) -> None:
        for millis in range(first, 2_000, 4):
            clock.raise_floor(millis)

    threads = [threading.Thread(target=raise_all, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(WAIT_SECONDS)
    assert 1_999 == clock.millis()
