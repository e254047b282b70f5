"""What the verification of a store has come to so far, over all its partitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from relatum.store.verify.expected_rows import Census, Censuses


class Totals:
    """Counts of what is finished. `events` is that of the partitions, as a measure of work."""

    def __init__(self) -> None:
        self.partitions = 0
        self.events = 0
        self.censuses: Censuses = {}

    @property
    def rows(self) -> int:
        """How many rows were looked at."""
        return sum(census.rows for census in self.censuses.values())

    def census(self, family: str) -> Census:
        """That of a family."""
        return self.censuses.setdefault(family, Census())


class Partitions(Protocol):
    """A way to verify all partitions of a store."""

    @property
    def rows(self) -> int:
        """How many rows were looked at in what is not finished yet."""
        ...

    @property
    def done(self) -> float:
        """About how many events' worth of work was done in what is not finished yet."""
        ...

    def steps(self) -> Iterator[None]:
        """The work, a step at a time."""
        ...
