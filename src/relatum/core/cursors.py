"""Checkpoints: positions in a change stream that a consumer has saved (feeds.md)."""

from __future__ import annotations

from typing import Literal

from relatum.core.answers import receipts as answered
from relatum.core.ids import Author
from relatum.core.streams import Cursor
from relatum.core.wire import DigestHex, Millis, Revision, Sparse, check_u64


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


class Checkpoint(answered.Checkpoint, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A consumer's saved position. Its owner is (partition, stream, subject, consumer id)."""

    schema_version: Literal[1]
    consumer_id: str
    revision: int
    cursor: Cursor
    author: Author
    updated_at_millis: Millis
    checkpoint_digest: DigestHex


class CheckpointReceipt(answered.CheckpointReceipt, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The receipt of a checkpoint command: what was saved before and what is saved now."""

    contract_version: Literal[1]
    idempotency_key: str
    previous: Checkpoint | None
    checkpoint: Checkpoint
    reconciliation_evidence: str | None
    receipt_digest: DigestHex
