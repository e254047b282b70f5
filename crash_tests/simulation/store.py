"""A store on a disk that fails: the promises of the product's own stores, and what becomes of them then.

What always holds: after a write or sync that failed nothing is written any more, and views go on. A view of rows that a
power cut could still take back is a `Violation`, whoever let it be published.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator
from random import Random

from crash_tests.simulation.disk import Batch, Disk
from crash_tests.simulation.plan import Plan
from crash_tests.violation import require
from relatum.errors import StorageFailure
from relatum.store.publication import Chunk, Publication, PublishedView, Row, scan_chunks


class FaultyStore:
    """A `KeyValue` of one process on a disk. `failed` once a write or a sync has failed."""

    def __init__(self, disk: Disk, plan: Plan, random: Random) -> None:
        self.failed = False
        self._disk = disk
        self._plan = plan
        self._random = random
        self._rows = Rows(disk.rows())
        self._closed = False
        self._pretends = False
        self._published_unsynced = False
        self._publication = Publication(self._rows.copy())

    # What `relatum.store.kv.KeyValue` asks

    def get(self, key: bytes) -> bytes | None:
        """The value stored under `key`, published or not."""
        self._require_open()
        return self._rows.get(key)

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[Row]:
        """Rows with `start <= key < stop`, published or not."""
        return scan_chunks(self._chunk, start, stop, reverse)

    def write(self, rows: Batch) -> None:
        """Puts a batch, unless the disk is full or fails; then it may have been written all the same."""
        if not self._pretends:
            self.sync()
        self._require_disk()
        fails = self._random.random() < self._plan.write_fault_rate
        if not fails or self._random.random() < 0.5:
            self._disk.append(rows)
            self._rows.put(rows)
        if fails:
            self._fail("no room is left on the disk")

    def sync(self) -> None:
        """Makes durable what was written, unless the disk fails; then some of it may be durable all the same."""
        self._require_disk()
        if not self._disk.unsynced:
            return
        if self._random.random() < self._plan.sync_fault_rate:
            if self._random.random() < 0.5:
                self._disk.lose_unsynced()
            self._fail("the disk could not be synced")
        self._disk.sync()

    def publish(self, position: object = None) -> None:
        """Lets views see everything written."""
        self._require_disk()
        unsynced = self._disk.unsynced > 0
        if unsynced and not self._pretends:
            raise RuntimeError("rows are published only after they have been synced")
        self._pretends = False
        self._published_unsynced = unsynced
        self._publication.replace(self._rows.copy(), position)

    def view(self) -> PublishedView:
        """What was published last."""
        lost = self._published_unsynced and self._disk.unsynced > 0
        require(not lost, "a view shows rows that a power cut could still take back")
        return self._publication.view()

    def close(self, *, wait_seconds: float = 0.0) -> None:
        """Hands out no more views. In a simulation nobody else runs meanwhile, so waiting would be in vain."""
        self._publication.close(wait_seconds)
        self._closed = True

    # For planted bugs

    def pretend_synced(self) -> None:
        """Lets `publish` and the next `write` believe that the disk has everything."""
        self._pretends = True
        self.failed = False

    def _chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        self._require_open()
        return self._rows.chunk(start, stop, reverse, limit)

    def _require_open(self) -> None:
        if self._closed:
            raise StorageFailure("the store is closed")

    def _require_disk(self) -> None:
        self._require_open()
        if self.failed:
            raise StorageFailure("the store takes no writes after one has failed; reopen it")

    def _fail(self, text: str) -> None:
        self.failed = True
        raise StorageFailure(text)


class Rows:
    """Rows and their keys in order. A copy is a `Cut`: it no longer changes."""

    def __init__(self, rows: dict[bytes, bytes], keys: list[bytes] | None = None) -> None:
        self._rows = rows
        self._keys = sorted(rows) if keys is None else keys
        self.get = rows.get

    def copy(self) -> Rows:
        """The rows as they are now."""
        return Rows(self._rows.copy(), self._keys.copy())

    def put(self, batch: Batch) -> None:
        """Puts and deletes."""
        rows, keys = self._rows, self._keys
        for key, value in batch.items():
            if value is not None:
                if key not in rows:
                    insort(keys, key)
                rows[key] = value
            elif key in rows:
                del rows[key]
                del keys[bisect_left(keys, key)]

    def chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        """See `relatum.store.publication.Cut`."""
        keys, rows = self._keys, self._rows
        low, high = bisect_left(keys, start), bisect_left(keys, stop)
        found = keys[max(low, high - limit) : high][::-1] if reverse else keys[low : min(high, low + limit)]
        return [(key, rows[key]) for key in found], high - low <= limit
