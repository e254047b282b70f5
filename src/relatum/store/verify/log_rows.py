"""The rows of the log that all events of a partition imply, from the first one on, and what its head must say of it.

What lives here: `LogRows`, which writes the text of each entry by itself and keeps the hashes of the tile that grows on
each level. It shares the two hash functions with the product, and neither its frontier nor its tiles (`core.log`,
`store.projection`): a fault there would agree with itself.
"""

from __future__ import annotations

from typing import Final

from relatum.core import digests
from relatum.core.events import CheckpointEvent, Event, JudgmentEvent, LinkEvent, RecordEvent, RelationEvent
from relatum.core.events import FoundEvent as Found
from relatum.store.keys import Table
from relatum.store.verify.expected_rows import Books

_FULL: Final = 256


class LogRows:
    """Enters what each event adds to the log."""

    def __init__(self, books: Books) -> None:
        self._keys = books.keys
        self._leaves, self._tiles = books.tables[Table.LEAF], books.tables[Table.TILE]
        self._growing: list[list[bytes]] = [[]]
        """On each level, the hashes that its last tile has so far; a full one is left, and its root goes up."""
        self._tiles_left = [0]
        """On each level, how many full tiles there are."""

    def add(self, event: Event, event_digest: bytes) -> None:
        """The leaf of the next event, and the tiles that it completes or lets grow."""
        leaf = digests.log_leaf(_entry(event, event_digest))
        self._leaves.imply(event.sequence, self._keys.leaf(event.sequence), leaf)
        self._grow(event.sequence, 0, leaf)

    def roots(self) -> bytes:
        """Of the perfect subtrees of the whole tree, the largest first."""
        return b"".join(root for level in reversed(self._growing) for root in _perfect(level))

    def _grow(self, sequence: int, level: int, added: bytes) -> None:
        if level == len(self._growing):
            self._growing.append([])
            self._tiles_left.append(0)
        hashes = self._growing[level]
        key = self._keys.tile(level, self._tiles_left[level])
        if level > 0 and hashes:
            self._tiles.revoke(sequence, key, b"".join(hashes))
        hashes.append(added)
        if level > 0 or len(hashes) == _FULL:
            self._tiles.imply(sequence, key, b"".join(hashes))
        if len(hashes) == _FULL:
            self._growing[level] = []
            self._tiles_left[level] += 1
            self._grow(sequence, level + 1, _root(hashes))


def _entry(event: Event, event_digest: bytes) -> bytes:
    """The text of an entry, as the contract has it."""
    receipts: list[str] = []
    if isinstance(event, JudgmentEvent):
        own = event.receipt if event.receipt is not None else event.judgment_receipt
        receipts += [] if own is None else [own.receipt_digest]
    elif isinstance(event, RecordEvent | RelationEvent | Found | LinkEvent | CheckpointEvent):
        receipts.append(event.receipt.receipt_digest)
    parts = getattr(event, "consequences", None)
    for part in () if parts is None else parts.relations:
        if part.receipt.receipt_digest not in receipts:
            receipts.append(part.receipt.receipt_digest)
    lines = "".join(f"{digest}\n" for digest in receipts)
    return f"relatum/1/entry\n{event.sequence}\n{event_digest.hex()}\n{lines}".encode()


def _root(hashes: list[bytes]) -> bytes:
    """The root over a number of hashes that is a power of two."""
    if len(hashes) == 1:
        return hashes[0]
    half = len(hashes) // 2
    return digests.log_node(_root(hashes[:half]), _root(hashes[half:]))


def _perfect(hashes: list[bytes]) -> list[bytes]:
    """The roots of the perfect subtrees over some hashes, the largest first."""
    found: list[bytes] = []
    while hashes:
        size = 1 << (len(hashes).bit_length() - 1)
        found.append(_root(hashes[:size]))
        hashes = hashes[size:]
    return found
