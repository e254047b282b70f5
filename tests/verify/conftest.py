"""A small store with every kind of row, in memory and on disk."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from relatum.clock import ManualClock
from relatum.ledger import Ledger
from tests.support.builders import START_MILLIS
from tests.support.history import every_kind_of_event, many_events
from tests.support.stores import published_rows


@pytest.fixture(scope="session")
def sound_rows() -> dict[bytes, bytes]:
    """Every row of a ledger that was given every kind of command."""
    clock = ManualClock(START_MILLIS)
    with Ledger.in_memory(clock=clock) as ledger:
        every_kind_of_event(ledger, clock)
        many_events(ledger)
        return published_rows(ledger)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `store` is a copy of."""
    directory, clock = tmp_path_factory.mktemp("verify") / "store", ManualClock(START_MILLIS)
    with Ledger.open(directory, create=True, clock=clock) as ledger:
        every_kind_of_event(ledger, clock)
        many_events(ledger)
    return directory


@pytest.fixture
def store(made_once: Path, tmp_path: Path) -> Path:
    """A data directory that nobody has open."""
    return shutil.copytree(made_once, tmp_path / "store")
