"""What was asked of the ledger and not answered yet.

What always holds: whatever was asked is answered, or the machine died, or it is a `Violation`; a failure that nobody
waits for any more is not lost.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from crash_tests.simulation.loop import SimulatedLoop
from crash_tests.violation import Violation, require

_STEPS_MAX = 2_000

T = TypeVar("T")


class Unanswered(Exception):
    """Nobody answered in time, or nobody was there: the outcome is unknown."""


class Requests:
    """All of them. `fail` is told what breaks."""

    def __init__(self, loop: SimulatedLoop, fail: Callable[[Exception], None]) -> None:
        self._loop = loop
        self._fail = fail
        self._open: dict[asyncio.Task[Any], None] = {}

    async def wait_for(self, work: Coroutine[Any, Any, T], patience: float | None) -> T:
        """What comes of a request within so many seconds. It goes on when nobody waits for it any more."""
        asked = self._loop.create_task(work)
        self._open[asked] = None
        asked.add_done_callback(self._done)
        await asyncio.wait((asked,), timeout=patience)
        if not asked.done() or asked.cancelled():
            raise Unanswered
        return asked.result()

    def settle(self) -> None:
        """Lets everybody go on until all were answered."""
        for _ in range(_STEPS_MAX):
            if not self._open:
                return
            require(self._loop.step(), "somebody waits for an answer that nobody will give")
        raise Violation("somebody still waits for an answer")

    def drop(self) -> None:
        """Nobody will be answered any more: the ledger is no more."""
        for asked in list(self._open):
            asked.cancel()

    def _done(self, asked: asyncio.Task[Any]) -> None:
        del self._open[asked]
        error = None if asked.cancelled() else asked.exception()
        if isinstance(error, Exception) and not isinstance(error, Unanswered):
            self._fail(error)
