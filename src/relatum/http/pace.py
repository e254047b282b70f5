"""How many requests that came at once may keep the event loop to themselves.

A loop carries out all that is ready before it looks at its timers and connections again. Sixty requests that are ready
at once would be one pass of it; so a pass begins with some of them, and the others wait for the next ones in line.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

PASS_REQUESTS: Final = 16
"""Most keep the loop for less than half a millisecond. With half as many it stands still less, and serves fewer."""


class Pace:
    """Of one event loop."""

    def __init__(self) -> None:
        self._begun = 0  # in this pass; while it is not 0 the next pass is asked for
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def turn(self) -> None:
        """At once if this pass has room and nobody waits, else in line."""
        if self._waiting or self._begun >= PASS_REQUESTS:
            in_line: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(in_line)
            await in_line
            return
        if not self._begun:
            asyncio.get_running_loop().call_soon(self._next_pass)
        self._begun += 1

    def _next_pass(self) -> None:
        self._begun = 0
        while self._waiting and self._begun < PASS_REQUESTS:
            in_line = self._waiting.popleft()
            if not in_line.done():  # its request may have been given up
                in_line.set_result(None)
                self._begun += 1
        if self._begun:
            asyncio.get_running_loop().call_soon(self._next_pass)
