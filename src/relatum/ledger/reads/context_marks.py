"""What is said of a record at the end of its line in a context block: superseded, in conflict (views.md, context)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, TypeVar

from relatum.core.ancestry import DependencyBudgetExhausted
from relatum.core.eligibility import Evaluator
from relatum.core.records import RecordMeta
from relatum.store import adjacency
from relatum.store.keys import Table
from relatum.store.partition import Direction, PartitionReader

SUPERSEDED: Final = " (superseded)"
IN_CONFLICT: Final = " (in conflict)"

ENTRIES_MAX: Final = 10_000
"""How many rows are looked at for all lines of a block."""

Row = TypeVar("Row")

_DIRECTIONS: Final[tuple[Direction, ...]] = (Table.OUTGOING, Table.INCOMING)


class Conflicts:
    """Which records are contradicted: by an eligible relation, a verdict in force, or a pair that waits for one.

    `is_cut`: somewhere not everything was looked at. A record is contradicted by one that a reader may see alone.
    """

    def __init__(self, partition: PartitionReader, evaluator: Evaluator) -> None:
        self.is_cut = False
        self._partition = partition
        self._evaluator = evaluator
        self._left = ENTRIES_MAX

    def has(self, meta: RecordMeta) -> bool:
        """Whether a record that is shown is in conflict."""
        try:
            found = any(map(self._is_visible, self._rivals(meta.record_id))) or self._is_contradicted(meta)
        except DependencyBudgetExhausted:
            self.is_cut = True
            return False
        return found

    def _rivals(self, record_id: str) -> Iterator[str]:
        """The other ends of pending candidates, and of verdicts in force that the two contradict each other."""
        partition = self._partition
        for _, candidate in self._bounded(partition.candidate_ends(record_id, newest_first=True)):
            if candidate.pending:
                yield candidate.other_id
        for direction in _DIRECTIONS:
            for _, end in self._bounded(partition.verdict_ends(record_id, direction, newest_first=True)):
                if end.indexed and end.kind == "contradicts":
                    yield end.other_id

    def _is_contradicted(self, meta: RecordMeta) -> bool:
        for direction in _DIRECTIONS:
            for neighbour in self._bounded(adjacency.neighbours(self._partition, direction, meta.content)):
                if neighbour.kind == "contradicts":
                    relation = self._partition.indexed_relation(neighbour.relation_id).relation
                    if self._evaluator.relation_is_eligible(relation):
                        return True
        return False

    def _bounded(self, rows: Iterator[Row]) -> Iterator[Row]:
        for row in islice(rows, self._left):
            self._left -= 1
            yield row
        if self._left == 0:
            self.is_cut = True

    def _is_visible(self, record_id: str) -> bool:
        version = self._evaluator.record(record_id)
        return version is not None and self._evaluator.is_eligible(version)
