"""The ends of all partitions, looked at before a store is opened."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from relatum.clock import ManualClock
from relatum.errors import StorageInconsistency
from relatum.ledger import Ledger
from relatum.store import keys, rows
from relatum.store.heads import verify_tips
from relatum.store.keys import PartitionKeys
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from tests.support.builders import PARTITION, START_MILLIS
from tests.support.history import every_kind_of_event
from tests.support.stores import partitions_of, published_rows


@pytest.fixture(scope="module")
def found() -> dict[bytes, bytes]:
    """The rows of several partitions."""
    clock = ManualClock(START_MILLIS)
    with Ledger.in_memory(clock=clock) as ledger:
        every_kind_of_event(ledger, clock)
        return published_rows(ledger)


def position_in(found: dict[bytes, bytes]) -> rows.Position:
    return rows.POSITION.decode(rows.unseal(keys.POSITION, found[keys.POSITION]))


def verify(found: dict[bytes, bytes], *, partitions_max: int = 1_000) -> bool:
    return verify_tips(MemoryStore(dict(sorted(found.items()))), position_in(found), partitions_max=partitions_max)


def keys_of(found: dict[bytes, bytes]) -> PartitionKeys:
    return PartitionReader(MemoryStore(found), PARTITION).keys


def without(found: dict[bytes, bytes], key: bytes) -> dict[bytes, bytes]:
    assert key in found
    return {each: row for each, row in found.items() if each != key}


def test_a_sound_store_passes_and_so_does_an_empty_one(found: dict[bytes, bytes]) -> None:
    assert len(partitions_of(found)) > 3
    assert verify(found)
    assert verify_tips(MemoryStore({}), rows.Position(position=0, committed_at_millis=0, digest=bytes(32)))


def test_a_partition_that_lost_its_last_event_its_head_or_its_name_is_noticed(found: dict[bytes, bytes]) -> None:
    reader = PartitionReader(MemoryStore(found), PARTITION)
    for key in (reader.keys.event(reader.head().sequence), reader.keys.head, reader.keys.partition):
        with pytest.raises(StorageInconsistency):
            verify(without(found, key))


def test_a_head_that_lags_behind_its_events_is_noticed(found: dict[bytes, bytes]) -> None:
    key = keys_of(found).head
    head = rows.HEAD.decode(rows.unseal(key, found[key]))
    older = rows.HEAD.encode(replace(head, sequence=head.sequence - 1))
    with pytest.raises(StorageInconsistency, match="beyond the head"):
        verify(found | {key: rows.seal(key, older)})


def test_a_partition_that_is_gone_as_a_whole_is_missed_in_the_position(found: dict[bytes, bytes]) -> None:
    prefix = keys_of(found).prefix
    rest = {key: row for key, row in found.items() if not key.startswith(prefix)}
    with pytest.raises(StorageInconsistency, match="does not count"):
        verify(rest)


def test_of_many_partitions_so_many_are_looked_at_and_no_more(found: dict[bytes, bytes]) -> None:
    last = max(partitions_of(found), key=lambda one: PartitionReader(MemoryStore({}), one).keys.prefix)
    damaged = without(found, PartitionReader(MemoryStore({}), last).keys.head)
    count = len(partitions_of(found))
    assert not verify(damaged, partitions_max=count - 1)
    with pytest.raises(StorageInconsistency):
        verify(damaged, partitions_max=count)
