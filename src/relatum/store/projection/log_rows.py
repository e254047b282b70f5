"""The rows of the log: a leaf for each event, and every 256th time the tiles that it completes or lets grow."""

from __future__ import annotations

from typing import Protocol

from relatum.core.events import Head
from relatum.core.log import HASH_BYTES, TILE_HASHES, TILE_HEIGHT, appended, completed
from relatum.errors import StorageInconsistency
from relatum.store.keys import PartitionKeys


class LogStaging(Protocol):
    """What rows of a partition's log are staged on; reads see what is staged."""

    keys: PartitionKeys

    def body(self, key: bytes) -> bytes | None:
        """The body of a row, staged or stored, or None."""
        ...

    def put(self, key: bytes, body: bytes) -> None:
        """Stages a row by its body."""
        ...


def stage_leaf(staging: LogStaging, before: Head, leaf: bytes) -> bytes:
    """Stages the leaf of the next event of a partition; the frontier of its log from then on."""
    sequence = before.sequence + 1
    staging.put(staging.keys.leaf(sequence), leaf)
    if sequence % TILE_HASHES == 0:
        _stage_tiles(staging, sequence, completed(before.log, before.sequence, leaf))
    return appended(before.log, before.sequence, leaf)


def _stage_tiles(staging: LogStaging, sequence: int, roots: list[bytes]) -> None:
    """The full tile of the last 256 leaves; and on each level above it, as far as a subtree is whole, one more hash."""
    leaves = [_hash(staging, staging.keys.leaf(sequence - back)) for back in range(TILE_HASHES - 1, -1, -1)]
    staging.put(staging.keys.tile(0, sequence // TILE_HASHES - 1), b"".join(leaves))
    for level in range(1, (len(roots) - 1) // TILE_HEIGHT + 1):
        number = (sequence >> (TILE_HEIGHT * level)) - 1
        key = staging.keys.tile(level, number // TILE_HASHES)
        hashes = b"" if number % TILE_HASHES == 0 else staging.body(key)
        if hashes is None or len(hashes) != HASH_BYTES * (number % TILE_HASHES):
            raise StorageInconsistency("a tile of the log is missing, or is not as it was left")
        staging.put(key, hashes + roots[TILE_HEIGHT * level])


def _hash(staging: LogStaging, key: bytes) -> bytes:
    found = staging.body(key)
    if found is None or len(found) != HASH_BYTES:
        raise StorageInconsistency("a leaf of the log is missing")
    return found
