"""Receipts: what an accepted command answers, byte for byte again on every replay (relations.md, records.md)."""

from __future__ import annotations

from typing import Literal

from relatum.core.answers import receipts as answered
from relatum.core.answers.receipts import JudgmentAction, RecordAction, RelationAction
from relatum.core.ids import Author
from relatum.core.links import LinkReceipt
from relatum.core.wire import DigestHex, Millis, Uuid

Family = Literal["record", "relation", "judgment", "link", "checkpoint"]


class RecordReceipt(answered.RecordReceipt, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The receipt of a record command."""

    contract_version: Literal[1]
    idempotency_key: str
    record_id: Uuid
    revision: int
    action: RecordAction
    author: Author
    committed_at_millis: Millis
    record_digest: DigestHex
    command_digest: DigestHex
    receipt_digest: DigestHex
    commit_sequence: int


class RelationReceipt(answered.RelationReceipt, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The receipt of a relation command."""

    contract_version: Literal[1]
    idempotency_key: str
    relation_id: Uuid
    revision: int
    action: RelationAction
    author: Author
    committed_at_millis: Millis
    evidence_ref: str
    relation_digest: DigestHex
    command_digest: DigestHex
    receipt_digest: DigestHex
    commit_sequence: int


class JudgmentReceipt(answered.JudgmentReceipt, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The receipt of a judgment command that asserts nothing; a verdict has that of its relation."""

    contract_version: Literal[1]
    idempotency_key: str
    action: JudgmentAction
    author: Author
    committed_at_millis: Millis
    command_digest: DigestHex
    receipt_digest: DigestHex
    commit_sequence: int


Receipt = RecordReceipt | RelationReceipt | LinkReceipt
