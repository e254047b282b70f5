"""Typed relations: what a client asserts, what is stored, what is answered (relations.md)."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from relatum.core.ids import Author, Ref
from relatum.core.kinds import Kind
from relatum.core.records import Disposition, Review
from relatum.core.wire import Closed, Millis, Sparse, Uuid, check_i64

Origin = Literal["model_inference", "tool_observation", "human_statement", "imported_assertion"]
RelationState = Literal["active", "retired"]


class Model(Closed, frozen=True, kw_only=True):
    """The model that inferred a relation."""

    provider: str
    model: str
    revision: str


class Provenance(Sparse, frozen=True, kw_only=True):
    """How an assertion came about. `model` is required for `model_inference`."""

    origin: Origin
    method: str
    method_revision: str
    evidence_ref: str
    model: Model | None = None


class RelationInput(Sparse, frozen=True, kw_only=True):
    """What a client asserts. An empty list of evidence sources equals omission; null is refused."""

    source: Ref
    target: Ref
    kind: Kind
    provenance: Provenance
    valid_from_millis: Millis | None = None
    valid_until_millis: Millis | None = None
    evidence_sources: tuple[Ref, ...] = ()

    def __post_init__(self) -> None:
        check_i64(self.valid_from_millis)
        check_i64(self.valid_until_millis)


class StoredRelation(Sparse, frozen=True, kw_only=True):
    """A relation at one revision; its canonical bytes are what `relation_digest` covers."""

    schema_version: Literal[1]
    relation_id: Uuid
    revision: int
    input: RelationInput
    reported_by: Author
    created_at_millis: int
    modified_at_millis: int
    state: RelationState
    review: Review | None = None

    @property
    def disposition(self) -> Disposition | None:
        """The current disposition; None where nobody has reviewed the relation."""
        return self.review.disposition if self.review else None

    @property
    def indexed(self) -> bool:
        """Whether both adjacency entries exist: active and not rejected."""
        return self.state == "active" and self.disposition != "rejected"


class ProvenanceView(Closed, frozen=True, kw_only=True):
    """A provenance as answered: `model` is present, null when unset."""

    origin: Origin
    method: str
    method_revision: str
    evidence_ref: str
    model: Model | None


class RelationInputView(Closed, frozen=True, kw_only=True):
    """An input as answered: validity is present, `evidence_sources` only when there are any."""

    source: Ref
    target: Ref
    kind: Kind
    provenance: ProvenanceView
    valid_from_millis: Millis | None
    valid_until_millis: Millis | None
    evidence_sources: tuple[Ref, ...] | UnsetType = UNSET


class Relation(Closed, frozen=True, kw_only=True):
    """A relation as answered."""

    schema_version: Literal[1]
    relation_id: Uuid
    revision: int
    input: RelationInputView
    reported_by: Author
    created_at_millis: Millis
    modified_at_millis: Millis
    state: RelationState
    review: Review | None


def relation_view(stored: StoredRelation) -> Relation:
    """`stored` as answered."""
    given = stored.input
    origin = given.provenance
    return Relation(
        schema_version=1,
        relation_id=stored.relation_id,
        revision=stored.revision,
        input=RelationInputView(
            source=given.source,
            target=given.target,
            kind=given.kind,
            provenance=ProvenanceView(
                origin=origin.origin,
                method=origin.method,
                method_revision=origin.method_revision,
                evidence_ref=origin.evidence_ref,
                model=origin.model,
            ),
            valid_from_millis=given.valid_from_millis,
            valid_until_millis=given.valid_until_millis,
            evidence_sources=given.evidence_sources or UNSET,
        ),
        reported_by=stored.reported_by,
        created_at_millis=stored.created_at_millis,
        modified_at_millis=stored.modified_at_millis,
        state=stored.state,
        review=stored.review,
    )
