"""The in-memory twin of the store: the same promises, no disk. For tests and for simulated power cuts.

What lives here: `MemoryStore`. What must not: anything that code outside tests would come to rely on. The conformance
suite that holds `RocksStore` to `relatum.store.kv` holds this one too.

What always holds: the values that a view, the published state or a power cut could still ask for are kept, so that a
cut is a number and costs nothing.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections import deque
from collections.abc import Iterator, Mapping
from threading import Lock
from weakref import WeakSet

from relatum.errors import StorageFailure
from relatum.store.publication import Chunk, Publication, PublishedView, Row, scan_chunks


class MemoryStore:
    """A `KeyValue` in memory."""

    def __init__(self, rows: Mapping[bytes, bytes] | None = None) -> None:
        """A store that holds `rows`, as if they had been found on disk."""
        self._rows = _VersionedRows()
        self._rows.write(0, rows or {})
        self._cuts: WeakSet[_Cut] = WeakSet()
        self._written = 0  # the number of the last batch
        self._synced = 0
        self._broken = False
        self._closed = False
        self._publication = Publication(self._cut())

    def get(self, key: bytes) -> bytes | None:
        """The value stored under `key`, published or not."""
        self._require_open()
        return self._rows.get(self._written, key)

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[Row]:
        """Rows with `start <= key < stop`, published or not; see `Reader.scan`."""
        return scan_chunks(self._chunk, start, stop, reverse)

    def write(self, rows: Mapping[bytes, bytes | None]) -> None:
        """See `KeyValue.write`."""
        self.sync()
        self._written += 1
        self._rows.write(self._written, rows)
        self._rows.forget(min([self._synced, *(cut.batch for cut in self._cuts)]))

    def sync(self) -> None:
        """See `KeyValue.sync`."""
        self._require_disk()
        self._synced = self._written

    def publish(self, position: object = None) -> None:
        """See `KeyValue.publish`."""
        self._require_disk()
        if self._synced != self._written:
            raise RuntimeError("rows are published only after they have been synced")
        self._publication.replace(self._cut(), position)

    def view(self) -> PublishedView:
        """See `KeyValue.view`."""
        return self._publication.view()

    def close(self, *, wait_seconds: float = 10.0) -> None:
        """See `KeyValue.close`."""
        self._publication.close(wait_seconds)
        self._closed = True

    def break_disk(self) -> None:
        """From now on writes and syncs fail, as on a dying disk."""
        self._broken = True

    def crash(self, *, keep_unsynced: bool = False) -> MemoryStore:
        """What a power cut now would leave, opened again; this store then takes no more writes.

        The batch in doubt, if there is one, is lost; or it has reached the disk after all, if `keep_unsynced`.
        """
        self._broken = True
        return MemoryStore(self._rows.at(self._written if keep_unsynced else self._synced))

    def _cut(self) -> _Cut:
        cut = _Cut(self._rows, self._written)
        self._cuts.add(cut)
        return cut

    def _chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        self._require_open()
        return self._rows.chunk(self._written, start, stop, reverse, limit)

    def _require_open(self) -> None:
        if self._closed:
            raise StorageFailure("the store is closed")

    def _require_disk(self) -> None:
        self._require_open()
        if self._broken:
            raise StorageFailure("the store takes no writes after one has failed; reopen it")


class _Cut:
    """The rows as one batch left them."""

    __slots__ = ("__weakref__", "_rows", "batch")

    def __init__(self, rows: _VersionedRows, batch: int) -> None:
        self._rows = rows
        self.batch = batch

    def get(self, key: bytes) -> bytes | None:
        return self._rows.get(self.batch, key)

    def chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        return self._rows.chunk(self.batch, start, stop, reverse, limit)


class _VersionedRows:
    """Sorted rows, each with the values it had; `batch` tells which of them is meant. Safe to read while it grows."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._keys: list[bytes] = []  # sorted
        self._history: dict[bytes, tuple[list[int], list[bytes | None]]] = {}  # the batches, and what each made of it
        self._superseding: deque[tuple[int, bytes]] = deque()  # (batch, key) where an older value awaits `forget`

    def get(self, batch: int, key: bytes) -> bytes | None:
        with self._lock:
            return self._value(batch, key)

    def chunk(self, batch: int, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        with self._lock:
            low, high = bisect_left(self._keys, start), bisect_left(self._keys, stop)
            rows: list[Row] = []
            for index in range(high - 1, low - 1, -1) if reverse else range(low, high):
                value = self._value(batch, self._keys[index])
                if value is None:
                    continue
                if len(rows) == limit:
                    return rows, False
                rows.append((self._keys[index], value))
            return rows, True

    def at(self, batch: int) -> dict[bytes, bytes]:
        with self._lock:
            values = {key: self._value(batch, key) for key in self._keys}
            return {key: value for key, value in values.items() if value is not None}

    def write(self, batch: int, rows: Mapping[bytes, bytes | None]) -> None:
        with self._lock:
            for key, value in rows.items():
                if key not in self._history:
                    insort(self._keys, key)
                    self._history[key] = ([], [])
                batches, values = self._history[key]
                batches.append(batch)
                values.append(value)
                self._superseding.append((batch, key))

    def forget(self, oldest: int) -> None:
        """Drop what only batches before `oldest` can ask for."""
        with self._lock:
            while self._superseding and self._superseding[0][0] <= oldest:
                batch, key = self._superseding.popleft()
                batches, values = self._history[key]
                superseded = bisect_left(batches, batch)
                del batches[:superseded], values[:superseded]
                if values == [None]:
                    del self._history[key]
                    del self._keys[bisect_left(self._keys, key)]

    def _value(self, batch: int, key: bytes) -> bytes | None:
        batches, values = self._history.get(key, ((), ()))
        index = bisect_right(batches, batch)
        return values[index - 1] if index else None
