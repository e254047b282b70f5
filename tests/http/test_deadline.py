"""A deadline that is stopped and started again, on a loop whose time moves when it is told to."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import cast

import pytest

from relatum.http.deadline import Deadline

SECONDS = 10.0


class Timer:
    def __init__(self, due: float, ring: Callable[[], None]) -> None:
        self.due = due
        self.ring = ring
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


class Loop:
    """As much of an event loop as a deadline needs."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[Timer] = []

    def time(self) -> float:
        return self.now

    def call_later(self, seconds: float, ring: Callable[[], None]) -> Timer:
        self.timers.append(Timer(self.now + seconds, ring))
        return self.timers[-1]

    def advance(self, seconds: float) -> None:
        until = self.now + seconds
        while due := [timer for timer in self.timers if timer.due <= until and not timer.cancelled]:
            first = min(due, key=lambda timer: timer.due)
            self.timers.remove(first)
            self.now = first.due
            first.ring()
        self.now = until


@pytest.fixture
def loop() -> Loop:
    return Loop()


@pytest.fixture
def missed() -> list[float]:
    return []


@pytest.fixture
def deadline(loop: Loop, missed: list[float]) -> Deadline:
    return Deadline(cast("asyncio.AbstractEventLoop", loop), SECONDS, lambda: missed.append(loop.now))


def test_it_is_missed_when_it_is_not_stopped_and_only_once(loop: Loop, deadline: Deadline, missed: list[float]) -> None:
    deadline.start()
    loop.advance(SECONDS - 1)
    assert [] == missed
    loop.advance(10 * SECONDS)
    assert [SECONDS] == missed


def test_started_again_while_it_runs_it_runs_on(loop: Loop, deadline: Deadline, missed: list[float]) -> None:
    deadline.start()
    loop.advance(6)
    deadline.start()
    loop.advance(SECONDS)
    assert [SECONDS] == missed


def test_stopped_and_started_again_it_counts_from_the_last_start(
    loop: Loop, deadline: Deadline, missed: list[float]
) -> None:
    for _ in range(5):
        deadline.start()
        loop.advance(6)
        deadline.stop()
    deadline.start()
    loop.advance(SECONDS - 1)
    assert [] == missed
    loop.advance(1)
    assert [5 * 6 + SECONDS] == missed


def test_stopping_and_starting_leaves_one_timer(loop: Loop, deadline: Deadline) -> None:
    for _ in range(100):
        deadline.start()
        deadline.stop()
    assert 1 == len(loop.timers)


def test_after_its_end_nothing_is_left_with_the_loop(loop: Loop, deadline: Deadline, missed: list[float]) -> None:
    deadline.start()
    deadline.end()
    loop.advance(2 * SECONDS)
    assert [] == missed
    assert all(timer.cancelled for timer in loop.timers)


def test_after_it_was_missed_it_can_be_started_anew(loop: Loop, deadline: Deadline, missed: list[float]) -> None:
    deadline.start()
    loop.advance(SECONDS)
    assert not deadline.runs
    deadline.start()
    loop.advance(SECONDS)
    assert [SECONDS, 2 * SECONDS] == missed
