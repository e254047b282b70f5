"""Something that has to happen in time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Deadline:
    """Calls `expired` unless it is stopped within `seconds` of its start; started again while it runs, it runs on.

    Nearly every deadline is stopped in time and started again soon, so a timer of the loop is neither made nor undone
    each time: one that is due early waits for the rest.
    """

    __slots__ = ("_due", "_expired", "_loop", "_seconds", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, expired: Callable[[], None]) -> None:
        self._loop = loop
        self._seconds = seconds
        self._expired = expired
        self._due: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def runs(self) -> bool:
        """Whether it was started and neither stopped nor missed."""
        return self._due is not None

    def start(self) -> None:
        """The time runs from now on, unless it does already."""
        if self._due is None:
            self._due = self._loop.time() + self._seconds
            if self._timer is None:
                self._timer = self._loop.call_later(self._seconds, self._ring)

    def stop(self) -> None:
        """It has happened, or need not any more."""
        self._due = None

    def end(self) -> None:
        """It will not be started again: nothing of it stays with the loop."""
        self._due = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _ring(self) -> None:
        self._timer = None
        if self._due is None:
            return
        rest = self._due - self._loop.time()
        if rest > 0:
            self._timer = self._loop.call_later(rest, self._ring)
        else:
            self._due = None
            self._expired()
