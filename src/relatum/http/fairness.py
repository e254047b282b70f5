"""For how long requests that came at once may keep the event loop to themselves.

A loop carries out all that is ready before it looks at its timers and connections again. Sixty requests that are ready
at once would be one pass of it; so a pass begins some of them, and the others wait for the next ones in line.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Final

PASS_SECONDS: Final = 0.004
"""After so long no other request begins in a pass. What else it holds comes on top: answers, a turn of the writer."""
PASS_REQUESTS: Final = 16
"""Of those in line, for each of whom it costs a little to find that the time is over."""


class Pace:
    """Of one event loop. `now` tells the time in seconds."""

    def __init__(self, now: Callable[[], float] = perf_counter) -> None:
        self._now = now
        self._passing = False  # whether the next pass is asked for
        self._ends: float | None = None  # of this pass, once a request has begun in it
        self._in_line = 0  # with those who were called and have not yet gone on
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._put_off: list[asyncio.Future[None]] = []  # who was called and came too late in this pass

    async def turn(self) -> None:
        """At once if this pass has time left and nobody waits, else in line."""
        if not self._in_line and self._begins():
            return
        self._in_line += 1
        try:
            await self._called(self._waiting)
            while not self._begins():
                await self._called(self._put_off)
        finally:
            self._in_line -= 1

    async def _called(self, line: deque[asyncio.Future[None]] | list[asyncio.Future[None]]) -> None:
        call: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        line.append(call)
        await call

    def _begins(self) -> bool:
        """Whether another request begins in this pass: the first one does, whatever came before it."""
        if not self._passing:
            self._ask_for_next_pass()
        now = self._now()
        if self._ends is None:
            self._ends = now + PASS_SECONDS
        return now < self._ends

    def _ask_for_next_pass(self) -> None:
        self._passing = True
        asyncio.get_running_loop().call_soon(self._next_pass)

    def _next_pass(self) -> None:
        self._passing = False
        self._ends = None
        self._waiting.extendleft(reversed(self._put_off))
        self._put_off.clear()
        called = 0
        while self._waiting and called < PASS_REQUESTS:
            call = self._waiting.popleft()
            if not call.done():  # its request may have been given up
                call.set_result(None)
                called += 1
        if self._in_line:  # IMPORTANT: whoever comes now stays behind them, and must be called
            self._ask_for_next_pass()
