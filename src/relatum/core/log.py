"""The log of a partition: a Merkle tree with a leaf for each event (RFC 9162, section 2.1; trust.md, entries).

What lives here: the text of an entry, and the frontier of a tree, which are the roots of its perfect subtrees, the
largest first: 32 bytes for each one in the binary form of its size. Pure functions of bytes. An entry holds digests
alone, over values with random parts: nothing can be guessed from it, and nothing in it changes when text is erased.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from relatum.core import digests
from relatum.core.events import CheckpointEvent, Event, JudgmentEvent, RecordEvent, RelationEvent
from relatum.core.relation_events import receipt_of

HASH_BYTES: Final = 32
TILE_HEIGHT: Final = 8
TILE_HASHES: Final = 1 << TILE_HEIGHT
"""A full tile has so many hashes, each of a perfect subtree of the same height, a multiple of `TILE_HEIGHT`."""


_WITH_CONSEQUENCES: Final = (RecordEvent, RelationEvent, JudgmentEvent)


def entry(sequence: int, event_digest: bytes, receipt_digests: Iterable[str]) -> bytes:
    """The entry of an event: its place, its digest, and that of each receipt that it answered, a line each."""
    lines = "".join([digest + "\n" for digest in receipt_digests])
    return f"relatum/1/entry\n{sequence}\n{event_digest.hex()}\n{lines}".encode()


def receipt_digests(event: Event) -> tuple[str, ...]:
    """Of the receipts of an event: its own, then those of the relations that it asserted or retired besides."""
    own = event.receipt if isinstance(event, CheckpointEvent) else receipt_of(event)
    if own is None:
        return ()
    if not isinstance(event, _WITH_CONSEQUENCES) or event.consequences is None:
        return (own.receipt_digest,)
    besides = [part.receipt.receipt_digest for part in event.consequences.relations]
    return tuple(dict.fromkeys([own.receipt_digest, *besides]))  # a verdict's own is that of the relation it asserts


def leaf_of(event: Event, event_digest: bytes) -> bytes:
    """The leaf hash of an event."""
    return digests.log_leaf(entry(event.sequence, event_digest, receipt_digests(event)))


def appended(frontier: bytes, size: int, leaf: bytes) -> bytes:
    """The frontier of a tree of `size` leaves after one more. Costs a hash for each trailing one of `size`."""
    node, end = leaf, len(frontier)
    while size & 1:
        node = digests.log_node(frontier[end - HASH_BYTES : end], node)
        end -= HASH_BYTES
        size >>= 1
    return frontier[:end] + node


def completed(frontier: bytes, size: int, leaf: bytes) -> list[bytes]:
    """The roots of the subtrees that one more leaf completes, by their height: the first is the leaf itself."""
    nodes, end = [leaf], len(frontier)
    while size & 1:
        nodes.append(digests.log_node(frontier[end - HASH_BYTES : end], nodes[-1]))
        end -= HASH_BYTES
        size >>= 1
    return nodes


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
