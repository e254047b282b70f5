"""A client that goes away while it is being sent something long, and how the server lets go of one that should."""

from __future__ import annotations

import asyncio
import contextlib
from typing import Final

from starlette.types import Receive, Scope

from relatum.http.responses import ABORT
from relatum.http.subscriptions import Watch

DEPARTURE_SECONDS_MAX: Final = 5.0


async def end_on_departure(receive: Receive, watch: Watch) -> None:
    """Ends the watch of a client that has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    watch.end()


async def cut(scope: Scope, departure: asyncio.Task[None]) -> None:
    """Drops the connection: a client that does not read would keep an orderly end waiting for ever."""
    extension = scope.get("extensions", {}).get(ABORT)
    if extension is not None:
        extension["now"]()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(DEPARTURE_SECONDS_MAX):
                await asyncio.shield(departure)
