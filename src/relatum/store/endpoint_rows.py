"""Bodies of rows that show a verdict, a candidate or a supersession from one of its ends (docs/storage-format.md).

Each begins with the digest of its rest, as those of `relatum.store.rows.DigestedCodec` do.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from relatum.core.ids import uuid_bytes, uuid_text
from relatum.core.kinds import REGISTRY, Kind
from relatum.errors import StorageInconsistency
from relatum.store.rows import rest_of, vouched

_KINDS: Final[dict[bytes, Kind]] = {kind.encode(): kind for kind in REGISTRY}


class VerdictEnd(NamedTuple):
    """A verdict, seen from one of its ends: whether its relation is indexed, the other end, the kind."""

    indexed: bool
    other_id: str
    kind: Kind

    def pack(self) -> bytes:
        """The body."""
        return vouched(bytes([self.indexed]) + uuid_bytes(self.other_id) + self.kind.encode())


def unpack_verdict_end(body: bytes) -> VerdictEnd:
    """The end of a body."""
    rest = rest_of(body)
    kind = _KINDS.get(rest[17:])
    if kind is None or rest[0] > 1:
        raise StorageInconsistency("a verdict's end can't be decoded")
    return VerdictEnd(bool(rest[0]), uuid_text(rest[1:17]), kind)


class CandidateEnd(NamedTuple):
    """A candidate, seen from one of its ends: whether it is pending, and the other end."""

    pending: bool
    other_id: str

    def pack(self) -> bytes:
        """The body."""
        return vouched(bytes([self.pending]) + uuid_bytes(self.other_id))


def unpack_candidate_end(body: bytes) -> CandidateEnd:
    """The end of a body."""
    rest = rest_of(body)
    if len(rest) != 17 or rest[0] > 1:
        raise StorageInconsistency("a candidate's end can't be decoded")
    return CandidateEnd(bool(rest[0]), uuid_text(rest[1:]))


class Replaced(NamedTuple):
    """That a record superseded another: by which relation, and whether it took over its topic slot."""

    relation_id: str
    for_topic: bool

    def pack(self) -> bytes:
        """The body."""
        return vouched(uuid_bytes(self.relation_id) + bytes([self.for_topic]))


def unpack_replaced(body: bytes) -> Replaced:
    """The entry of a body."""
    rest = rest_of(body)
    if len(rest) != 17 or rest[16] > 1:
        raise StorageInconsistency("a replaced record's row can't be decoded")
    return Replaced(uuid_text(rest[:16]), bool(rest[16]))
