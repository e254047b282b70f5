"""Every row of a store, read once, and its partitions.

What always holds: rows are read through relatum's own opening and scanning, so that whatever those refuse is refused
here; judging them changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from crash_tests.violation import Violation, require
from relatum.errors import StoreUnavailable
from relatum.store import keys, rows
from relatum.store.database import Database
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, StoreTable, Table, beyond, partition_prefix
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader

Rows = Mapping[bytes, bytes]

_BEYOND_ALL = b"\xff" * (PREFIX_BYTES + 1)


def read_store(directory: Path) -> dict[bytes, bytes]:
    """Every row of the store in `directory`, which nobody else may have open. Opening it may repair a torn log."""
    try:
        database = Database.open(directory, create=False)
    except StoreUnavailable as error:
        raise Violation(f"the store can't be opened: {error}") from error
    try:
        with database.view() as view:
            return dict(view.scan(b"", _BEYOND_ALL))
    finally:
        database.close()


class StoredRows:
    """The rows of a store, with typed access to its partitions."""

    def __init__(self, found: Rows) -> None:
        self.rows = found
        self.reader = MemoryStore(dict(sorted(found.items())))

    def table(self, prefix: bytes) -> dict[bytes, bytes]:
        """The checked bodies of all rows whose key starts with `prefix`, by key."""
        return {key: rows.unseal(key, row) for key, row in self.reader.scan(prefix, beyond(prefix))}

    def store_table(self, table: StoreTable) -> dict[bytes, bytes]:
        """A store-wide table."""
        return self.table(STORE_PREFIX + bytes([table]))

    def position(self) -> rows.Position:
        """How far the store says it has come."""
        body = self.store_table(StoreTable.POSITION).get(keys.POSITION)
        require(body is not None, "the store's position is missing")
        assert body is not None
        return rows.POSITION.decode(body)

    def partitions(self) -> Iterator[StoredPartition]:
        """Every partition; each row outside the store's own tables must belong to one."""
        for prefix in sorted({key[:PREFIX_BYTES] for key in self.rows} - {STORE_PREFIX}):
            body = self.table(prefix + bytes([Table.PARTITION])).get(prefix + bytes([Table.PARTITION]))
            if body is None:
                raise Violation(f"rows under {prefix.hex()} belong to no partition")
            yield StoredPartition(self, PartitionReader(self.reader, rows.PARTITION.decode(body)), prefix)


class StoredPartition:
    """One partition: its reader, and its tables as a whole."""

    def __init__(self, stored: StoredRows, reader: PartitionReader, prefix: bytes) -> None:
        require(partition_prefix(reader.workspace_id) == prefix, f"the partition under {prefix.hex()} names another")
        self.reader = reader
        self.partition = reader.partition
        self.workspace_id = reader.workspace_id
        self.keys = reader.keys
        self.name = f"partition {reader.workspace_id[:8]}"
        self._stored = stored

    def record_revisions(self) -> Iterator[bytes]:
        """The bodies of all revisions of all records."""
        yield from self.table(Table.RECORD_REVISION).values()

    def table(self, table: Table) -> dict[bytes, bytes]:
        """The checked bodies of a table, by key."""
        return self._stored.table(self.keys.table(table))


def same_rows(what: str, expected: Rows, found: Rows) -> int:
    """The number of rows of both; a `Violation` where they differ, which names the first row that does."""
    for key in sorted(expected.keys() | found.keys()):
        if expected.get(key) != found.get(key):
            fault = "is missing" if key not in found else "should not be there" if key not in expected else "is altered"
            raise Violation(f"{what}: the row {key.hex()} {fault} ({len(expected)} rows expected, {len(found)} found)")
    return len(found)
