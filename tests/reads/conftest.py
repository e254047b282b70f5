"""A desk at an empty ledger in memory, whose clock a test moves by hand, and the reads of that desk."""

from __future__ import annotations

import pytest

from tests.reads.reading import Reading
from tests.support.desk import Desk


@pytest.fixture
def reading(desk: Desk) -> Reading:
    return Reading(desk)
