"""Ledgers to test: in memory, and in a temporary directory that can be opened again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from relatum.clock import ManualClock
from relatum.ledger import Ledger
from tests.support.builders import START_MILLIS
from tests.support.desk import Desk
from tests.support.stores import TrialStore, database_on


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START_MILLIS)


@pytest.fixture
def disk() -> TrialStore:
    """A memory store whose syncs a test can hold up or break."""
    return TrialStore()


@pytest.fixture
def ledger(clock: ManualClock, disk: TrialStore) -> Iterator[Ledger]:
    with Ledger(database_on(disk), clock=clock) as opened:
        yield opened
        disk.release()


@pytest.fixture
def desk(ledger: Ledger) -> Desk:
    return Desk(ledger)


@pytest.fixture
def reopen(tmp_path: Path, clock: ManualClock) -> Iterator[Callable[[], Ledger]]:
    """Opens the ledger in a temporary directory; opening it again closes it first."""
    with ExitStack() as stack:

        def opened() -> Ledger:
            stack.pop_all().close()
            return stack.enter_context(Ledger.open(tmp_path / "ledger", create=True, clock=clock))

        yield opened
