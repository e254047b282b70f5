"""How long requests that came at once may keep the event loop to themselves.

A loop carries out all that is ready before it looks at its timers and connections again. Sixty requests that are ready
at once would be one pass of it; so a pass has its time, and what is left of them goes on in the next one, in the same
order.
"""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Final

PASS_SECONDS: Final = 0.006


class Pace:
    """Of one event loop."""

    def __init__(self) -> None:
        self._began: float | None = None

    async def turn(self) -> None:
        """At once if the pass has time left, else in a later one."""
        while self._is_over():  # noqa: ASYNC110 - it is the next pass that is waited for
            await asyncio.sleep(0)

    def _is_over(self) -> bool:
        now = perf_counter()
        if self._began is None:
            self._began = now
            asyncio.get_running_loop().call_soon(self._end)
            return False
        return now - self._began >= PASS_SECONDS

    def _end(self) -> None:
        """Called before anything that waits for the next pass, since it was asked for earlier."""
        self._began = None
