"""The partitions of a store at rest, verified by several processes at once.

What lives here: `ParallelPartitions`, which cuts the work into tasks and puts together what they come to. Partitions
with few events go to a helper as they are, many at a time; one with many is cut (`partition_chunks.py`).

What always holds: results are taken in in the order of the tasks, so the report is the same whoever was faster; so many
tasks are under way and no more, so memory is bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import nullcontext
from typing import Final, Protocol

from relatum.errors import StorageInconsistency
from relatum.store.kv import Reader
from relatum.store.partition import PartitionReader
from relatum.store.verify.expected_rows import Books
from relatum.store.verify.findings import Findings
from relatum.store.verify.partition_chunks import CutPartition, TakeIn
from relatum.store.verify.prefixes import each_partition
from relatum.store.verify.tasks import Result, Task, WholePartitions
from relatum.store.verify.totals import Totals

STRETCH_EVENTS: Final = 10_000
"""So many events are followed, or verified in whole partitions, by one task: some seconds."""

TASKS_PER_HELPER: Final = 4
"""How many are under way."""


class Helping(Protocol):
    """Whoever does tasks on the same store."""

    @property
    def count(self) -> int:
        """How many tasks may be done at once."""
        ...

    def submit(self, task: Task) -> Future[Result]:
        """Has a task done."""
        ...


class ParallelPartitions:
    """By `helpers`, which have the same store open as `view` is of."""

    def __init__(
        self,
        view: Reader,
        findings: Findings,
        totals: Totals,
        helpers: Helping,
        *,
        stretch_events: int = STRETCH_EVENTS,
    ) -> None:
        self._view = view
        self._findings = findings
        self._totals = totals
        self._helpers = helpers
        self._stretch_events = stretch_events
        self._present: CutPartition | None = None

    @property
    def rows(self) -> int:
        """Of the partition that was cut, as far as its pieces are taken in."""
        return 0 if self._present is None else self._present.books.stored

    @property
    def done(self) -> float:
        """Of the same."""
        return 0 if self._present is None else self._present.done

    def steps(self) -> Iterator[None]:
        """A step takes in what one task came to."""
        waiting: deque[tuple[Future[Result], TakeIn]] = deque()
        for task, take_in in self._tasks():
            waiting.append((self._helpers.submit(task), take_in))
            if len(waiting) == TASKS_PER_HELPER * self._helpers.count:
                self._settle(*waiting.popleft())
                yield
        while waiting:
            self._settle(*waiting.popleft())
            yield

    def _settle(self, future: Future[Result], take_in: TakeIn) -> None:
        result = future.result()
        self._findings.take_in(result.named, result.by_family)
        take_in(result)

    def _tasks(self) -> Iterator[tuple[Task, TakeIn]]:
        gathered: list[bytes] = []
        events = 0
        for partition in each_partition(lambda: nullcontext(self._view), self._findings):
            books = Books(partition, self._findings, censused=True)
            own = _events_of(PartitionReader(self._view, partition))
            if own >= self._stretch_events:
                yield from self._pieces(CutPartition(books, own, self._stretch_events))
                continue
            gathered.append(books.keys.prefix)
            events += own
            if events >= self._stretch_events:
                yield self._whole(gathered, events)
                gathered, events = [], 0
        if gathered:
            yield self._whole(gathered, events)

    def _whole(self, prefixes: list[bytes], events: int) -> tuple[Task, TakeIn]:
        def take_in(result: Result) -> None:
            for family, (rows, total) in result.families.items():
                self._totals.census(family).add(rows, int.from_bytes(total, "big"))
            self._totals.partitions += len(prefixes)
            self._totals.events += events

        return WholePartitions(tuple(prefixes)), take_in

    def _pieces(self, cut: CutPartition) -> Iterator[tuple[Task, TakeIn]]:
        for task, take_in in cut.tasks():
            yield task, self._taking_in_a_piece(cut, take_in)

    def _taking_in_a_piece(self, cut: CutPartition, take_in: TakeIn) -> TakeIn:
        def take_in_piece(result: Result) -> None:
            take_in(result)
            self._present = cut
            if cut.whole:
                cut.finish(self._view)
                cut.books.enter(self._totals.censuses)
                self._totals.partitions += 1
                self._totals.events += cut.events
                self._present = None

        return take_in_piece


def _events_of(reader: PartitionReader) -> int:
    """How many events a partition has; none where the head can't be read, which whoever verifies it will tell."""
    try:
        return reader.head().sequence
    except StorageInconsistency:
        return 0
