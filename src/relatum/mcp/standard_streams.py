"""The server on standard input and output (mcp.md, transports): one caller for as long as its host runs."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from mcp.server.stdio import stdio_server

from relatum.client import AsyncClient
from relatum.client.settings import gather
from relatum.clock import SystemClock
from relatum.entropy import SystemEntropy
from relatum.mcp.caller import Caller
from relatum.mcp.calls import Model
from relatum.mcp.protocol import server
from relatum.mcp.table import Offer
from relatum.telemetry import LibraryLog, Log


class Start(NamedTuple):
    """What the command line says. `scope` has the members that it names."""

    url: str | None
    profile: str | None
    secret_file: Path | None
    scope: Mapping[str, str]
    offer: Offer
    model: tuple[str, ...] | None


async def serve(start: Start) -> None:
    """Serve until standard input ends. Nothing but the protocol is written to standard output.

    Raises ConfigurationError where the client's settings are wrong; that there is no secret is told by the tools.
    """
    logging.getLogger().addHandler(LibraryLog(Log(sys.stderr, SystemClock().millis)))
    settings = gather(start.url, None, start.secret_file, start.profile)
    client = AsyncClient(start.url, secret_file=start.secret_file, profile=start.profile)
    async with client:
        caller = Caller(
            client,
            {**settings.scope, **start.scope},
            start.offer,
            clock=SystemClock(),
            entropy=SystemEntropy(),
            shown=[],
            model=None if start.model is None else Model(*start.model),
        )
        speaking = server(lambda _context: caller)
        async with stdio_server() as (reading, writing):
            await speaking.run(reading, writing, speaking.create_initialization_options())
