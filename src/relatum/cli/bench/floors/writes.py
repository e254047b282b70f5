"""The floor of writing: rows handed to the bare engine, one synced batch after another, by one thread."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import NamedTuple

from relatum.cli.bench.floors.rows import Written
from relatum.cli.bench.load.job import MICROS, MILLIS
from relatum.store.rocks import RocksStore


class Pace(NamedTuple):
    """How fast batches became durable. Latencies are in seconds, of one batch; the engine's own threads count too."""

    commands: int
    seconds: float
    processor_seconds: float
    latencies: Sequence[float]

    @property
    def rate(self) -> float:
        """Commands a second."""
        return self.commands / self.seconds

    @property
    def micros(self) -> float:
        """Processor time of one command."""
        return MICROS * self.processor_seconds / self.commands

    @property
    def p50_millis(self) -> float:
        """The latency of the middle batch."""
        return MILLIS * median(self.latencies)


def raw_writes(written: Written, scratch: Path) -> Pace:
    """Writes and syncs every batch into an empty store, which nobody reads; it lies in `scratch` meanwhile."""
    with TemporaryDirectory(dir=scratch) as name, closing(RocksStore.open(Path(name), create=True)) as store:
        latencies = []
        started, processor_started = perf_counter(), process_time()
        for batch in written.batches:
            begun = perf_counter()
            store.write(batch)
            store.sync()
            latencies.append(perf_counter() - begun)
        seconds, processor_seconds = perf_counter() - started, process_time() - processor_started
    return Pace(written.group * len(written.batches), seconds, processor_seconds, latencies)
