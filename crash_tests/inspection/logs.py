"""The log of a partition, made again of its events as naively as it can be.

IMPORTANT: nothing here may use `relatum.core.log` or `relatum.store.projection`: a fault there would agree with itself.
"""

from __future__ import annotations

from hashlib import sha256

from crash_tests.inspection.chains import answer_of
from crash_tests.inspection.stored import StoredPartition, same_rows
from crash_tests.violation import require_same
from relatum.core import digests
from relatum.core.events import Event
from relatum.store.keys import Table

_TILE = 256


def check_log(partition: StoredPartition, events: list[Event]) -> int:
    """Leaves, tiles, and the roots that the head has of the perfect subtrees; the number of rows compared."""
    bodies, keys = partition.table(Table.EVENT), partition.keys
    leaves = [_leaf(event, bodies[keys.event(event.sequence)]) for event in events]
    tiles: dict[bytes, bytes] = {}
    level, hashes = 0, leaves
    while hashes:
        chunks = [hashes[at : at + _TILE] for at in range(0, len(hashes), _TILE)]
        kept = {at: chunk for at, chunk in enumerate(chunks) if level or len(chunk) == _TILE}
        tiles |= {keys.tile(level, at): b"".join(chunk) for at, chunk in kept.items()}
        level, hashes = level + 1, [_root(chunk) for chunk in chunks if len(chunk) == _TILE]
    require_same(f"{partition.name}: the log of its head", _perfect(leaves), partition.reader.head().log)
    expected = {keys.leaf(number): leaf for number, leaf in enumerate(leaves, start=1)}
    return same_rows(f"{partition.name}, leaf", expected, partition.table(Table.LEAF)) + same_rows(
        f"{partition.name}, tile", tiles, partition.table(Table.TILE)
    )


def _leaf(event: Event, body: bytes) -> bytes:
    answer, given = answer_of(event), getattr(event, "consequences", None)
    receipts = [] if answer is None or answer.receipt is None else [answer.receipt.receipt_digest]
    receipts += [part.receipt.receipt_digest for part in given.relations] if given else []
    lines = ["relatum/1/entry", str(event.sequence), digests.event_digest(body).hex(), *dict.fromkeys(receipts)]
    return sha256(b"\0" + "".join(line + "\n" for line in lines).encode()).digest()


def _root(hashes: list[bytes]) -> bytes:
    if len(hashes) == 1:
        return hashes[0]
    split = 1 << ((len(hashes) - 1).bit_length() - 1)
    return sha256(b"\1" + _root(hashes[:split]) + _root(hashes[split:])).digest()


def _perfect(leaves: list[bytes]) -> bytes:
    found = b""
    while leaves:
        size = 1 << (len(leaves).bit_length() - 1)
        found, leaves = found + _root(leaves[:size]), leaves[size:]
    return found
