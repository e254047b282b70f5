"""Damage: what a fault below the ledger can do to its rows, one row or a pair at a time.

removed   the row is gone
torn      bytes changed; the checksum of the row tells
forged    bytes changed, or added where there were none, and the row sealed again, as a fault above the checksum would
          leave it
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from relatum.core.ids import Ref
from relatum.core.receipts import RelationReceipt
from relatum.core.streams import RECORDS, RELATIONS
from relatum.store import rows
from relatum.store.keys import Table
from relatum.store.memory import MemoryStore
from relatum.store.partition import PartitionReader
from tests.integrity.scene import Rows, Scene
from tests.support.builders import ADA, PARTITION

Manner = Callable[[bytes, bytes], bytes | None]
"""A key and its row to what is left of it."""


def removed(key: bytes, row: bytes) -> None:
    """Nothing is left."""


def torn(key: bytes, row: bytes) -> bytes:
    """One bit of the body is another one, or of the checksum where there is no body."""
    return _flipped(row, min((len(row) + 5) // 2, len(row) - 1))


def forged(key: bytes, row: bytes) -> bytes:
    """One bit of the body is another one, or one more byte, under a checksum that knows of it."""
    body = rows.unseal(key, row)
    return rows.seal(key, _flipped(body, len(body) * 3 // 4) if body else b"\1")


MANNERS: Final[dict[str, Manner]] = {"removed": removed, "torn": torn, "forged": forged}


def damaged(found: Rows, keys: tuple[bytes, ...], manner: Manner) -> Rows:
    """A copy of rows of which some are damaged; each must be there and come out another."""
    left = dict(found)
    for key in keys:
        row = manner(key, left.pop(key))
        if row is not None:
            assert row != found[key]
            left[key] = row
    return left


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


class Places:
    """Where the rows of a scene lie."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._reader = PartitionReader(MemoryStore(scene.rows), PARTITION)
        self._keys = self._reader.keys

    def outgoing(self) -> bytes:
        """The entry of the main relation at its source."""
        return self._entry(Table.OUTGOING, self._scene.source)

    def incoming(self) -> bytes:
        """The entry of the main relation at its target."""
        return self._entry(Table.INCOMING, self._scene.target)

    def header(self, ref: Ref) -> bytes:
        return self._keys.header(ref.record_id, ref.revision)

    def relation(self) -> bytes:
        """The main relation's current row."""
        return self._keys.relation(self._scene.main[0].relation_id)

    def other_relation(self, receipt: RelationReceipt) -> bytes:
        return self._keys.relation(receipt.relation_id)

    def relation_revision(self, number: int) -> bytes:
        return self._keys.relation_revision(self._scene.main[0].relation_id, number)

    def record(self, ref: Ref) -> bytes:
        """A record's current row."""
        return self._keys.record(ref.record_id)

    def record_revision(self, ref: Ref) -> bytes:
        return self._keys.record_revision(ref.record_id, ref.revision)

    def payload(self, ref: Ref) -> bytes:
        """The erasable row that a revision brought."""
        return self._keys.payload(ref.record_id, ref.revision)

    def pointer(self, receipt: RelationReceipt) -> bytes:
        """Where the key of a relation command leads to its receipt."""
        return self._keys.receipt("relation", ADA.subject_id, receipt.idempotency_key)

    def event(self, sequence: int) -> bytes:
        return self._keys.event(sequence)

    def last_event(self) -> bytes:
        return self._keys.event(self._reader.head().sequence)

    def relation_entry(self, sequence: int) -> bytes:
        """An entry of the journal of relations."""
        return self._keys.journal_entry(RELATIONS, sequence)

    def last_relation_entry(self) -> bytes:
        return self.relation_entry(self._reader.head().streams[RELATIONS].sequence)

    def last_record_entry(self) -> bytes:
        return self._keys.journal_entry(RECORDS, self._reader.head().streams[RECORDS].sequence)

    def head(self) -> bytes:
        """The partition's head row."""
        return self._keys.head

    def everything(self) -> list[bytes]:
        """Every row of the partition."""
        return sorted(key for key in self._scene.rows if key.startswith(self._keys.prefix))

    def _entry(self, direction: Table, end: Ref) -> bytes:
        return self._keys.adjacency_entry(direction, end.record_id, end.revision, self._scene.main[0].relation_id)
