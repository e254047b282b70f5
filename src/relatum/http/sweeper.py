"""The timer of the sweep: candidates that nobody judged in time are orphaned (judgments.md, sweep and undo)."""

from __future__ import annotations

import asyncio

from relatum.http.server_state import Services


async def sweep_for_ever(services: Services, interval_seconds: float) -> None:
    """Sweeps all partitions at once and after every interval, until it is cancelled. What fails is tried again then."""

    def sweep() -> int:
        return services.ledger.judgments.sweep_due(lambda: not services.stopping)

    while not services.stopping:
        try:
            orphaned = await services.in_thread(sweep, "sweep")
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the next one may go well
            services.log.failure("the sweep failed; it begins again after its interval", error)
        else:
            if orphaned:
                services.log.info("candidates were orphaned", candidates=orphaned)
        await asyncio.sleep(interval_seconds)
