"""A mixed load over HTTP: four reads to each command, at 64 connections, and how long the event loop ever stood still.

Each round has a server of its own, since a server tells the longest stall since it was started. Reads are of single
relations; commands relate the same records. The floor of the stall is what the server told before anybody had asked it.
Rate and latencies have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from relatum.cli.bench.samples import Samples, Series, Setting
from relatum.cli.bench.server_fixture import Desk, desk, served_desk

CONNECTIONS: Final = 64
READS_PER_COMMAND: Final = 4


def measure(setting: Setting) -> Iterator[Series]:
    """Requests a second, latencies, the longest stall."""
    samples = Samples()
    commands = setting.sized(400, 4_000)
    with desk(setting.directory("mixed")) as before:
        stage, ids = before.stage, before.relate(commands)
    for number in setting.each_round("mixed"):
        with served_desk(stage, keys=f"mixed-{number}") as made:
            samples.add("mixed/idle/stall", "ms", made.served.idle_stall_millis())
            outcome = made.load(_requests(made, ids, commands), CONNECTIONS)
            samples.add("mixed/64/stall", "ms", made.served.stall_millis, floor="mixed/idle/stall")
        samples.add("mixed/64/rate", "requests/s", outcome.rate)
        samples.add("mixed/64/p50", "ms", outcome.latency_millis(50))
        samples.add("mixed/64/p99", "ms", outcome.latency_millis(99))
        samples.add("mixed/64/load", "processors", outcome.processor_share)
    yield from samples.series()


def _requests(made: Desk, ids: Sequence[str], commands: int) -> list[bytes]:
    """Requests in the order in which they are sent."""
    found = []
    for number, command in enumerate(made.singles(commands)):
        found.append(command)
        for step in range(READS_PER_COMMAND):
            relation_id = ids[(READS_PER_COMMAND * number + step) % len(ids)]
            found.append(made.stage.ask("relations/read", relation_id=relation_id))
    return found
