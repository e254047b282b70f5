"""Typed relations: what a client asserts, what is stored, what is answered (relations.md)."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET

from relatum.core.answers import relations as answered
from relatum.core.answers.records import Disposition
from relatum.core.answers.relations import Origin, ProvenanceView, Relation, RelationInputView, RelationState
from relatum.core.ids import Author, Ref
from relatum.core.kinds import Kind
from relatum.core.records import Review
from relatum.core.wire import Millis, Sparse, Uuid, check_i64


class Model(answered.ModelView, frozen=True, kw_only=True, forbid_unknown_fields=True):
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
