"""Reads of single relations over HTTP, at 32 connections: eligible read, inspection, a revision.

The floor, in the same rounds: the web stack that decodes the body of a read and answers a stored relation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from relatum.cli.bench.samples import Samples, Series, Setting
from relatum.cli.bench.server_fixture import desk

CONNECTIONS: Final = 32


def measure(setting: Setting) -> Iterator[Series]:
    """Requests a second, latencies."""
    samples = Samples()
    setting.progress("reads: relations to read")
    with desk(setting.directory("reads")) as made:
        ids = made.relate(setting.sized(1_000, 20_000))
        ask = made.stage.ask
        kinds = {
            "read": [ask("relations/read", relation_id=one) for one in ids],
            "inspect": [ask("relations/inspect", relation_id=one) for one in ids],
            "revision": [ask("relations/revision", relation_id=one, revision=1) for one in ids],
        }
        count = setting.sized(1_500, 10_000)
        with made.echo(setting.scratch, ("read", "relations/read", kinds["read"][0])) as echo:
            for _ in setting.each_round("reads"):
                outcome = made.load_elsewhere(echo, kinds["read"], CONNECTIONS, count)
                samples.add("reads/floor/echo/rate", "requests/s", outcome.rate)
                samples.add("reads/floor/echo/p50", "ms", outcome.latency_millis(50))
                samples.add("reads/floor/echo/cost", "cpu µs", outcome.server_micros)
                samples.add("reads/floor/echo/load", "processors", outcome.processor_share)
                for name, requests in kinds.items():
                    outcome = made.load(requests, CONNECTIONS, count=count)
                    samples.add(f"reads/{name}/rate", "requests/s", outcome.rate, floor="reads/floor/echo/rate")
                    samples.add(f"reads/{name}/p50", "ms", outcome.latency_millis(50), floor="reads/floor/echo/p50")
                    cost = outcome.server_micros
                    samples.add(f"reads/{name}/cost", "cpu µs", cost, floor="reads/floor/echo/cost")
                    samples.add(f"reads/{name}/p99", "ms", outcome.latency_millis(99))
                    samples.add(f"reads/{name}/load", "processors", outcome.processor_share)
    yield from samples.series()
