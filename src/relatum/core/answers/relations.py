"""Relations as answered, and the answers of their reads (relations.md)."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from relatum.core.answers.base import Answer, Open
from relatum.core.answers.eligibility import DependencyWork, RelationEligibility
from relatum.core.answers.pages import StopReason
from relatum.core.answers.receipts import RelationReceipt
from relatum.core.answers.records import Review
from relatum.core.ids import Author, Ref, Scope
from relatum.core.kinds import Kind
from relatum.core.wire import Millis, Uuid

Origin = Literal["model_inference", "tool_observation", "human_statement", "imported_assertion"]

RelationState = Literal["active", "retired"]


class ModelView(Answer, frozen=True, kw_only=True):
    """The model that inferred a relation."""

    provider: str
    model: str
    revision: str


class ProvenanceView(Answer, frozen=True, kw_only=True):
    """A provenance as answered: `model` is present, null when unset."""

    origin: Open[Origin]
    method: str
    method_revision: str
    evidence_ref: str
    model: ModelView | None


class RelationInputView(Answer, frozen=True, kw_only=True):
    """An input as answered: validity is present, `evidence_sources` only when there are any."""

    source: Ref
    target: Ref
    kind: Open[Kind]
    provenance: ProvenanceView
    valid_from_millis: Millis | None
    valid_until_millis: Millis | None
    evidence_sources: tuple[Ref, ...] | UnsetType = UNSET


class Relation(Answer, frozen=True, kw_only=True):
    """A relation as answered."""

    schema_version: Literal[1]
    relation_id: Uuid
    revision: int
    input: RelationInputView
    reported_by: Author
    created_at_millis: Millis
    modified_at_millis: Millis
    state: Open[RelationState]
    review: Review | None


class RelationInspection(Answer, frozen=True, kw_only=True):
    """A retained relation in whatever state, and the verdict on it. Also the form of an entry of a page."""

    relation: Relation
    eligibility: RelationEligibility


class RelationHistory(Answer, frozen=True, kw_only=True):
    """A relation as it was at one revision, and the receipt of the command that brought that revision."""

    relation: Relation
    receipt: RelationReceipt


class RelationPage(Answer, frozen=True, kw_only=True):
    """Retained relations. `relation_bytes` counts the stored bytes of those returned."""

    relations: tuple[RelationInspection, ...]
    evaluated_at_millis: Millis
    scanned_relations: int
    relation_bytes: int
    dependency_work: DependencyWork
    stop_reason: Open[StopReason]
    next_cursor: str | None


class RelationReadAnswer(Answer, frozen=True, kw_only=True):
    """An eligible relation."""

    contract_version: Literal[1]
    scope: Scope
    relation: Relation


class RelationInspectAnswer(Answer, frozen=True, kw_only=True):
    """A retained relation and the verdict on it."""

    contract_version: Literal[1]
    scope: Scope
    inspection: RelationInspection


class RelationRevisionAnswer(Answer, frozen=True, kw_only=True):
    """A relation as it was at one revision, with the receipt of that revision."""

    contract_version: Literal[1]
    scope: Scope
    history: RelationHistory


class RelationQueryAnswer(Answer, frozen=True, kw_only=True):
    """A page of retained relations, each with the verdict on it."""

    contract_version: Literal[1]
    scope: Scope
    page: RelationPage
