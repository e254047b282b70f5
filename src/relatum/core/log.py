"""The log of a partition: a Merkle tree with a leaf for each event (RFC 9162, section 2.1; trust.md, entries).

What lives here: the text of an entry, and the frontier of a tree, which are the roots of its perfect subtrees, the
largest first: 32 bytes for each one in the binary form of its size. Pure functions of bytes. An entry holds digests
alone, over values with random parts: nothing can be guessed from it, and nothing in it changes when text is erased.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from relatum.core import digests
from relatum.core.events import CheckpointEvent, Event, JudgmentEvent, RecordEvent, RelationEvent
from relatum.core.relation_events import receipt_of

HASH_BYTES: Final = 32
TILE_HEIGHT: Final = 8
TILE_HASHES: Final = 1 << TILE_HEIGHT
"""A full tile has so many hashes, each of a perfect subtree of the same height, a multiple of `TILE_HEIGHT`."""


class Appended(NamedTuple):
    """A tree after one more leaf: its frontier, and the roots of the subtrees that the leaf has completed.

    `completed[h]` is that of 2**h leaves; the first is the leaf itself.
    """

    frontier: bytes
    completed: tuple[bytes, ...]


def entry(sequence: int, event_digest: bytes, receipt_digests: Iterable[str]) -> bytes:
    """The entry of an event: its place, its digest, and that of each receipt that it answered, a line each."""
    lines = ["relatum/1/entry", str(sequence), event_digest.hex(), *receipt_digests, ""]
    return "\n".join(lines).encode()


def receipt_digests(event: Event) -> tuple[str, ...]:
    """Of the receipts of an event: its own, then those of the relations that it asserted or retired besides."""
    own = event.receipt if isinstance(event, CheckpointEvent) else receipt_of(event)
    found = [] if own is None else [own.receipt_digest]
    if isinstance(event, RecordEvent | RelationEvent | JudgmentEvent) and event.consequences is not None:
        found += [part.receipt.receipt_digest for part in event.consequences.relations]
    return tuple(dict.fromkeys(found))  # a verdict's own receipt is that of the relation it asserts


def leaf_of(event: Event, event_digest: bytes) -> bytes:
    """The leaf hash of an event."""
    return digests.log_leaf(entry(event.sequence, event_digest, receipt_digests(event)))


def appended(frontier: bytes, size: int, leaf: bytes) -> Appended:
    """The tree of `size` leaves after one more. Costs a hash for each trailing one of `size`, one on average."""
    node, end = leaf, len(frontier)
    completed = [leaf]
    while size & 1:
        node = digests.log_node(frontier[end - HASH_BYTES : end], node)
        completed.append(node)
        end -= HASH_BYTES
        size >>= 1
    return Appended(frontier[:end] + node, tuple(completed))


def root(frontier: bytes) -> bytes:
    """The root hash of a tree; of the empty one it is that of no bytes."""
    if not frontier:
        return digests.log_empty()
    end = len(frontier) - HASH_BYTES
    node = frontier[end:]
    while end:
        node = digests.log_node(frontier[end - HASH_BYTES : end], node)
        end -= HASH_BYTES
    return node
