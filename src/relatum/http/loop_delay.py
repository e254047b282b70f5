"""How late the event loop runs what is due: the time for which it stood still, whatever kept it."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Final

from relatum.telemetry import Metrics

BEAT_SECONDS: Final = 0.005
"""No stall that anybody would notice is missed. Beats cost some hundredths of a processor: an idle server has none."""
QUIET_BEATS_MAX: Final = 2_000
"""Ten seconds after the last request began it rests."""


class Heart:
    """Of one event loop."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._quiet_beats = 0
        self._awake = asyncio.Event()
        self._awake.set()

    def stir(self) -> None:
        """A request begins."""
        self._quiet_beats = 0
        self._awake.set()

    async def beat(self) -> None:
        """Measures until it is cancelled. A stall shows less than one beat shorter than it was."""
        longest = 0.0
        while True:
            await self._awake.wait()
            due = perf_counter() + BEAT_SECONDS
            await asyncio.sleep(BEAT_SECONDS)
            late = max(0.0, perf_counter() - due)
            self._metrics.loop_delay_seconds.observe(late)
            if late > longest:
                longest = late
                self._metrics.loop_delay_longest.set(longest)
            self._quiet_beats += 1
            if self._quiet_beats >= QUIET_BEATS_MAX:
                self._awake.clear()
