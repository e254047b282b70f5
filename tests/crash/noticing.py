"""What a planted bug or a lie must come to: somebody notices it, in whichever way it comes to show first.

Threads decide what comes before a kill, and with it who meets a fault first: a client, a consumer, the oracle after the
restart, the inspection of the rows, or the server itself. So a test of a real server names no one of them. It asks that
what was noticed is a fault, and not that the machine was too slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from crash_tests.violation import Violation

_TOO_SLOW = re.compile(r"\b(?:within|for) [\d.]+ s\b|hangs|got no end")
"""What every wait says that has come to its bound."""


@contextmanager
def noticed() -> Iterator[None]:
    """The block must raise a `Violation` that no slow machine would."""
    with pytest.raises(Violation) as violation:
        yield
    assert_no_slowness(str(violation.value))


def assert_no_slowness(told: str) -> None:
    """What was told, before the end of any log, is not that something did not come in time."""
    first_line, *_ = told.split("\n")
    assert not _TOO_SLOW.search(first_line), told
