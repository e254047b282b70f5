"""The search index of a store: what resembles a text, and which records have the words that somebody asks for.

Here: the file and what may happen to it. What is written to it stands in index_sync.py, what is asked of it in bm25.py.

Always holds: an answer is that of an index in step with the view that it is asked with, or says how far behind it is,
or is SearchUnavailable; never silently less than the whole. Whatever goes wrong in the index is logged, and it is made
again from the ledger, in memory if the disk won't have it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from time import monotonic
from typing import Final, NamedTuple, TypeVar

from relatum.core.context_records import Surroundings
from relatum.core.decide.saves import Detected
from relatum.core.ids import Partition
from relatum.errors import SearchUnavailable, StorageInconsistency
from relatum.ledger.search import bm25
from relatum.ledger.search.bm25 import Found
from relatum.ledger.search.fair_lock import FairLock
from relatum.ledger.search.index_sync import Gone, Keeper, Progress
from relatum.ledger.search.tables import OtherVersion, Tables
from relatum.store import sealed_sqlite
from relatum.store.partition import PartitionReader
from relatum.telemetry import Log

FILE_NAME: Final = "search.sqlite"

FAULTS: Final = (sqlite3.Error, OSError, ValueError, TypeError, ArithmeticError, LookupError)
"""What a damaged file leads to: SQLite notices some of it; the rest is values that make no sense."""

SLICE_ENTRIES: Final = 64
"""How many entries of a record stream are indexed before others may ask: some 25 milliseconds."""

T = TypeVar("T")


class Patience(NamedTuple):
    """How long who asks waits for an index that is behind; without an end by default."""

    search_seconds: float = inf
    detection_seconds: float = inf


ON_DISK: Final = Patience(search_seconds=0.7, detection_seconds=0.1)
"""Of an index that is kept in step in the background: a search answers within about a second."""


class Searched(NamedTuple):
    """What a search has found, and how many of the partition's changes of records were indexed, of how many."""

    found: list[Found]
    indexed: int
    changes: int


