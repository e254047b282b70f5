"""The search index kept in step in the background, while commands come.

Always holds: bounded work in between. A slice is followed by a pause longer than itself, of several partitions each has
its turn, and whoever asks the index waits for one slice at most. Whatever fails in it is made good when the index is
asked.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event, Lock, Thread
from time import monotonic
from typing import Final

from relatum.core.ids import Partition
from relatum.ledger.search.index import SearchIndex
from relatum.store.view import LedgerView
from relatum.telemetry import Log

GATHERING_SECONDS: Final = 0.05
"""Before the first slice: what comes meanwhile is indexed with it."""
PAUSE_SHARE: Final = 2
"""How much longer than a slice the pause behind it is."""


class BackgroundIndexing:
    """One thread, which runs while something is to be indexed. Any thread may add to it."""

    def __init__(self, index: SearchIndex, view: Callable[[], LedgerView], log: Log) -> None:
        self._index = index
        self._view = view
        self._log = log
        self._changing = Lock()
        self._due: dict[Partition, None] = {}
        self._failed: set[Partition] = set()
        """Those whose failure was logged: it is not logged again before they went well. Only the thread uses it."""
        self._running = False
        self._closed = Event()

    def add(self, partition: Partition) -> None:
        """A partition has moved, or was found behind."""
        with self._changing:
            if self._closed.is_set():
                return
            self._due[partition] = None
            if self._running:
                return
            self._running = True
        Thread(target=self._run, name="relatum-indexing", daemon=True).start()

    def close(self) -> None:
        """Ends it behind the slice that it is at, without waiting for that."""
        self._closed.set()

    def _run(self) -> None:
        try:
            self._index_in_turns()
        except BaseException:  # not in a `finally`: once `_next` has found nothing, another thread may run already
            with self._changing:
                self._running = False
            raise

    def _index_in_turns(self) -> None:
        pause = GATHERING_SECONDS
        while not self._closed.wait(pause) and (partition := self._next()) is not None:
            started = monotonic()
            if self._is_behind(partition):
                with self._changing:
                    self._due[partition] = None
            pause = PAUSE_SHARE * (monotonic() - started)

    def _next(self) -> Partition | None:
        with self._changing:
            partition = next(iter(self._due), None)
            if partition is None:
                self._running = False
            else:
                del self._due[partition]
            return partition

    def _is_behind(self, partition: Partition) -> bool:
        """Indexes a slice; whether there is more."""
        try:
            with self._view() as view:
                is_behind = self._index.advance(view.partition(partition))
        except Exception as failure:  # noqa: BLE001 - whatever is wrong with it, the other partitions are indexed
            if partition not in self._failed and not self._closed.is_set():
                self._failed.add(partition)
                self._log.failure("a partition could not be indexed", failure)
            return False
        self._failed.discard(partition)
        return is_behind
