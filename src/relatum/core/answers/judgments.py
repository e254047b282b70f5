"""Candidates as answered, and the answers of the routes below `judgments/` (judgments.md)."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import UNSET, UnsetType

from relatum.core.answers.base import Answer, Open
from relatum.core.answers.receipts import RelationReceipt
from relatum.core.ids import Author, Ref, Scope
from relatum.core.kinds import Kind
from relatum.core.verdicts import Verdict
from relatum.core.wire import Millis, Uuid
from relatum.errors import Code

Status = Literal["pending", "judged", "orphaned"]

Channel = Literal["lexical", "submitted", "topic_key"]

Marker = Literal["agent", "agent_topic_key", "sweep", "operator"]


class Detection(Answer, frozen=True, kw_only=True):
    """How a pair was surfaced, as answered."""

    channel: Open[Channel]
    similarity: float


class MarkedBy(Answer, frozen=True, kw_only=True):
    """Who closed a candidate, as answered; the timer has no author."""

    kind: Open[Marker]
    author: Author | None


class CandidateView(Answer, frozen=True, kw_only=True):
    """A candidate as answered."""

    candidate_id: Uuid
    source: Ref
    target: Ref
    status: Open[Status]
    detection: Detection
    relation_kind: Open[Kind] | None
    relation_id: Uuid | None
    reason: str | None
    evidence: Any
    confidence: float | None
    marked_by: MarkedBy | None
    created_at_millis: Millis
    judged_at_millis: Millis | None


class JudgmentView(Answer, frozen=True, kw_only=True):
    """A verdict as it was given: what it says of which records, and the relation that it made."""

    relation: Open[Verdict]
    relation_kind: Open[Kind]
    relation_id: Uuid
    source: Ref
    target: Ref
    candidate_id: Uuid | None
    confidence: float | None


class JudgmentResult(Answer, frozen=True, kw_only=True):
    """The outcome of one verdict of a batch: the verdict with its receipt, or why it was refused."""

    ok: bool
    judgment: JudgmentView | UnsetType = UNSET
    receipt: RelationReceipt | UnsetType = UNSET
    code: Open[Code] | UnsetType = UNSET
    message: str | UnsetType = UNSET


class JudgmentBatchAnswer(Answer, frozen=True, kw_only=True):
    """The outcomes of a batch in the order of the request, the same on every replay."""

    contract_version: Literal[1]
    results: tuple[JudgmentResult, ...]
    all_failed: bool


class CompareAnswer(Answer, frozen=True, kw_only=True):
    """A verdict on two records, and the receipt of the relation that says it."""

    contract_version: Literal[1]
    judgment: JudgmentView
    receipt: RelationReceipt


class CandidatesAnswer(Answer, frozen=True, kw_only=True):
    """The candidate of each pair, new or known, in the order of the request, as it is now."""

    contract_version: Literal[1]
    candidates: tuple[CandidateView, ...]


class JudgmentsQueryAnswer(Answer, frozen=True, kw_only=True):
    """Candidates, oldest first, and how many there are in all that the query wants."""

    contract_version: Literal[1]
    scope: Scope
    candidates: tuple[CandidateView, ...]
    total: int


class SweepOperation(Answer, frozen=True, kw_only=True):
    """One candidate that a run orphaned; its operation can be undone."""

    operation_id: Uuid
    candidate_id: Uuid


class SweepAnswer(Answer, frozen=True, kw_only=True):
    """A run of the sweep, and what it did; at most 50 operations, so that a full one is worth repeating."""

    contract_version: Literal[1]
    run_id: Uuid
    operations: tuple[SweepOperation, ...]


class UndoAnswer(Answer, frozen=True, kw_only=True):
    """The candidates that are pending again."""

    contract_version: Literal[1]
    candidate_ids: tuple[Uuid, ...]
