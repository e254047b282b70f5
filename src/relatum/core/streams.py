"""The change streams by name, and positions in them. Each partition has both (feeds.md)."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import force_setattr

from relatum.core import text
from relatum.core.wire import U64, Closed, DigestHex, Uuid, canonical_uuid, check_u64

Stream = Literal["typed_memory_relations", "memory_records"]
RELATIONS: Stream = "typed_memory_relations"
RECORDS: Stream = "memory_records"


class Cursor(Closed, frozen=True, kw_only=True):
    """A position in a stream, bound to the history that led there."""

    version: int
    stream: str
    journal_id: Uuid
    sequence: U64
    prefix_digest: DigestHex

    def __post_init__(self) -> None:
        check_u64(self.sequence)
        force_setattr(self, "journal_id", canonical_uuid(self.journal_id))

    def problem(self, stream: Stream) -> str | None:
        """The static rule that this cursor breaks as one of `stream`, or None."""
        if self.version != 1 or self.stream != stream or not text.is_digest(self.prefix_digest):
            return "a cursor has another version or stream, or no well-formed digest"
        return None
