"""Large partitions are counted beside the writer, before their first command of a process comes to it.

What a head counts is compared with the rows once in a process (`relatum.store.counts`). Of a large partition that takes
long, and while the writer did it every other partition's commands would wait. Here one thread does it, of all such
partitions in turns, a slice at a time: so a command waits for the counting of its own partition and of nobody else's.

Always holds: a partition that has few counted rows is left to the writer, which takes no more time for it than for a
few commands. Nothing is decided here: what is wrong with the rows, the writer tells whoever needs them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Final

from relatum.core.ids import Partition
from relatum.core.row_counts import Tally, tally_in_slices
from relatum.errors import Failure, StorageFailure, StorageInconsistency, WritesRefused
from relatum.store.database import Database
from relatum.store.partition import PartitionReader

FEW_ROWS: Final = 1_000
"""So many counted rows the writer counts itself: some seven milliseconds."""
SLICE_ROWS: Final = 256
PAUSE_SECONDS: Final = 0.0005
"""Between two slices, for whoever waits for the interpreter."""

_Slices = Iterator[None]


class RowCounter:
    """Of one database. Any thread may ask."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._changing = Lock()
        self._underway: dict[bytes, Future[None]] = {}
        self._turns: deque[tuple[bytes, _Slices]] = deque()
        self._running = False
        self._closed = Event()

    def close(self) -> None:
        """Gives up whatever is being counted; who waits for it is told WritesRefused."""
        self._closed.set()

    def uncounted(self, partitions: Iterable[Partition]) -> list[Future[None]]:
        """What the commands of some partitions have to wait for; mostly for nothing."""
        recounts = self._database.recounts
        found: list[Future[None]] = []
        for partition in dict.fromkeys(partitions):
            prefix = PartitionReader(self._database.store, partition).keys.prefix
            if not recounts.knows(prefix) and self._is_large(partition):
                found.append(self._counted(prefix, partition))
        return found

    def _is_large(self, partition: Partition) -> bool:
        try:
            with self._database.view() as view:
                return PartitionReader(view, partition).head().counted.rows > FEW_ROWS
        except (StorageFailure, StorageInconsistency):
            return False  # the writer tells

    def _counted(self, prefix: bytes, partition: Partition) -> Future[None]:
        with self._changing:
            underway = self._underway.get(prefix)
            if underway is None:
                underway = self._underway[prefix] = Future()
                self._turns.append((prefix, self._slices(prefix, partition)))
                if not self._running:
                    self._running = True
                    Thread(target=self._run, name="relatum-counter", daemon=True).start()
            return underway

    def _run(self) -> None:
        while (turn := self._next()) is not None:
            prefix, slices = turn
            if self._closed.is_set():
                slices.close()  # type: ignore[attr-defined]  # it is a generator, and gives its view back
                self._finish(prefix, WritesRefused("the ledger takes no more commands"))
                continue
            try:
                next(slices)
            except StopIteration:
                self._finish(prefix, None)
            except Exception as error:  # noqa: BLE001 - it is for those who wait
                self._finish(prefix, error)
            else:
                self._closed.wait(PAUSE_SECONDS)
                with self._changing:
                    self._turns.append(turn)

    def _next(self) -> tuple[bytes, _Slices] | None:
        with self._changing:
            if not self._turns:
                self._running = False
                return None
            return self._turns.popleft()

    def _finish(self, prefix: bytes, error: Exception | None) -> None:
        with self._changing:
            waiting = self._underway.pop(prefix)
        if error is None:
            waiting.set_result(None)
        else:
            told = error if isinstance(error, Failure) else StorageFailure("a partition could not be counted")
            told.__cause__ = None if told is error else error
            waiting.set_exception(told)

    def _slices(self, prefix: bytes, partition: Partition) -> _Slices:
        """Counts the rows as of one view; a writer that moves them meanwhile moves their head with them."""
        with self._database.view() as view:
            reader = PartitionReader(view, partition)
            told = found = reader.head().counted
            failure: StorageInconsistency | None = None
            try:
                for tally in tally_in_slices(reader.counted_rows(), SLICE_ROWS):
                    found = tally
                    yield
            except StorageInconsistency as error:
                failure = error

        def outcome() -> Tally:
            if failure is not None:
                raise failure
            return found

        with suppress(StorageInconsistency):  # it is remembered, and the writer tells whoever needs these rows
            self._database.recounts.require(prefix, lambda: told, outcome)
