"""Randomness and time for a process that is to do the same thing again."""

from __future__ import annotations

from itertools import count
from random import Random
from threading import Lock
from typing import Final

from relatum.ledger.judgments import Ages

AGES: Final = Ages(resurfacing_millis=0, deadline_millis=40)
"""A sweep finds something within a short life."""


class SeededEntropy:
    """Bytes drawn from a seed. Any thread may ask."""

    def __init__(self, seed: str) -> None:
        self._random = Random(f"entropy of {seed}")
        self._lock = Lock()

    def draw(self, size: int) -> bytes:
        """The next `size` bytes."""
        with self._lock:
            return self._random.randbytes(size)


class CountingClock:
    """A clock that goes on by a millisecond whenever somebody looks at it. Any thread may look.

    A later life begins at the same time; the ledger's commit times go on where the store had come to.
    """

    def __init__(self) -> None:
        self._millis = count(1_700_000_000_000)

    def millis(self) -> int:
        """The time."""
        return next(self._millis)
