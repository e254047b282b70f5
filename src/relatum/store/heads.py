"""The ends of all partitions, looked at before a store is opened.

What lives here: the check that each partition's head names its last event, with nothing beyond it, and that all heads
together account for the store's position. So a store that lost files in its middle, which neither the logs nor the
watermark tell, is noticed at the door wherever the end of a partition went with them.

What always holds: the work is bounded, since it is no scan: partitions lie apart, and each takes a seek and five gets.
Of a store with more partitions the first ones are looked at, which is a sample that nobody chose, since partitions lie
in the order of digests; the writer looks at each of the others before it adds to it, and `relatum verify` at
everything. Whoever opens the store is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.catalog import Listing
from relatum.store.integrity import verify_tip
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, Table, beyond
from relatum.store.kv import Reader
from relatum.store.partition import PartitionReader

PARTITIONS_MAX: Final = 10_000
"""Looking at them takes one to two seconds, 0.1 ms each; at a million it would take two minutes."""

_BEYOND_ALL: Final = b"\xff" * (PREFIX_BYTES + 1)


def verify_tips(reader: Reader, position: rows.Position, *, partitions_max: int = PARTITIONS_MAX) -> bool:
    """Whether everything was looked at, or as much as may be.

    Raises StorageInconsistency where a partition's end is not sound, it is not listed, or the position differs.
    """
    events = latest = 0
    listing = Listing(reader)
    for number, partition in enumerate(_partitions(reader)):
        if number == partitions_max:
            return False
        head = partition.head()
        verify_tip(partition, head)
        listing.require(partition, head)
        events += head.sequence
        latest = max(latest, head.committed_at_millis)
    if events != position.position:
        raise StorageInconsistency("the position of the store does not count the events of its partitions")
    if latest != position.committed_at_millis:
        raise StorageInconsistency("the last commit of the store is not that of its last event")
    return listing.require_nothing_else()


def _partitions(reader: Reader) -> Iterator[PartitionReader]:
    start = beyond(STORE_PREFIX)
    while (found := next(reader.scan(start, _BEYOND_ALL), None)) is not None:
        prefix = found[0][:PREFIX_BYTES]
        key = prefix + bytes([Table.PARTITION])
        row = reader.get(key)
        if row is None:
            raise StorageInconsistency("rows belong to no partition")
        yield PartitionReader(reader, rows.PARTITION.decode(rows.unseal(key, row)))
        start = beyond(prefix)
