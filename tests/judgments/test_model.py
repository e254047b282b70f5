"""Judgments against the model, in memory and on RocksDB."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule

from relatum.ledger import Ledger
from tests.judgments.model.machine import JudgingMachine
from tests.support.stores import TrialStore, database_on


class InMemory(JudgingMachine):
    """On a memory store, reopened as after a power cut between two commands; the search index is made again then."""

    def __init__(self) -> None:
        self.disk = TrialStore()
        super().__init__()

    def opened(self) -> Ledger:
        self.disk = self.disk.after_power_cut()
        return Ledger(database_on(self.disk), clock=self.clock)


class OnRocksDB(JudgingMachine):
    """In a directory of its own, whose search index may be lost, or put back as it was some time ago."""

    def __init__(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="relatum-judging-"))
        super().__init__()

    def opened(self) -> Ledger:
        return Ledger.open(self.directory / "ledger", create=True, clock=self.clock)

    @rule(fate=st.sampled_from(["lost", "kept", "put back"]))
    def reopen_beside_another_index(self, fate: str) -> None:
        self.driver.ledger.close()
        ledger, kept = self.directory / "ledger", self.directory / "kept"
        if fate == "lost":
            (ledger / "search.sqlite").unlink(missing_ok=True)
        else:
            source, target = (ledger, kept) if fate == "kept" else (kept, ledger)
            kept.mkdir(exist_ok=True)
            for file in source.glob("search.sqlite*"):  # with its seal; there is none until somebody asks
                shutil.copy(file, target)
        self.driver.ledger = self.opened()

    def left(self) -> None:
        shutil.rmtree(self.directory)


TestInMemory = InMemory.TestCase
TestInMemory.settings = settings(stateful_step_count=40, deadline=None)

TestOnRocksDB = pytest.mark.slow(OnRocksDB.TestCase)
TestOnRocksDB.settings = settings(
    stateful_step_count=30,
    deadline=None,
    max_examples=max(8, settings().max_examples // 20),  # a reopening costs a tenth of a second here
    suppress_health_check=[HealthCheck.too_slow],
)
