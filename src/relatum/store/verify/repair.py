"""The repair of derived rows: those that are not what events and payloads lead to are put right.

What lives here: which families may be repaired, and `rebuild_indexes`. What must not: a repair of anything that
something else is derived from, or that proves something: events, payloads, words, revisions, receipts, journals, heads
and the position are never written, whatever is wrong with them; nor is the one row that says what a standing, a
candidate, a verdict, a link or a count of promotions is.

What always holds: whoever calls this has verified the store before and kept a copy of it. Rows are written in batches
that are durable one by one; a repair that was interrupted is begun again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec import Struct

from relatum.core import digests
from relatum.core.ids import Partition
from relatum.errors import StorageFailure
from relatum.store.database import ENGINE_NAME
from relatum.store.keys import STORE_PREFIX, PartitionKeys, StoreTable, Table, beyond
from relatum.store.kv import KeyValue, Reader
from relatum.store.rocks import RocksStore
from relatum.store.verify.findings import Findings
from relatum.store.verify.position import read_position
from relatum.store.verify.prefixes import each_partition
from relatum.store.verify.rebuilt_rows import Difference, differences, rederive, scratch_store
from relatum.store.verify.report import Report

TABLES: Final = (
    Table.RECORD,
    Table.RELATION,
    Table.OUTGOING,
    Table.INCOMING,
    Table.HEADER,
    Table.DEPENDENT,
    Table.TOPIC,
    Table.CREDENTIAL,
    Table.CHECKPOINT,
    Table.PINNED,
    Table.REPLACED,
    Table.CANDIDATE_STATUS,
    Table.CANDIDATE_PAIR,
    Table.CANDIDATE_END,
    Table.VERDICT_PAIR,
    Table.VERDICT_END,
    Table.SWEPT,
    Table.FACT,
    Table.LEAF,
    Table.TILE,
    Table.INSTANT,
    Table.STANDING_REVISION,
    Table.FACT_REVISION,
    Table.SOURCE,
)
STORE_TABLES: Final = (StoreTable.COMPANY, StoreTable.CREDENTIAL_COMPANY, StoreTable.WORKSPACE)
FAMILIES: Final = frozenset(table.name.lower() for table in (*TABLES, *STORE_TABLES))
"""What can be repaired."""

BATCH_ROWS: Final = 5_000


class Change(Struct, frozen=True, kw_only=True):
    """How many rows of a family were written, by what was wrong with them."""

    added: int = 0
    replaced: int = 0
    removed: int = 0

    def and_then(self, other: Change) -> Change:
        """Both of them."""
        return Change(
            added=self.added + other.added,
            replaced=self.replaced + other.replaced,
            removed=self.removed + other.removed,
        )


Changes = dict[str, Change]
"""By family; those that were not touched are left out."""


def beyond_repair(report: Report) -> list[str]:
    """The families with findings that a repair does not touch, and may not be built upon."""
    return [name for name, family in report.families.items() if family.findings and name not in FAMILIES]


def rebuild_indexes(directory: Path, position: int) -> Changes:
    """Puts right what is derived in the store in `directory`, which was verified at `position` and can be repaired.

    Raises StoreUnavailable where it can't be opened, StorageFailure where it is at another position by now, and
    StorageInconsistency where events or payloads turn out to be damaged; what was written before that was right.
    """
    store = RocksStore.open(directory / ENGINE_NAME, create=False)
    try:
        found = read_position(store)
        if found is None or found.position != position:
            raise StorageFailure("the store is not as it was verified; somebody has written to it")
        with scratch_store() as scratch:
            return _rebuilt(store, scratch)
    finally:
        store.close()


def _rebuilt(store: KeyValue, scratch: KeyValue) -> Changes:
    for partition in _partitions(store):
        rederive(store, partition, scratch)
    changes: Changes = {}
    for family, prefix in _prefixes(store):
        change = _put_right(store, scratch, prefix)
        changes[family] = change if family not in changes else changes[family].and_then(change)
    return {family: change for family, change in changes.items() if change != Change()}


def _partitions(store: Reader) -> Iterator[Partition]:
    return each_partition(lambda: nullcontext(store), Findings())


def _prefixes(store: Reader) -> Iterator[tuple[str, bytes]]:
    """Every table that may be repaired, of all partitions and of the store: family and prefix."""
    for partition in _partitions(store):
        keys = PartitionKeys(digests.workspace_id(partition))
        yield from ((table.name.lower(), keys.table(table)) for table in TABLES)
    yield from ((table.name.lower(), STORE_PREFIX + bytes([table])) for table in STORE_TABLES)


def _put_right(store: KeyValue, derived: Reader, prefix: bytes) -> Change:
    """Writes what differs, batch by batch; each is looked for once the one before is durable."""
    change, start = Change(), prefix
    while batch := list(islice(differences(derived, store, start, beyond(prefix)), BATCH_ROWS)):
        store.write({difference.key: difference.derived for difference in batch})
        store.sync()
        change = change.and_then(_counted(batch))
        start = batch[-1].key + b"\0"
    return change


def _counted(batch: list[Difference]) -> Change:
    added = sum(difference.stored is None for difference in batch)
    removed = sum(difference.derived is None for difference in batch)
    return Change(added=added, replaced=len(batch) - added - removed, removed=removed)
