"""Stores to test: every suite that takes `store` runs on each implementation of `KeyValue`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from crash_tests.simulation.disk import Disk
from crash_tests.simulation.plan import calm, draw
from crash_tests.simulation.store import FaultyStore
from relatum.store.memory import MemoryStore
from relatum.store.rocks import RocksStore

Store = RocksStore | MemoryStore | FaultyStore


@pytest.fixture
def open_rocks(tmp_path: Path) -> Iterator[Callable[[], RocksStore]]:
    """Opens the store in `tmp_path / "store"`, again and again if a test likes; the last one is closed at the end."""
    with ExitStack() as stack:

        def opened() -> RocksStore:
            store = RocksStore.open(tmp_path / "store", create=True)
            stack.callback(store.close, wait_seconds=0)
            return store

        yield opened


@pytest.fixture
def simulated() -> Iterator[FaultyStore]:
    """The store of the simulation, on a disk that does not fail."""
    disk = Disk()
    yield FaultyStore(disk, calm(draw(Random(0))), Random(0))
    disk.close()


@pytest.fixture(params=["rocks", "memory", "simulated"])
def store(request: pytest.FixtureRequest) -> Store:
    """An empty store of each kind."""
    if request.param == "memory":
        return MemoryStore()
    if request.param == "simulated":
        simulated: Store = request.getfixturevalue("simulated")
        return simulated
    opened: Store = request.getfixturevalue("open_rocks")()
    return opened
