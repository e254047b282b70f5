"""What an operator waits for: a verification, a backup, and a start after the server was killed.

Floors, in the same rounds: a plain scan of the same store with its checksums, a plain copy of its files that is synced,
and a start on a store that is as good as empty. A start is measured on a store of its own, which may be larger.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Final

from relatum.cli.bench.load.generator import MeasurementFailed
from relatum.cli.bench.processes import serving
from relatum.cli.bench.samples import Samples, Series, Setting
from relatum.cli.bench.server_fixture import BATCH, BATCH_CONNECTIONS, Desk, served_desk
from relatum.cli.bench.store_fixture import Stage
from relatum.clock import SystemClock
from relatum.store import layout, rows
from relatum.store.backup import create
from relatum.store.backup.file_copy import sync_tree
from relatum.store.rocks import reading
from relatum.store.verify.directory import verify_directory

BEYOND_EVERY_KEY: Final = b"\xff" * 64
WRITTEN_BEFORE_A_KILL: Final = 2 * BATCH


def measure(setting: Setting) -> Iterator[Series]:
    """Seconds."""
    kept, started = (
        setting.relations or setting.sized(4_000, 100_000),
        setting.relations or setting.sized(4_000, 1_000_000),
    )
    empty, full, large = (Stage.make(setting.directory(name)) for name in ("upkeep-empty", "upkeep", "upkeep-start"))
    for stage, relations in ((full, kept), (large, started)):
        _fill(stage, relations, setting)
    samples = Samples()
    samples.add("upkeep/relations", "relations", kept).add("upkeep/start/relations", "relations", started)
    for number in setting.each_round("upkeep"):
        _upkeep(samples, full.directory, setting.scratch)
        _starts(samples, empty, large, number)
    yield from samples.series()


def _fill(stage: Stage, relations: int, setting: Setting) -> None:
    setting.progress(f"upkeep: a store of {relations:,} relations")
    with served_desk(stage) as made:
        made.fill(relations, lambda count: setting.progress(f"upkeep: {count:,} of {relations:,} relations"))


def _upkeep(samples: Samples, store: Path, scratch: Path) -> None:
    samples.add("upkeep/floor/scan", "s", _seconds(lambda: _scan(store)))
    samples.add("upkeep/verify", "s", _seconds(lambda: _verify(store)), floor="upkeep/floor/scan")
    with TemporaryDirectory(dir=scratch) as name:
        samples.add("upkeep/floor/copy", "s", _seconds(lambda: _copy(store, Path(name) / "copy")))
        seconds = _seconds(lambda: _back_up(store, Path(name) / "backup"))
        samples.add("upkeep/backup", "s", seconds, floor="upkeep/floor/copy")


def _seconds(work: Callable[[], None]) -> float:
    started = perf_counter()
    work()
    return perf_counter() - started


def _scan(store: Path) -> None:
    with reading(store / layout.ENGINE_NAME) as view:
        for key, row in view.scan(b"", BEYOND_EVERY_KEY):
            rows.unseal(key, row)


def _verify(store: Path) -> None:
    if not verify_directory(store).clean:
        raise MeasurementFailed("the store of the benchmark is not sound")


def _copy(store: Path, place: Path) -> None:
    shutil.copytree(store, place, copy_function=_copy_file)
    sync_tree(place)


def _copy_file(source: str, destination: str) -> None:
    shutil.copyfile(source, destination)
    with Path(destination).open("rb") as copied:
        os.fsync(copied.fileno())


def _back_up(store: Path, place: Path) -> None:
    with create.local_source(store) as source:
        files = create.copy(source, place)
        contents = source.contents
    create.seal(place, contents, files, SystemClock().millis())


# Starts


def _starts(samples: Samples, empty: Stage, large: Stage, number: int) -> None:
    """Both stores are written to, killed with what was written still in the log, and started again."""
    for stage, name, floor in ((empty, "floor/start", ""), (large, "start", "upkeep/floor/start")):
        with served_desk(stage, keys=f"before-kill-{number}") as made:
            _write_and_kill(made)
        started = perf_counter()
        with serving(stage.directory):
            samples.add(f"upkeep/{name}", "s", perf_counter() - started, floor=floor)


def _write_and_kill(made: Desk) -> None:
    made.load(made.batches(WRITTEN_BEFORE_A_KILL // BATCH, BATCH), BATCH_CONNECTIONS)
    made.served.kill()
