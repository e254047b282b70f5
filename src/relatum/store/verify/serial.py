"""The partitions of a store, one after the other, each in steps: of a store that may be written meanwhile."""

from __future__ import annotations

from collections.abc import Iterator

from relatum.store.verify.expected_rows import Books
from relatum.store.verify.findings import Findings
from relatum.store.verify.partition import PartitionCheck
from relatum.store.verify.partition_result import Locate
from relatum.store.verify.prefixes import TakeView, each_partition
from relatum.store.verify.totals import Totals


class SerialPartitions:
    """With `censused` the rows of all tables are summed, for the report."""

    def __init__(
        self,
        take_view: TakeView,
        findings: Findings,
        totals: Totals,
        *,
        step_rows: int,
        censused: bool = False,
        locate: Locate | None = None,
    ) -> None:
        self._take_view = take_view
        self._findings = findings
        self._totals = totals
        self._step_rows = step_rows
        self._censused = censused
        self._locate = locate
        self._present: PartitionCheck | None = None

    @property
    def rows(self) -> int:
        """Of the present partition."""
        return 0 if self._present is None else self._present.rows

    @property
    def done(self) -> float:
        """Of the present partition."""
        return 0 if self._present is None else self._present.done

    def steps(self) -> Iterator[None]:
        """One partition after the other."""
        for partition in each_partition(self._take_view, self._findings):
            books = Books(partition, self._findings, censused=self._censused)
            check = PartitionCheck(books, self._take_view, step_rows=self._step_rows, locate=self._locate)
            self._present = check
            yield from check.steps()
            self._present = None
            books.enter(self._totals.censuses)
            self._totals.partitions += 1
            self._totals.events += check.events
