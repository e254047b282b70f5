"""A ledger in memory with the companies of these tests, a clock moved by hand, and desks in the sample partition."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relatum.clock import ManualClock
from relatum.ledger import Ledger
from tests.text_export.carrying import empty_ledger


@pytest.fixture
def ledger(clock: ManualClock) -> Iterator[Ledger]:
    with empty_ledger(clock) as opened:
        yield opened


@pytest.fixture
def again(clock: ManualClock) -> Iterator[Ledger]:
    """Another one, empty, with the same clock."""
    with empty_ledger(clock) as opened:
        yield opened
