"""The floors by themselves: rows written by the bare engine, requests echoed by the bare web stack.

Other parts measure the floors they need beside what they measure; this one shows all of them, and what a command
writes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from relatum.cli.bench.floors.rows import written
from relatum.cli.bench.floors.writes import raw_writes
from relatum.cli.bench.samples import Samples, Series, Setting
from relatum.cli.bench.server_fixture import desk

GROUPS: Final = (1, 16, 64, 256)
COMMAND_CONNECTIONS: Final = 64
READ_CONNECTIONS: Final = 32


def measure(setting: Setting) -> Iterator[Series]:
    """Rows and bytes of a command, commands a second of the engine, requests a second of the web stack."""
    samples = Samples()
    setting.progress("floors: what a command writes")
    batches = [written(max(2, setting.sized(512, 2_048) // group), group, setting.scratch) for group in GROUPS]
    for one in batches:
        samples.add(f"floors/write/{one.group}/rows", "rows/command", one.rows_per_command)
        samples.add(f"floors/write/{one.group}/bytes", "bytes/command", one.bytes_per_command)
    with desk(setting.directory("floors")) as made:
        [command], [relation_id] = made.singles(1), made.relate(1)
        read = made.stage.ask("relations/read", relation_id=relation_id)
        count = setting.sized(1_500, 10_000)
        asked = (("command", "relations/commands", command), ("read", "relations/read", read))
        with made.echo(setting.scratch, *asked) as echo:  # type: ignore[arg-type] # literals of a tuple widen
            for _ in setting.each_round("floors"):
                for one in batches:
                    pace = raw_writes(one, setting.scratch)
                    samples.add(f"floors/write/{one.group}/rate", "commands/s", pace.rate)
                    samples.add(f"floors/write/{one.group}/p50", "ms", pace.p50_millis)
                for name, request, connections in (
                    ("command", command, COMMAND_CONNECTIONS),
                    ("read", read, READ_CONNECTIONS),
                ):
                    outcome = made.load_elsewhere(echo, [request], connections, count)
                    samples.add(f"floors/echo/{name}/{connections}/rate", "requests/s", outcome.rate)
                    samples.add(f"floors/echo/{name}/{connections}/p50", "ms", outcome.latency_millis(50))
                    share = outcome.processor_share
                    samples.add(f"floors/echo/{name}/{connections}/load", "processors", share)
    yield from samples.series()
