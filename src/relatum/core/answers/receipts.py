"""The receipt of a key, for whoever lost an answer (relations.md)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from relatum.core.answers.base import Answer, Open
from relatum.core.answers.schemas import one_of
from relatum.core.ids import Author, Scope
from relatum.core.streams import Cursor
from relatum.core.wire import DigestHex, Millis, Uuid

RecordAction = Literal[
    "created",
    "revised",
    "deleted",
    "derived",
    "reviewed",
    "archived",
    "unarchived",
    "pinned",
    "unpinned",
    "marked_stale",
]

RelationChangeAction = Literal["asserted", "retired", "restored", "reviewed"]
"""What is done to a relation."""

RelationAction = Literal[RelationChangeAction, "found"]
"""What a relation command is answered with: `found` where an assertion with `if_absent` changed nothing."""

JudgmentAction = Literal["submitted", "swept", "undone", "confirmed", "promoted"]

LinkKind = Literal["related", "conflicts", "supports", "supersedes"]

LinkAction = Literal["linked", "unlinked"]


class RecordReceipt(Answer, frozen=True, kw_only=True):
    """The receipt of a record command."""

    contract_version: Literal[1]
    idempotency_key: str
    record_id: Uuid
    revision: int
    action: Open[RecordAction]
    author: Author
    committed_at_millis: Millis
    record_digest: DigestHex
    command_digest: DigestHex
    receipt_digest: DigestHex
    commit_sequence: int


class RelationReceipt(Answer, frozen=True, kw_only=True):
    """The receipt of a relation command."""

    contract_version: Literal[1]
    idempotency_key: str
    relation_id: Uuid
    revision: int
    action: Open[RelationAction]
    author: Author
    committed_at_millis: Millis
    evidence_ref: str
    relation_digest: DigestHex
    command_digest: DigestHex
    receipt_digest: DigestHex
    commit_sequence: int


class JudgmentReceipt(Answer, frozen=True, kw_only=True):
    """The receipt of a judgment command that asserts nothing; a verdict has that of its relation."""

    contract_version: Literal[1]
    idempotency_key: str
    action: Open[JudgmentAction]
    author: Author
    committed_at_millis: Millis
    command_digest: DigestHex
    receipt_digest: DigestHex
    commit_sequence: int


class LinkReceipt(Answer, frozen=True, kw_only=True):
    """The receipt of a link command. `kind` is that of the link that was made or taken away."""

    contract_version: Literal[1]
    idempotency_key: str
    source_id: Uuid
    target_id: Uuid
    kind: Open[LinkKind]
    action: Open[LinkAction]
    author: Author
    committed_at_millis: Millis
    command_digest: DigestHex
    receipt_digest: DigestHex
    commit_sequence: int


class Checkpoint(Answer, frozen=True, kw_only=True):
    """A consumer's saved position. Its owner is (partition, stream, subject, consumer id)."""

    schema_version: Literal[1]
    consumer_id: str
    revision: int
    cursor: Cursor
    author: Author
    updated_at_millis: Millis
    checkpoint_digest: DigestHex


class CheckpointReceipt(Answer, frozen=True, kw_only=True):
    """The receipt of a checkpoint command: what was saved before and what is saved now."""

    contract_version: Literal[1]
    idempotency_key: str
    previous: Checkpoint | None
    checkpoint: Checkpoint
    reconciliation_evidence: str | None
    receipt_digest: DigestHex


class ReceiptReadAnswer(Answer, frozen=True, kw_only=True):
    """The receipt of an accepted command of the caller's own subject."""

    contract_version: Literal[1]
    scope: Scope
    receipt: Annotated[Any, one_of(RecordReceipt, RelationReceipt, CheckpointReceipt, JudgmentReceipt, LinkReceipt)]


AnyReceipt = RecordReceipt | RelationReceipt | JudgmentReceipt | LinkReceipt | CheckpointReceipt
