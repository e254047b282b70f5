"""The time of day, in Unix milliseconds: the only module that reads it.

Everything else is handed a `Clock`, or a value that somebody read from one. Durations are not times of day: they are
measured with a monotonic clock where they are recorded and never stored.

Always holds: a `FloorClock` never answers less than the greatest commit time it was told of, so commit times do not run
backwards when the machine's clock does. What is judged now is judged by the clock itself and not by a floor: a commit
that was stamped while the clock was ahead ends nobody's validity once the clock is right again.
"""

from __future__ import annotations

import threading
import time
from typing import Protocol


class Clock(Protocol):
    """Answers what time it is. Any thread may ask."""

    def millis(self) -> int:
        """Unix time in milliseconds; two calls may go backwards unless the implementation says otherwise."""
        ...


class SystemClock:
    """The machine's clock, which an operator or a time service may set back."""

    def millis(self) -> int:
        """Unix time in milliseconds."""
        return time.time_ns() // 1_000_000


def uptime_millis() -> int:
    """Milliseconds since the machine was started, while it slept too. Nobody can set it."""
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


class ManualClock:
    """A clock that moves only when it is told to, backwards too: for tests and simulations."""

    def __init__(self, millis: int) -> None:
        self._millis = millis

    def millis(self) -> int:
        """The instant it was last moved to."""
        return self._millis

    def set(self, millis: int) -> None:
        """Move to an instant, whichever way."""
        self._millis = millis

    def advance(self, millis: int) -> None:
        """Move by a distance; a negative one moves back."""
        self._millis += millis


class FloorClock:
    """What commits are stamped with: another clock, held at the last commit time while that clock lags behind it.

    The writer stamps a group with `millis()` and, once the group is durable, raises the floor to that stamp; opening a
    store raises it to the last stored commit time.
    """

    def __init__(self, clock: Clock, floor_millis: int) -> None:
        self.beneath = clock
        """By which is judged what holds now."""
        self._floor_millis = floor_millis
        self._raising = threading.Lock()

    def millis(self) -> int:
        """The inner clock's time, or the floor where that is later."""
        return self.not_before_floor(self.beneath.millis())

    def not_before_floor(self, millis: int) -> int:
        """An instant that was read from the clock beneath, or the floor where that is later."""
        return max(millis, self._floor_millis)

    def raise_floor(self, millis: int) -> None:
        """Never answer less than `millis` again; an earlier instant than the present floor changes nothing."""
        with self._raising:
            self._floor_millis = max(self._floor_millis, millis)
