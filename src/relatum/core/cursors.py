"""Cursors and checkpoints: positions in a change stream, and those that a consumer has saved (feeds.md)."""

from __future__ import annotations

from typing import Literal

from msgspec.structs import force_setattr

from relatum.core import text
from relatum.core.ids import Author
from relatum.core.streams import Stream
from relatum.core.wire import U64, Closed, DigestHex, Millis, Revision, Sparse, Uuid, canonical_uuid, check_u64


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


class Advance(Sparse, frozen=True, kw_only=True, tag="advance"):
    """Saves a position at or after the saved one."""

    cursor: Cursor


class Reconcile(Sparse, frozen=True, kw_only=True, tag="reconcile"):
    """Saves a position whatever the saved one: after a restore, with evidence of who decided so."""

    cursor: Cursor
    evidence_ref: str


class CheckpointCommand(Sparse, frozen=True, kw_only=True):
    """What a consumer asks for: to save a position, given the revision and digest of what it saved before."""

    contract_version: int
    idempotency_key: str
    consumer_id: str
    expected_revision: Revision
    expected_checkpoint_digest: DigestHex | None = None
    operation: Advance | Reconcile

    def __post_init__(self) -> None:
        check_u64(self.expected_revision)


class Checkpoint(Closed, frozen=True, kw_only=True):
    """A consumer's saved position. Its owner is (partition, stream, subject, consumer id)."""

    schema_version: Literal[1]
    consumer_id: str
    revision: int
    cursor: Cursor
    author: Author
    updated_at_millis: Millis
    checkpoint_digest: DigestHex


class CheckpointReceipt(Closed, frozen=True, kw_only=True):
    """The receipt of a checkpoint command: what was saved before and what is saved now."""

    contract_version: Literal[1]
    idempotency_key: str
    previous: Checkpoint | None
    checkpoint: Checkpoint
    reconciliation_evidence: str | None
    receipt_digest: DigestHex
