"""A ledger in memory, and an index of its own that tests may ask."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import pytest

from relatum.clock import ManualClock
from relatum.ledger import Ledger
from relatum.ledger.search.index import SearchIndex
from relatum.telemetry import Log
from tests.support.builders import START_MILLIS


@pytest.fixture
def ledger() -> Iterator[Ledger]:
    with Ledger.in_memory(clock=ManualClock(START_MILLIS)) as opened:
        yield opened


@pytest.fixture
def said() -> io.StringIO:
    """What the index has logged."""
    return io.StringIO()


@pytest.fixture
def log(said: io.StringIO) -> Log:
    return Log(said, lambda: START_MILLIS, "warning")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "search.sqlite"


@pytest.fixture
def index(path: Path, log: Log) -> Iterator[SearchIndex]:
    opened = SearchIndex(path, log)
    yield opened
    opened.close()
