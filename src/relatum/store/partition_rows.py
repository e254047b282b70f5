"""One partition over a reader: where its rows lie, its tip, and its events."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from relatum.core import digests
from relatum.core.events import Event, Head
from relatum.core.ids import Partition
from relatum.core.row_counts import Tally, tally_of
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.counts import Counting
from relatum.store.keys import PartitionKeys
from relatum.store.kv import Reader


class PartitionRows:
    """The rows of one partition. Cheap to make; holds no resources of its own.

    Without `recounts` what the head counts is taken as it is found: for verification and rebuilds, which compare it.
    """

    def __init__(self, reader: Reader, partition: Partition, recounts: Counting | None = None) -> None:
        self.reader = reader
        self.partition = partition
        self._recounts = recounts
        self.workspace_id, self.keys = _located(partition)

    def body(self, key: bytes) -> bytes | None:
        """The checked body of a row, or None."""
        row = self.reader.get(key)
        return None if row is None else rows.unseal(key, row)

    def counted_body(self, key: bytes) -> bytes | None:
        """The same, of a row that nothing beside it witnesses."""
        self.require_counted()
        return self.body(key)

    def require_counted(self) -> None:
        """Raises StorageInconsistency where the rows that the head counts are not those that are there."""
        if self._recounts is not None:
            self._recounts.require(self.keys.prefix, lambda: self.head().counted, self.recounted)
            self._recounts = None

    def recounted(self) -> Tally:
        """The tally of what is there. Raises StorageInconsistency where a row does not match its checksum."""
        return tally_of(self.counted_rows())

    def counted_rows(self) -> Iterator[tuple[bytes, bytes]]:
        """The rows that the head counts, each as its key and its checked body."""
        for start, stop in self.keys.counted:
            for key, row in self.reader.scan(start, stop):
                yield key, rows.unseal(key, row)

    def require_absent(self, key: bytes, message: str) -> None:
        """What has a trace can't be unknown: where a row is missing, the one that was written with it must be, too."""
        if self.body(key) is not None:
            raise StorageInconsistency(message)

    def head(self) -> Head:
        """The partition's tip; a fresh one where nothing was ever accepted."""
        body = self.body(self.keys.head)
        if body is None:
            self.require_absent(self.keys.partition, "the head of a partition is missing")
            return Head()
        return rows.HEAD.decode(body)

    def event(self, sequence: int) -> Event | None:
        """An event, by its place."""
        body = self.body(self.keys.event(sequence))
        return None if body is None else rows.EVENT.decode(body)

    def sealed_event(self, sequence: int) -> Event | None:
        """The same for whoever asks for its receipt; a relation command in it is left as its bytes."""
        body = self.body(self.keys.event(sequence))
        return None if body is None else rows.SEALED_EVENT.decode(body)


@lru_cache(maxsize=4096)
def _located(partition: Partition) -> tuple[str, PartitionKeys]:
    """Workspace id and keys of a partition. Remembered: every request asks for them."""
    workspace_id = digests.workspace_id(partition)
    return workspace_id, PartitionKeys(workspace_id)
