"""Which state of a store readers see, and how many are reading.

What lives here: `Publication`, the view it hands out, and the scan in chunks that all readers share. Nothing here knows
an engine: a `Cut` is whatever an engine offers as a state that no longer changes.

What always holds: a view reads one cut from beginning to end, and a store closes only when no view is open.

Any number of views share one cut. Each read of a cut is short and complete in itself, so a view holds no engine
resource of its own, taking one costs next to nothing, and there is no pool that could run dry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Condition, RLock
from types import TracebackType
from typing import Protocol, Self

from relatum.errors import StorageFailure

Row = tuple[bytes, bytes]
Chunk = tuple[list[Row], bool]
"""Consecutive rows of a range, and whether they are the last ones."""
ReadChunk = Callable[[bytes, bytes, bool, int], Chunk]

# Most ranges hold a handful of rows, and many readers stop early, so the first chunk is small. Later ones make up for
# the seek that each chunk costs, and stay short enough for other readers of the same cut to get their turn.
CHUNK_ROWS_FIRST = 32
CHUNK_ROWS_MAX = 512


class Cut(Protocol):
    """A state of a store that no longer changes, readable from any thread."""

    def get(self, key: bytes) -> bytes | None:
        """The value stored under `key`, or None."""
        ...

    def chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        """Between one and `limit` rows, the first of a scan from `start` to `stop`; none if the range is empty."""
        ...


def scan_chunks(read: ReadChunk, start: bytes, stop: bytes, reverse: bool) -> Iterator[Row]:
    """Every row with `start <= key < stop`, fetched through `read` chunk by chunk."""
    limit = CHUNK_ROWS_FIRST
    while True:
        rows, last = read(start, stop, reverse, limit)
        yield from rows
        if last:
            return
        if reverse:
            stop = rows[-1][0]
        else:
            start = rows[-1][0] + b"\0"  # the smallest key after the last one
        limit = min(4 * limit, CHUNK_ROWS_MAX)


class _Readers:
    """How many views of one publication are open. Not the cut: a view that is closed must not keep it."""

    __slots__ = ("views",)

    def __init__(self) -> None:
        self.views = 0


class Publication:
    """The published cut of a store and the count of its open views, by the publication that they are of."""

    def __init__(self, cut: Cut) -> None:
        self._lock = RLock()  # a view that is abandoned may be closed by the search for garbage, whatever runs
        self._returned = Condition(self._lock)
        self._waiting = 0  # threads that wait for views to be returned
        self._cut = cut
        self._position: object = None
        self._present = _Readers()
        self._earlier: set[_Readers] = set()  # none without a view
        self._closed = False

    def replace(self, cut: Cut, position: object) -> None:
        """Let views taken from now on read `cut`. Open ones keep theirs. Raises `StorageFailure` once it is closing."""
        with self._lock:
            if self._closed:
                raise StorageFailure("the store is closed")
            if self._present.views:
                self._earlier.add(self._present)
            self._present = _Readers()
            self._cut = cut
            self._position = position

    def view(self) -> PublishedView:
        """A view of the published cut. Raises `StorageFailure` once the store is closing."""
        with self._lock:
            if self._closed:
                raise StorageFailure("the store is closed")
            self._present.views += 1
            return PublishedView(self._cut, self._position, self, self._present)

    def take_back(self, readers: _Readers) -> None:
        """A view is closed."""
        with self._lock:
            readers.views -= 1
            if not readers.views:
                self._earlier.discard(readers)
                if self._waiting:
                    self._returned.notify_all()

    def outlast_earlier_views(self, wait_seconds: float) -> bool:
        """Wait until every view of an earlier publication than the present one is closed; whether that came about."""
        with self._lock:
            earlier = tuple(self._earlier)
            return self._wait_for(lambda: not any(one.views for one in earlier), wait_seconds)

    def close(self, wait_seconds: float) -> None:
        """Hand out no more views, wait for the open ones, and forget the cut. See `KeyValue.close`."""
        with self._lock:
            self._closed = True
            if not self._wait_for(lambda: not (self._present.views or self._earlier), wait_seconds):
                raise StorageFailure("the store can't be closed while views are open")
            self._cut = _CLOSED

    def _wait_for(self, returned: Callable[[], bool], wait_seconds: float) -> bool:
        self._waiting += 1
        try:
            return self._returned.wait_for(returned, wait_seconds)
        finally:
            self._waiting -= 1


class PublishedView:
    """A `View` of one cut."""

    __slots__ = ("_cut", "_publication", "_readers", "get", "position")

    def __init__(self, cut: Cut, position: object, publication: Publication, readers: _Readers) -> None:
        self._cut = cut
        self.get = cut.get
        self._publication = publication
        self._readers = readers
        self.position = position

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[Row]:
        """Rows with `start <= key < stop`; see `Reader.scan`."""
        return scan_chunks(self._chunk, start, stop, reverse)

    def close(self) -> None:
        """Give the view back; see `View.close`."""
        if self._cut is not _CLOSED:
            self._cut = _CLOSED
            self.get = _CLOSED.get
            self._publication.take_back(self._readers)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()

    def _chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        # The cut is looked up for every chunk, so that a scan left half-way ends loudly when its view is closed.
        return self._cut.chunk(start, stop, reverse, limit)


class _ClosedCut:
    """What a closed view reads: nothing, loudly."""

    def get(self, key: bytes) -> bytes | None:
        raise StorageFailure("the view is closed")

    def chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        raise StorageFailure("the view is closed")


_CLOSED = _ClosedCut()
