"""Something that has to happen in time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Deadline:
    """Calls `expired` unless it is stopped within `seconds` of its start; started again while it runs, it runs on."""

    __slots__ = ("_expired", "_loop", "_seconds", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop, seconds: float, expired: Callable[[], None]) -> None:
        self._loop = loop
        self._seconds = seconds
        self._expired = expired
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """The time runs from now on, unless it does already."""
        if self._timer is None:
            self._timer = self._loop.call_later(self._seconds, self._expire)

    def stop(self) -> None:
        """It has happened, or need not any more."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire(self) -> None:
        self._timer = None
        self._expired()
