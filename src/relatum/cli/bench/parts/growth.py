"""How the ledger bears growth: two stores, one with a fixed number of relations and one with many times as many.

The larger one is loaded over HTTP in batches while the server's memory is watched. Then both are served at once, and
the same load is put on each in turn, so that a busy machine is as unkind to the one as to the other.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from relatum.cli.bench.samples import Samples, Series, Setting
from relatum.cli.bench.server_fixture import BATCH, BATCH_CONNECTIONS, Desk, served_desk
from relatum.cli.bench.store_fixture import Stage
from relatum.limits import MIB

CONNECTIONS: Final = 64
STEPS: Final = 20
"""How often memory is looked at while the store is loaded."""


def measure(setting: Setting) -> Iterator[Series]:
    """Commands a second, latencies, bytes on disk, resident set."""
    base, relations = setting.sized(2_000, 50_000), setting.relations or setting.sized(8_000, 5_000_000)
    samples = Samples()
    samples.add("growth/base/relations", "relations", base).add("growth/relations", "relations", relations)
    small = Stage.make(setting.directory("growth-base"))
    setting.progress(f"growth: loading {base:,} relations")
    with served_desk(small, keys="base") as made:
        _load(samples, made, base, "growth/base", setting)
    large = small._replace(directory=Path(shutil.copytree(small.directory, setting.directory("growth"))))
    with served_desk(large, keys="more") as made:
        _load(samples, made, relations - base, "growth", setting, already=base)
    _flatness(samples)
    for name, stage, count in (("growth/base", small, base), ("growth", large, relations)):
        samples.add(f"{name}/disk", "bytes/relation", _bytes_in(stage.directory) / count)
    _compare(samples, small, large, setting)
    yield from samples.series()


def _load(samples: Samples, made: Desk, count: int, name: str, setting: Setting, *, already: int = 0) -> None:
    """Loads `count` relations in steps; speed and memory of each are a sample, and the peak of all is one more."""
    step = max(BATCH, count // STEPS)
    loaded = 0
    while loaded < count:
        batches = max(1, min(step, count - loaded) // BATCH)
        outcome = made.load(made.batches(batches, BATCH), BATCH_CONNECTIONS)
        loaded += batches * BATCH
        samples.add(f"{name}/loading/rate", "commands/s", BATCH * outcome.rate)
        samples.add(f"{name}/loading/load", "processors", outcome.processor_share)
        resident = made.served.metrics()["process_resident_memory_bytes"] / MIB
        samples.add(f"{name}/loading/resident", "MiB", resident)
        setting.progress(f"{name}: {already + loaded:,} relations, {resident:.0f} MiB")
    samples.add(f"{name}/loading/resident/peak", "MiB", made.served.resident_peak_bytes / MIB)


def _flatness(samples: Samples) -> None:
    """Memory halfway and at the end, so that what grows with the store shows."""
    resident = samples.of("growth/loading/resident")
    samples.add("growth/loading/resident/half", "MiB", resident[len(resident) // 2])
    samples.add("growth/loading/resident/end", "MiB", resident[-1], floor="growth/loading/resident/half")


def _compare(samples: Samples, small: Stage, large: Stage, setting: Setting) -> None:
    with ExitStack() as stack:
        base = stack.enter_context(served_desk(small, keys="base-compared"))
        grown = stack.enter_context(served_desk(large, keys="compared"))
        for _ in setting.each_round("growth"):
            _singles(samples, base, "growth/base", "", setting)
            _singles(samples, grown, "growth", "growth/base", setting)


def _singles(samples: Samples, made: Desk, name: str, floor: str, setting: Setting) -> None:
    outcome = made.load(made.singles(setting.sized(500, 4_000)), CONNECTIONS)
    samples.add(f"{name}/rate", "commands/s", outcome.rate, floor=floor and f"{floor}/rate")
    samples.add(f"{name}/p50", "ms", outcome.latency_millis(50), floor=floor and f"{floor}/p50")
    samples.add(f"{name}/p99", "ms", outcome.latency_millis(99), floor=floor and f"{floor}/p99")
    samples.add(f"{name}/load", "processors", outcome.processor_share)


def _bytes_in(directory: Path) -> int:
    """Of all files of a store at rest, the log included."""
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())
