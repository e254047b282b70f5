"""A ledger in memory with a clock that is moved by hand, and desks in the sample partition."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relatum.clock import ManualClock
from relatum.ledger import Ledger
from tests.support.builders import START_MILLIS
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(START_MILLIS)


@pytest.fixture
def ledger(clock: ManualClock) -> Iterator[Ledger]:
    with Ledger.in_memory(clock=clock) as opened:
        yield opened


@pytest.fixture
def desk(ledger: Ledger) -> Desk:
    return Desk(ledger)


@pytest.fixture
def judging(ledger: Ledger) -> JudgingDesk:
    return JudgingDesk(ledger)
