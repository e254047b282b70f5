"""A desk at an empty ledger in memory, whose clock a test moves by hand, and the reads of that desk."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relatum.clock import ManualClock
from relatum.ledger import Ledger
from tests.reads.reading import Reading
from tests.support.builders import START_MILLIS
from tests.support.desk import Desk


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
def reading(desk: Desk) -> Reading:
    return Reading(desk)
