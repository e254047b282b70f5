"""The timer of the sweep: candidates that nobody judged in time are orphaned (judgments.md, sweep and undo)."""

from __future__ import annotations

import asyncio

from relatum.errors import Failure
from relatum.http.services import Services


async def sweep_for_ever(services: Services, interval_seconds: float) -> None:
    """Sweeps all partitions at once and after every interval, until it is cancelled. What fails is tried again then."""
    while not services.stopping:
        try:
            orphaned = await services.in_thread(services.ledger.judgments.sweep_due)
        except Failure as failure:
            services.log.failure("the sweep failed", failure)
        else:
            if orphaned:
                services.log.info("candidates were orphaned", candidates=orphaned)
        await asyncio.sleep(interval_seconds)
