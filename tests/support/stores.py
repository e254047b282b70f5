"""Stores for tests: memory stores whose disk can be held up or fail, databases over them, and every row of a ledger."""

from __future__ import annotations

from threading import Event
from typing import Self

from relatum.core.ids import Partition
from relatum.errors import StorageFailure
from relatum.ledger import Ledger
from relatum.store import keys, rows
from relatum.store.database import Database, _format, _position
from relatum.store.keys import PREFIX_BYTES, Table
from relatum.store.kv import KeyValue, Reader
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from relatum.store.projection import Staging
from relatum.store.projection.rebuild import rebuild
from relatum.store.staged_rows import Bodies
from tests.support.builders import PARTITION
from tests.support.polling import WAIT_SECONDS

BEYOND_EVERYTHING = b"\xff" * 64


class TrialStore(MemoryStore):
    """A memory store whose syncs can be made to wait, or to fail as on a dying disk."""

    def __init__(self, rows: dict[bytes, bytes] | None = None) -> None:
        self._open = Event()
        self._open.set()
        self._failing = False
        self._arrived = Event()
        super().__init__(rows)

    def hold(self) -> None:
        """Syncs wait from now on."""
        self._arrived.clear()
        self._open.clear()

    def wait_for_sync(self) -> None:
        """Returns once a sync waits."""
        assert self._arrived.wait(WAIT_SECONDS), "no sync arrived at the disk"

    def release(self) -> None:
        """Syncs that wait go on."""
        self._open.set()

    def fail(self) -> None:
        """From the next sync on the disk fails; whether what was written has reached it, nobody knows."""
        self._failing = True

    def sync(self) -> None:
        self._arrived.set()
        if not self._open.wait(WAIT_SECONDS):
            raise StorageFailure("the test never released the disk")
        if self._failing and self._written != self._synced:
            self.break_disk()
        super().sync()

    def after_power_cut(self, *, keep_unsynced: bool = False) -> Self:
        """What a power cut would leave, opened again."""
        left = self.crash(keep_unsynced=keep_unsynced)
        return type(self)(dict(left.scan(b"", BEYOND_EVERYTHING)))


def database_on(store: KeyValue) -> Database:
    """A database on a store that may hold one already, as opening a directory makes it."""
    form = _format(store, create=True)
    return Database(store, None, form, _position(store))


def rows_of(reader: Reader) -> dict[bytes, bytes]:
    """Every row that a reader shows."""
    return dict(reader.scan(b"", BEYOND_EVERYTHING))


def published_rows(ledger: Ledger) -> dict[bytes, bytes]:
    """Every row of a ledger, of all partitions and of the store itself."""
    with ledger.view() as view:
        return rows_of(view.partition(PARTITION).reader)


def partitions_of(found: dict[bytes, bytes]) -> list[Partition]:
    """The partitions that rows belong to, by the row in which each names itself."""
    tail = bytes([Table.PARTITION])
    return [
        rows.PARTITION.decode(rows.unseal(key, row))
        for key, row in found.items()
        if len(key) == PREFIX_BYTES + 1 and key.endswith(tail) and not key.startswith(keys.STORE_PREFIX)
    ]


def derived_rows(found: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """The rows that events account for: all but the store's own format and position."""
    return {key: row for key, row in found.items() if key not in (keys.FORMAT, keys.POSITION)}


def rebuilt_rows(found: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """The rows that the events and payloads among `found` lead to, on an empty store."""
    source = MemoryStore(found)
    overlay = Bodies(MemoryStore())
    for partition in partitions_of(found):
        rebuild(PartitionReader(source, partition), Staging(overlay, partition))
    return {key: row for key, row in overlay.rows().items() if row is not None}


def assert_rebuilds(ledger: Ledger) -> None:
    """Every row of the ledger follows from its events, byte for byte, and no other."""
    found = published_rows(ledger)
    assert derived_rows(found) == rebuilt_rows(found)
