"""The lists of a store against what its partitions hold, looked at before it is opened."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from relatum.errors import StorageInconsistency
from relatum.store import keys, rows
from relatum.store.catalog import Listing
from relatum.store.heads import verify_tips
from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, StoreTable, Table
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from tests.store.test_tips import found, position_in, verify, without
from tests.support.stores import partitions_of

__all__ = ["found"]


def keys_in(found: dict[bytes, bytes], table: StoreTable | Table) -> list[bytes]:
    """The keys of a table, of the store or of all partitions."""
    of_store = isinstance(table, StoreTable)
    return [key for key in found if key[PREFIX_BYTES] == table and key.startswith(STORE_PREFIX) is of_store]


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (StoreTable.COMPANY, "a company is not listed"),
        (StoreTable.CREDENTIAL_COMPANY, "a credential does not match its place"),
        (StoreTable.WORKSPACE, "a workspace is not listed"),
        (Table.CREDENTIAL, "a credential is missing"),
    ],
)
def test_what_a_list_lacks_is_missed(found: dict[bytes, bytes], table: StoreTable | Table, reason: str) -> None:
    lacking = keys_in(found, table)
    assert lacking
    for key in lacking:
        with pytest.raises(StorageInconsistency, match=reason):
            verify(without(found, key))


@pytest.mark.parametrize("table", [StoreTable.COMPANY, StoreTable.CREDENTIAL_COMPANY, StoreTable.WORKSPACE])
def test_a_list_that_names_another_is_noticed(found: dict[bytes, bytes], table: StoreTable) -> None:
    key = keys_in(found, table)[0]
    with pytest.raises(StorageInconsistency, match=r"not listed|too short|its place"):
        verify(found | {key: rows.seal(key, b"another")})


def test_a_store_that_was_last_written_at_another_time_than_its_events_is_noticed(found: dict[bytes, bytes]) -> None:
    position = position_in(found)
    for millis in (position.committed_at_millis - 1, position.committed_at_millis + 1):
        with pytest.raises(StorageInconsistency, match="the last commit"):
            verify_tips(MemoryStore(dict(sorted(found.items()))), replace(position, committed_at_millis=millis))


def test_of_many_credentials_so_many_are_looked_at_and_no_more(found: dict[bytes, bytes]) -> None:
    unlisted = without(found, max(keys_in(found, StoreTable.CREDENTIAL_COMPANY)))
    reader = MemoryStore(dict(sorted(unlisted.items())))
    count = len(keys_in(found, Table.CREDENTIAL))

    def look(credentials_max: int) -> bool:
        listing = Listing(reader, credentials_max=credentials_max)
        for partition in partitions_of(found):
            own = PartitionReader(reader, partition)
            listing.require(own, own.head())
        return listing.require_nothing_else()

    with pytest.raises(StorageInconsistency):
        look(count + 1)
    assert not look(0)
    assert keys.FORMAT in found
