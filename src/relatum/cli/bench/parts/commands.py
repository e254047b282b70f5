"""Relation commands over HTTP: one a request at 1 to 256 connections, batches, and replays of known keys.

Floors, in the same rounds: the bare engine with the rows that the ledger writes, in groups of the same sizes, and the
web stack that decodes the same requests and answers a stored receipt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from relatum.cli.bench.floors.rows import Written, written
from relatum.cli.bench.floors.writes import raw_writes
from relatum.cli.bench.processes import Served
from relatum.cli.bench.samples import Samples, Series, Setting
from relatum.cli.bench.server_fixture import BATCH_CONNECTIONS, Desk, desk

CONNECTIONS: Final = (1, 16, 64, 256)
SIZES: Final = (1, 16, 64, 256)
COMPARED_AT: Final = 64
"""The number of connections at which the echo and the replays are measured."""


def measure(setting: Setting) -> Iterator[Series]:
    """Commands a second, latencies, syncs a command."""
    setting.progress("commands: rows for the floors")
    commands = setting.sized(512, 4_096)
    floors = [written(max(2, commands // size), size, setting.scratch) for size in SIZES]
    samples = Samples()
    lagging = setting.directory("commands-lagging")
    with desk(setting.directory("commands")) as made, desk(lagging, "--watermark-lag", "1") as behind:
        [asked] = made.singles(1)
        with made.echo(setting.scratch, ("command", "relations/commands", asked)) as echo:
            for _ in setting.each_round("commands"):
                _floors(samples, floors, made, echo, setting)
                for connections in CONNECTIONS:
                    _singles(samples, made, connections, setting)
                _lone_ones(samples, behind, setting)
                for size in SIZES:
                    _batches(samples, made, size, setting)
    yield from samples.series()


def _floors(samples: Samples, floors: Sequence[Written], made: Desk, echo: Served, setting: Setting) -> None:
    for floor in floors:
        pace = raw_writes(floor, setting.scratch)
        samples.add(f"commands/floor/write/{floor.group}/rate", "commands/s", pace.rate)
        if floor.group == 1:
            samples.add("commands/floor/write/1/p50", "ms", pace.p50_millis)
    count = setting.sized(1_500, 10_000)
    outcome = made.load_elsewhere(echo, made.singles(count), COMPARED_AT, count)
    samples.add("commands/floor/echo/rate", "requests/s", outcome.rate)
    samples.add("commands/floor/echo/p99", "ms", outcome.latency_millis(99))
    samples.add("commands/floor/echo/cost", "cpu µs", outcome.server_micros)
    samples.add("commands/floor/echo/load", "processors", outcome.processor_share)


def _singles(samples: Samples, made: Desk, connections: int, setting: Setting) -> None:
    name = f"commands/single/{connections}"
    requests = made.singles(setting.sized(200, 1_000) if connections == 1 else setting.sized(1_000, 6_000))
    before = made.served.metrics()
    outcome = made.load(requests, connections)
    after = made.served.metrics()
    samples.add(f"{name}/rate", "commands/s", outcome.rate, floor="commands/floor/echo/rate")
    samples.add(f"{name}/p50", "ms", outcome.latency_millis(50), floor="commands/floor/write/1/p50")
    samples.add(f"{name}/p99", "ms", outcome.latency_millis(99))
    syncs = after["relatum_syncs_total"] - before["relatum_syncs_total"]
    samples.add(f"{name}/syncs", "syncs/command", syncs / len(requests))
    samples.add(f"{name}/cost", "cpu µs", outcome.server_micros, floor="commands/floor/echo/cost")
    samples.add(f"{name}/server", "processors", outcome.server_share)
    samples.add(f"{name}/load", "processors", outcome.processor_share)
    if connections == COMPARED_AT:
        _replays(samples, made, requests)


def _lone_ones(samples: Samples, made: Desk, setting: Setting) -> None:
    """One command at a time where the watermark lags, in place of two syncs one after the other."""
    requests = made.singles(setting.sized(200, 1_000))
    outcome = made.load(requests, 1)
    samples.add("commands/lagging/1/rate", "commands/s", outcome.rate, floor="commands/single/1/rate")
    samples.add("commands/lagging/1/p50", "ms", outcome.latency_millis(50), floor="commands/floor/write/1/p50")
    samples.add("commands/lagging/1/p99", "ms", outcome.latency_millis(99))
    samples.add("commands/lagging/1/load", "processors", outcome.processor_share)


def _replays(samples: Samples, made: Desk, requests: Sequence[bytes]) -> None:
    before = made.served.metrics()
    outcome = made.load(requests, COMPARED_AT)
    syncs = made.served.metrics()["relatum_syncs_total"] - before["relatum_syncs_total"]
    samples.add("commands/replay/rate", "commands/s", outcome.rate, floor="commands/floor/echo/rate")
    samples.add("commands/replay/cost", "cpu µs", outcome.server_micros, floor="commands/floor/echo/cost")
    samples.add("commands/replay/p99", "ms", outcome.latency_millis(99))
    samples.add("commands/replay/syncs", "syncs/command", syncs / len(requests))
    samples.add("commands/replay/load", "processors", outcome.processor_share)


def _batches(samples: Samples, made: Desk, size: int, setting: Setting) -> None:
    requests = made.batches(max(BATCH_CONNECTIONS, setting.sized(1_024, 8_192) // max(size, 4)), size)
    outcome = made.load(requests, BATCH_CONNECTIONS)
    name, floor = f"commands/batch/{size}", f"commands/floor/write/{size}/rate"
    samples.add(f"{name}/rate", "commands/s", size * outcome.rate, floor=floor)
    samples.add(f"{name}/cost", "cpu µs", outcome.server_micros / size)
    samples.add(f"{name}/p99", "ms", outcome.latency_millis(99))
    samples.add(f"{name}/load", "processors", outcome.processor_share)
