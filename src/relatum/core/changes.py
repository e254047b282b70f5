"""Changes: what a stream tells of an accepted command, and what a journal stores of it (feeds.md)."""

from __future__ import annotations

from typing import Literal

from relatum.core.answers import feeds as answered
from relatum.core.answers.receipts import RecordAction, RelationChangeAction
from relatum.core.answers.standings import StandingAction
from relatum.core.ids import Author, Ref
from relatum.core.kinds import Kind
from relatum.core.wire import DigestHex, Millis, Sparse, Uuid, check_u64, check_uuid


class RelationChange(answered.RelationChange, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One accepted relation command, as the feed tells it."""

    schema_version: Literal[1]
    kind: RelationChangeAction
    relation_id: Uuid
    relation_revision: int
    source: Ref
    target: Ref
    relation_kind: Kind
    author: Author
    committed_at_millis: Millis
    relation_digest: DigestHex
    receipt_digest: DigestHex


class RecordChange(answered.RecordChange, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change of a record or of its standing, as the feed tells it."""

    schema_version: Literal[1]
    kind: RecordAction | StandingAction
    record_id: Uuid
    record_revision: int
    author: Author
    committed_at_millis: Millis
    record_digest: DigestHex
    receipt_digest: DigestHex


class RelationEntry(Sparse, frozen=True, kw_only=True):
    """A stored journal entry of the relation stream. `commit_sequence` points to the event."""

    commit_sequence: int
    nonce: bytes
    prefix_digest: bytes
    change: RelationChange


class RecordEntry(Sparse, frozen=True, kw_only=True):
    """A stored journal entry of the record stream. `commit_sequence` points to the event."""

    commit_sequence: int
    nonce: bytes
    prefix_digest: bytes
    change: RecordChange


class JournalHead(Sparse, frozen=True, kw_only=True):
    """The tip of a stream: its identity, the number of its entries, the digest of all of them."""

    journal_id: Uuid
    sequence: int
    prefix_digest: bytes

    def __post_init__(self) -> None:
        """Raises ValueError: a tip that is read must be one that can be told."""
        check_uuid(self.journal_id)
        check_u64(self.sequence)