class SearchIndex:
    """The index of one store. Any thread may use it; one at a time does, for an answer or a slice of indexing."""

    def __init__(self, path: Path | None, log: Log, patience: Patience | None = None) -> None:
        """An index at `path`, opened or made when it is first asked; one in memory where there is no path."""
        self._path = path
        self._log = log
        self._patience = patience or Patience()
        self.on_behind: Callable[[Partition], None] = lambda _partition: None
        """Called with a partition whose index was asked before it was in step."""
        self._using = FairLock()
        self._untouched = True
        self._keeper: Keeper | None = None
        self._gone: set[Gone] = set()
        """Kept here, since the keeper may be made again, or not be made yet."""

    def close(self, timeout_seconds: float = -1) -> bool:
        """Lets go of the file once nobody uses it; whether that came about in time. Nothing is found any more then."""
        if not self._using.acquire(timeout=timeout_seconds):
            return False
        try:
            self._untouched = False
            self._let_go()
        finally:
            self._using.release()
        return True

    def is_unmade(self) -> bool:
        """Whether nobody has asked yet, now or earlier: whoever does will find everything indexed then."""
        return self._untouched and (self._path is None or not _is_there(self._path))

    # Each of these raises SearchUnavailable where the index fails whatever is done, and once it is closed.

    def catch_up(self, partition: PartitionReader) -> None:
        """Brings a partition up to the tip of its record stream, if there is an index yet."""
        if not self.is_unmade():
            while self.advance(partition):
                pass

    def advance(self, partition: PartitionReader) -> bool:
        """Brings a partition a slice further; whether it is still behind."""
        partition.require_counted()  # IMPORTANT: before the index is held, which nobody else has to wait for then
        return self._asked(lambda keeper: keeper.caught_up(partition, SLICE_ENTRIES).is_behind)

    def remove(self, partition: PartitionReader, record_ids: Sequence[str]) -> None:
        """Removes records that were deleted, however far the index is behind; no older view brings them back."""
        workspace = bytes.fromhex(partition.workspace_id)
        # IMPORTANT: before anything is looked at: whoever indexes an older view meanwhile, or makes the index, sees it.
        self._gone.update((workspace, record_id) for record_id in record_ids)
        if not self.is_unmade():
            self._asked(lambda keeper: keeper.remove(partition, record_ids))

    def detect(self, partition: PartitionReader, content: str, *, without: str | None = None) -> Detected:
        """The memories that resemble a text, the most similar first, but for `without` (judgments.md, detection)."""
        _, found = self._answered(
            partition,
            self._patience.detection_seconds,
            lambda tables, number: bm25.detected(tables, number, partition, content, without),
        )
        return found

    def search(self, partition: PartitionReader, text: str) -> list[Found]:
        """The records that have words of a text, the best first."""
        return self.searched(partition, text).found

    def searched(self, partition: PartitionReader, text: str) -> Searched:
        """The same, with how much of the partition was indexed."""
        progress, found = self._answered(
            partition, self._patience.search_seconds, lambda tables, number: bm25.searched(tables, number, text)
        )
        return Searched(found, progress.indexed, progress.changes)

    def surroundings(self, partition: PartitionReader, text: str) -> Surroundings:
        """The records of a partition in outline, and which of them have words of a text."""
        progress, found = self._answered(
            partition, self._patience.search_seconds, lambda tables, number: bm25.surroundings(tables, number, text)
        )
        return found._replace(behind=progress.is_behind)

    def _answered(
        self, partition: PartitionReader, patience_seconds: float, use: Callable[[Tables, int | None], T]
    ) -> tuple[Progress, T]:
        """An answer once a partition is indexed up to its tip, or has been indexed for so long.

        Slice by slice: whoever asks for another partition comes in between.
        """
        end = monotonic() + patience_seconds
        partition.require_counted()  # IMPORTANT: before the index is held, as above

        def step(keeper: Keeper) -> tuple[Progress, T] | None:
            progress = keeper.caught_up(partition, SLICE_ENTRIES)
            if progress.is_behind and monotonic() < end:
                return None
            return progress, use(keeper.tables, progress.number)

        while (answer := self._asked(step)) is None:
            pass
        if answer[0].is_behind:
            self.on_behind(partition.partition)
        return answer

    def purge(self, partitions: Sequence[PartitionReader]) -> bool:
        """Purges from the file what was erased in some partitions; whether that was possible.

        Those that it knows are brought up to their tips first: what it lags behind by may be a deletion. Where that
        can't be, nothing of the partition is kept. Where the file is missing, what lies beside it is removed.
        """

        def purged(keeper: Keeper) -> bool:
            for partition in filter(keeper.knows, partitions):
                try:
                    keeper.caught_up(partition)
                except StorageInconsistency as failure:
                    self._log.failure("a damaged partition is purged from the search index", failure)
                    keeper.forget(partition)
            keeper.tables.purge()
            return self._path is None or keeper.tables.path == self._path

        removed = self._removed_if_unmade()
        return self._asked(purged) if removed is None else removed

    def _removed_if_unmade(self) -> bool | None:
        """Whether what is left of a file that is gone could be removed; None where there is an index."""
        with self._using:
            if not self.is_unmade():
                return None
            try:
                if self._path is not None:
                    sealed_sqlite.remove(self._path)
            except OSError as error:
                self._log.failure("what is left of a search index can't be removed", error)
                return False
            return True

    def _asked(self, use: Callable[[Keeper], T]) -> T:
        """What `use` finds; if need be in an index made again on disk, and then in memory."""
        with self._using:
            if self._untouched:
                self._untouched = False
                self._keeper = self._opened() or self._made_again(self._path)
            for place in (self._path, None):
                if self._keeper is None:
                    break
                try:
                    return use(self._keeper)
                except FAULTS as error:
                    self._log.failure("the search index failed; it is made again", error)
                    self._keeper = self._made_again(place)
            return self._last(use)

    def _last(self, use: Callable[[Keeper], T]) -> T:
        if self._keeper is None:
            raise SearchUnavailable("the search index is closed, or can't be made")
        try:
            return use(self._keeper)
        except FAULTS as error:
            raise SearchUnavailable("the search index fails, even when it is made again") from error

    def _opened(self) -> Keeper | None:
        try:
            return Keeper(Tables(self._path), self._gone)
        except OtherVersion:
            self._log.warning("the search index is of another version of relatum; it is made again")
            return None
        except FAULTS as error:
            self._log.failure("the search index can't be opened; it is made again", error)
            return None

    def _made_again(self, place: Path | None) -> Keeper | None:
        """An empty index at `place`, in memory where that can't be."""
        self._let_go()
        for path in (place, None):
            try:
                if path is not None:
                    sealed_sqlite.remove(path)
                return Keeper(Tables(path), self._gone)
            except FAULTS as error:
                self._log.failure("the search index can't be made", error)
        return None

    def _let_go(self) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            try:
                keeper.tables.close()
            except FAULTS as error:
                self._log.failure("the search index could not be closed", error)


def remove_index(directory: Path) -> None:
    """Removes the index of the store in `directory`, which nobody may have open: it is made again when it is asked."""
    sealed_sqlite.remove(directory / FILE_NAME)


def _is_there(path: Path) -> bool:
    """Whether there is such a file, or may be one: whoever opens it will meet what is wrong with it."""
    try:
        return path.exists()
    except OSError:
        return True
