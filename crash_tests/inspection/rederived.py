"""All rows, derived again from the events by the product's own projection: nothing more, nothing less, nothing else."""

from __future__ import annotations

from crash_tests.inspection.stored import StoredPartition, StoredRows, same_rows
from relatum.store import keys
from relatum.store.memory import MemoryStore
from relatum.store.projection.rebuild import rebuild
from relatum.store.projection.staged_partition import Staging
from relatum.store.staged_rows import Bodies

_OF_THE_STORE_ITSELF = {keys.FORMAT, keys.POSITION}


def check_rederived(stored: StoredRows, partitions: list[StoredPartition]) -> int:
    """The events of all partitions give every row of the store, store-wide tables included; the number of rows."""
    overlay = Bodies(MemoryStore())
    for partition in partitions:
        rebuild(partition.reader, Staging(overlay, partition.partition))
    derived = {key: row for key, row in overlay.rows().items() if row is not None}
    found = {key: row for key, row in stored.rows.items() if key not in _OF_THE_STORE_ITSELF}
    return same_rows("rows derived from the events", derived, found)
