"""Which places of a store hold rows: prefixes of partitions, and whatever lies beside them.

What lives here: `places`, which jumps from one prefix to the next, and `partition_at`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Final

from relatum.core import digests
from relatum.core.ids import Partition
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, StoreTable, Table, beyond, partition_prefix
from relatum.store.kv import Reader
from relatum.store.verify.findings import Findings
from relatum.store.view import store_body

TakeView = Callable[[], AbstractContextManager[Reader]]
"""A view of the store as it is now; of a store that nobody writes, always the same one."""

LAST: Final = b"\xff" * 64
"""Behind every key."""


def places(view: Reader, after: bytes | None = None) -> Iterator[bytes]:
    """The first 16 bytes of all keys behind those of a place, each once; shorter keys as they are."""
    start = b"" if after is None else _behind(after)
    while (key := next((key for key, _ in view.scan(start, LAST)), None)) is not None:
        place = key[:PREFIX_BYTES]
        yield place
        start = _behind(place)


def next_prefix(view: Reader, after: bytes) -> bytes | None:
    """The prefix that follows another one and has rows; None behind the last."""
    return next((place for place in places(view, after) if len(place) == PREFIX_BYTES), None)


def each_partition(take_view: TakeView, findings: Findings) -> Iterator[Partition]:
    """Every partition in the order of keys, looked for one by one; what can't be read is told."""
    after = STORE_PREFIX
    while True:
        with take_view() as view:
            prefix = _told_prefix(view, after, findings)
            partition = None if prefix is None else _told_partition(view, prefix, findings)
        if prefix is None:
            return
        if partition is not None:
            yield partition
        after = prefix


def _told_prefix(view: Reader, after: bytes, findings: Findings) -> bytes | None:
    try:
        return next_prefix(view, after)
    except StorageInconsistency as error:
        findings.add("partition", f"behind {after.hex()}: {error}; the rest is unread")
        return None


def _told_partition(view: Reader, prefix: bytes, findings: Findings) -> Partition | None:
    try:
        return partition_at(view, prefix)
    except StorageInconsistency as error:
        findings.add("partition", f"under {prefix.hex()}: {error}")
        return None


def _behind(place: bytes) -> bytes:
    """The first key behind those of a place."""
    if len(place) < PREFIX_BYTES:
        return place + b"\0"
    return LAST if place == LAST[:PREFIX_BYTES] else beyond(place)


def partition_at(view: Reader, prefix: bytes) -> Partition:
    """The partition whose rows lie under a prefix, by the row in which it names itself."""
    body = store_body(view, prefix + bytes([Table.PARTITION]))
    if body is None:
        raise StorageInconsistency("the rows there belong to no partition")
    partition = rows.PARTITION.decode(body)
    if partition_prefix(digests.workspace_id(partition)) != prefix:
        raise StorageInconsistency("the partition there names another one")
    return partition


def uncovered(view: Reader) -> Iterator[bytes]:
    """Keys under the store's own prefix that lie in no table."""
    tables = [STORE_PREFIX + bytes([table]) for table in sorted(StoreTable)]
    for start, stop in ((STORE_PREFIX, tables[0]), (beyond(tables[-1]), beyond(STORE_PREFIX))):
        yield from (key for key, _ in view.scan(start, stop))
