"""What the store lists: companies, their workspaces, and the company of each credential.

What lives here: the check that whatever must be listed is listed. Who finds nothing in a list can't tell that something
should be there; so this is looked at before a store is opened, beside the ends of partitions (`relatum.store.heads`).
"""

from __future__ import annotations

from itertools import islice
from typing import Final

from relatum.core.events import Head
from relatum.core.ids import company_partition
from relatum.core.streams import RECORDS
from relatum.errors import StorageInconsistency
from relatum.store import keys, rows
from relatum.store.keys import STORE_PREFIX, StoreTable, beyond
from relatum.store.kv import Reader
from relatum.store.partition import PartitionReader
from relatum.store.view import store_body

CREDENTIALS_MAX: Final = 10_000
"""Takes about two tenths of a second. Of a store with more of them only so many are looked at."""


class Listing:
    """The lists of one store, held against its partitions one by one. Raises StorageInconsistency."""

    def __init__(self, reader: Reader, *, credentials_max: int = CREDENTIALS_MAX) -> None:
        self._reader = reader
        self._credentials_max = credentials_max
        self._credentials = 0

    def require(self, partition: PartitionReader, head: Head) -> None:
        """That a partition is listed, and what it holds."""
        own = partition.partition
        if own == company_partition(own.company_id):
            self._require_company(partition)
        elif RECORDS in head.streams and head.streams[RECORDS].sequence > 0:
            listed = store_body(self._reader, keys.workspace(own.company_id, partition.workspace_id))
            _require(listed == rows.PARTITION.encode(own), "a workspace is not listed")

    def require_nothing_else(self) -> bool:
        """That every credential that is listed was met, once all partitions have been looked at.

        Answers whether it was asked: not where there may be more of them than are looked at.
        """
        if self._credentials == self._credentials_max:
            return False
        prefix = STORE_PREFIX + bytes([StoreTable.CREDENTIAL_COMPANY])
        listed = sum(1 for _ in self._reader.scan(prefix, beyond(prefix)))
        _require(listed == self._credentials, "a credential is missing")
        return True

    def _require_company(self, partition: PartitionReader) -> None:
        company_id = partition.partition.company_id
        name = company_id.encode()
        _require(store_body(self._reader, keys.company(company_id)) == name, "a company is not listed")
        room = self._credentials_max - self._credentials
        self._credentials += sum(1 for _ in islice(partition.credentials(), room))  # each is held against its place


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise StorageInconsistency(message)
