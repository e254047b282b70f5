"""The rows of partitions as the product's own projection makes them of events and payloads, on a scratch store.

What lives here: `Scratch`, and the comparison of what it holds with what is stored, row by row. This is slow and takes
room on disk, so it is done only where something is known to differ, to find out what; and to repair it.

What always holds: the scratch store lies among the temporary files (`TMPDIR`) and goes when the block ends, at the
latest when the next one is made; memory is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from relatum.core.ids import Partition
from relatum.errors import StorageInconsistency
from relatum.store.kv import KeyValue, Reader
from relatum.store.partition import PartitionReader
from relatum.store.projection.rebuild import apply_event, payload_of
from relatum.store.projection.staged_partition import Staging
from relatum.store.rocks import RocksStore
from relatum.store.staged_rows import Bodies
from relatum.store.temporary_directory import ephemeral_directory

SCRATCH_PREFIX: Final = "relatum-scratch-"
_STAGED_ROWS_MAX: Final = 20_000


class Difference(NamedTuple):
    """A key under which other rows lie than should; None for no row."""

    key: bytes
    derived: bytes | None
    stored: bytes | None


@contextmanager
def scratch_store() -> Iterator[RocksStore]:
    """An empty store for as long as the block runs."""
    with ephemeral_directory(SCRATCH_PREFIX) as directory:
        store = RocksStore.open(directory / "rows", create=True)  # the directory itself is locked already
        try:
            yield store
        finally:
            store.close()


def rederive(source: Reader, partition: Partition, scratch: KeyValue) -> None:
    """Puts every row into `scratch` that the events and payloads of a partition lead to, those of the store included.

    Raises StorageInconsistency where the events don't lead to the stored head.
    """
    reader = PartitionReader(source, partition)
    overlay = Bodies(scratch)
    target = Staging(overlay, partition)
    for sequence in range(1, reader.head().sequence + 1):
        event = reader.event(sequence)
        if event is None:
            raise StorageInconsistency("an event is missing")
        apply_event(target, event, payload_of(reader, event))
        if len(overlay) >= _STAGED_ROWS_MAX:
            scratch.write(overlay.rows())
            overlay = Bodies(scratch)
            target = Staging(overlay, partition)
    if len(overlay):
        scratch.write(overlay.rows())


def differences(derived: Reader, stored: Reader, start: bytes, stop: bytes) -> Iterator[Difference]:
    """What differs between `start` and `stop`, in the order of keys. Neither side may be written meanwhile."""
    expected, found = derived.scan(start, stop), stored.scan(start, stop)
    one, other = next(expected, None), next(found, None)
    while one is not None or other is not None:
        if other is None or (one is not None and one[0] < other[0]):
            assert one is not None
            yield Difference(one[0], one[1], None)
            one = next(expected, None)
        elif one is None or other[0] < one[0]:
            yield Difference(other[0], None, other[1])
            other = next(found, None)
        else:
            if one[1] != other[1]:
                yield Difference(one[0], one[1], other[1])
            one, other = next(expected, None), next(found, None)
