"""The ledger against the oracle, in memory and on RocksDB."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from relatum.ledger import Ledger
from tests.model.following import FollowingMachine
from tests.support.stores import TrialStore, database_on


class InMemory(FollowingMachine):
    """On a memory store, reopened as after a power cut between two commands."""

    def __init__(self) -> None:
        self.disk = TrialStore()
        super().__init__()

    def opened(self) -> Ledger:
        self.disk = self.disk.after_power_cut()
        return Ledger(database_on(self.disk), clock=self.clock)

    def copied(self) -> TrialStore:
        return self.disk  # nobody writes to it any more: the ledger is opened on what it would leave

    def put_back(self, copy: TrialStore) -> None:
        self.disk = copy


class OnRocksDB(FollowingMachine):
    """In a directory of its own."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="relatum-model-"))
        super().__init__()

    def opened(self) -> Ledger:
        return Ledger.open(self.directory / "ledger", create=True, clock=self.clock)

    def copied(self) -> Path:
        copy = Path(tempfile.mkdtemp(dir=self.directory)) / "ledger"
        return shutil.copytree(self.directory / "ledger", copy)

    def put_back(self, copy: Path) -> None:
        shutil.rmtree(self.directory / "ledger")
        shutil.copytree(copy, self.directory / "ledger")

    def left(self) -> None:
        shutil.rmtree(self.directory)


TestInMemory = InMemory.TestCase
TestInMemory.settings = settings(stateful_step_count=30, deadline=None)

TestOnRocksDB = pytest.mark.slow(OnRocksDB.TestCase)
TestOnRocksDB.settings = settings(
    stateful_step_count=30,
    deadline=None,
    max_examples=max(12, settings().max_examples // 10),  # a reopening costs a tenth of a second here
    suppress_health_check=[HealthCheck.too_slow],
)
