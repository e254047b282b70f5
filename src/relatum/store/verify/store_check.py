"""A whole store, verified in steps: its own tables, its partitions, and what counts them all.

What always holds: every key range of the store is covered. A store that nobody writes gets the same report each time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from relatum.core import digests
from relatum.store.database import START
from relatum.store.keys import STORE_PREFIX, StoreTable, Table
from relatum.store.verify.audit import Audit
from relatum.store.verify.findings import Findings
from relatum.store.verify.position import check_position, read_position
from relatum.store.verify.prefixes import TakeView
from relatum.store.verify.report import FamilyReport, Report
from relatum.store.verify.scan import END
from relatum.store.verify.store_tables import CHECKS, read_listed
from relatum.store.verify.totals import Partitions, Totals

_FAMILIES: Final = [table.name.lower() for table in (*StoreTable, *Table)]


class StoreCheck:
    """The verification of a store, whose partitions are verified by `partitions`, which adds to `totals`."""

    def __init__(
        self,
        take_view: TakeView,
        findings: Findings,
        totals: Totals,
        partitions: Partitions,
        *,
        step_rows: int,
    ) -> None:
        self._take_view = take_view
        self._findings = findings
        self._totals = totals
        self._partitions = partitions
        self._step_rows = step_rows
        self._position = START

    @property
    def rows(self) -> int:
        """How many rows were looked at so far."""
        return self._totals.rows + self._partitions.rows

    @property
    def fraction(self) -> float:
        """About how much of the work is done, from 0 to 1."""
        done = self._totals.events + self._partitions.done
        return min(1.0, done / max(1, self._position.position))

    def steps(self) -> Iterator[None]:
        """The work, a step at a time; the report is complete after the last."""
        with self._take_view() as view:
            self._position = read_position(view) or START
        for table in CHECKS:
            yield from self._own_steps(table)
        yield from self._partitions.steps()
        with self._take_view() as view:
            check_position(view, self._findings)
        yield

    def report(self) -> Report:
        """What was found."""
        counts = self._findings.by_family
        return Report(
            position=self._position.position,
            digest=self._position.digest.hex(),
            partitions=self._totals.partitions,
            rows=self.rows,
            families={family: self._family(family) for family in dict.fromkeys([*_FAMILIES, *counts])},
            findings=tuple(self._findings.named),
            findings_count=self._findings.count,
        )

    def _family(self, family: str) -> FamilyReport:
        census = self._totals.census(family)
        return FamilyReport(
            rows=census.rows, digest=census.total_bytes.hex(), findings=self._findings.by_family[family]
        )

    def _own_steps(self, table: StoreTable) -> Iterator[None]:
        """A table of the store itself."""
        family, start = table.name.lower(), b""

        def find(message: str) -> None:
            self._findings.add(family, message)

        audit = Audit(STORE_PREFIX + bytes([table]), find, digests.row_number, summed=False)
        while start != END:
            with self._take_view() as view:
                start = read_listed(audit, CHECKS[table], view, start, self._step_rows)
            yield
        self._totals.census(family).add(audit.stored, audit.digest_sum)
