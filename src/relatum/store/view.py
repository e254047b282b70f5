"""One stable read of everything: a cut of the store at one published position, and one clock value."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Self

from relatum.core.access import StoredCredential
from relatum.core.ids import Partition, company_partition
from relatum.errors import JournalBroken, StorageInconsistency
from relatum.store import keys, rows
from relatum.store.counts import Counting, Recounts
from relatum.store.credential_cache import CredentialMemory
from relatum.store.keys import beyond
from relatum.store.kv import Reader, View
from relatum.store.partition import PartitionReader


def store_body(reader: Reader, key: bytes) -> bytes | None:
    """The checked body of a store-wide row, or None."""
    row = reader.get(key)
    return None if row is None else rows.unseal(key, row)


def company_exists(reader: Reader, company_id: str) -> bool:
    """Whether a company was ever bootstrapped."""
    return store_body(reader, keys.company(company_id)) is not None


class LedgerView:
    """What a request reads: never a second one within the same request.

    A context manager; closing gives the cut back. A broken journal that is met within it is reported before that.
    """

    __slots__ = ("_recounts", "_remembered", "_report", "_view", "now_millis", "store_key")

    def __init__(
        self,
        view: View,
        now_millis: int,
        store_key: bytes,
        remembered: CredentialMemory | None = None,
        recounts: Counting | None = None,
        report: Callable[[JournalBroken], None] | None = None,
    ) -> None:
        self._view = view
        self._remembered = CredentialMemory() if remembered is None else remembered
        self._recounts = Recounts() if recounts is None else recounts
        self._report = report
        self.now_millis = now_millis
        self.store_key = store_key

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._report is not None and isinstance(error, JournalBroken):
            self._report(error)
        self.close()

    def close(self) -> None:
        """Gives the cut back; closing twice is allowed."""
        self._view.close()

    @property
    def position(self) -> object:
        """The published position: views of equal positions show the same rows."""
        return self._view.position

    @property
    def reader(self) -> Reader:
        """The rows of this cut: for verification, which looks at all of them."""
        return self._view

    def partition(self, partition: Partition) -> PartitionReader:
        """One partition of this cut."""
        return PartitionReader(self._view, partition, self._recounts)

    def glimpse(self, partition: Partition) -> PartitionReader:
        """The same for a look upon which nothing is answered or decided: what its head counts is believed."""
        return PartitionReader(self._view, partition)

    def company_exists(self, company_id: str) -> bool:
        """Whether a company was ever bootstrapped."""
        return company_exists(self._view, company_id)

    def credential(self, credential_id: str) -> StoredCredential | None:
        """A credential of any company, by its id alone: how a token finds its company."""
        position = self._view.position
        known = self._remembered.recall_at(position, credential_id)
        if known is not None:
            return known
        body = store_body(self._view, keys.credential_company(credential_id))
        if body is None:
            return None
        place = rows.unpack_credential_place(body)
        known = self._remembered.recall(credential_id, place, position)
        if known is not None:
            return known
        found = self.partition(company_partition(place.company_id)).credential(credential_id)
        if found is None:
            raise StorageInconsistency("a credential is missing")
        self._remembered.remember(place, found, position)
        return found

    def workspaces(self, company_id: str, after: str | None = None) -> Iterator[tuple[str, Partition]]:
        """A company's workspaces ascending by id, strictly after `after`."""
        prefix = keys.workspaces(company_id)
        start = prefix if after is None else keys.workspace(company_id, after) + b"\0"
        for key, row in self._view.scan(start, beyond(prefix)):
            yield key[len(prefix) :].hex(), rows.PARTITION.decode(rows.unseal(key, row))

    def partitions(self) -> Iterator[Partition]:
        """The memory partitions of all companies that have had a record."""
        prefix = keys.STORE_PREFIX + bytes([keys.StoreTable.WORKSPACE])
        for key, row in self._view.scan(prefix, beyond(prefix)):
            yield rows.PARTITION.decode(rows.unseal(key, row))

    def workspace(self, company_id: str, workspace_id: str) -> Partition | None:
        """One workspace of a company."""
        body = store_body(self._view, keys.workspace(company_id, workspace_id))
        return None if body is None else rows.PARTITION.decode(body)
