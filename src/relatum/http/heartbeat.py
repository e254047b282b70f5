"""How late the event loop runs what is due: the time for which it stood still, whatever kept it."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Final

from relatum.telemetry import Metrics

BEAT_SECONDS: Final = 0.005
"""Two hundred beats a second cost a fifth of a percent of a processor, and miss no stall that anybody would notice."""


async def beat(metrics: Metrics) -> None:
    """Measures until it is cancelled. A stall shows less than one beat shorter than it was."""
    longest = 0.0
    while True:
        due = perf_counter() + BEAT_SECONDS
        await asyncio.sleep(BEAT_SECONDS)
        late = max(0.0, perf_counter() - due)
        metrics.loop_delay_seconds.observe(late)
        if late > longest:
            longest = late
            metrics.loop_delay_longest.set(longest)
