"""`python -m relatum.http.openapi [DIRECTORY]`: records the examples anew, and writes the document.

The recording goes beside the code, the document to DIRECTORY/openapi.json; `openapi` by default. Run it from the root
of the project after a route, a type or a message has changed, and commit both files.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import msgspec

from relatum.clock import ManualClock
from relatum.http.app import application
from relatum.http.openapi import examples
from relatum.http.openapi.document import document
from relatum.http.openapi.example_recorder import START_MILLIS, CountedEntropy, walk
from relatum.http.openapi.examples import Exchange
from relatum.http.route_table import METRICS_ROUTE, ROUTES
from relatum.http.server_state import Pages, Services
from relatum.ledger import Ledger
from relatum.telemetry import Log


def record() -> bytes:
    """A recording, as it is kept."""
    return msgspec.json.format(msgspec.json.encode(asyncio.run(_recorded())), indent=2) + b"\n"


async def _recorded() -> list[Exchange]:
    clock = ManualClock(START_MILLIS)
    with Ledger.in_memory(clock=clock, entropy=CountedEntropy()) as ledger:
        log = Log(sys.stderr, clock.millis, "error")
        services = Services(ledger, log, Pages(b"", b""), slots_max=1, read_threads=1)
        try:
            return await walk(application(ROUTES, services), ledger, clock)
        finally:
            services.close()


def main(directory: Path) -> None:
    """Write both files."""
    Path(__file__).with_name(examples.FILE).write_bytes(record())
    examples.recorded.cache_clear()
    (directory / "openapi.json").write_bytes(document((*ROUTES, METRICS_ROUTE)).as_json())


if __name__ == "__main__":
    main(Path(*sys.argv[1:2] or ("openapi",)))
