"""Static rules of relation commands (relations.md, static rules)."""

from __future__ import annotations

from relatum import limits
from relatum.core import text
from relatum.core.commands import AssertRelation, RelationOperation
from relatum.core.relations import Model, Provenance, RelationInput


def broken_rule(operation: RelationOperation, idempotency_key: str) -> str | None:
    """The first static rule that a command breaks, in words; None for a sound command."""
    if not text.is_idempotency_key(idempotency_key):
        return "the idempotency key must be 1 to 256 bytes, not blank, without control characters"
    if isinstance(operation, AssertRelation):
        return _input_problem(operation.relation)
    if operation.expected_revision < 1:
        return "expected_revision starts at 1"
    if not text.is_evidence_ref(operation.evidence_ref):
        return "evidence_ref must be 1 to 2048 bytes, not blank, without control characters"
    return None


def _input_problem(given: RelationInput) -> str | None:
    if given.source.record_id == given.target.record_id:
        return "source and target must be different records"
    if given.source.revision < 1 or given.target.revision < 1:
        return "revisions start at 1"
    begins, ends = given.valid_from_millis, given.valid_until_millis
    if begins is not None and ends is not None and begins >= ends:
        return "valid_from_millis must lie before valid_until_millis"
    return provenance_problem(given.provenance) or _evidence_problem(given)


def provenance_problem(provenance: Provenance) -> str | None:
    """What is wrong with how an assertion came about."""
    if not (text.is_method(provenance.method) and text.is_method(provenance.method_revision)):
        return "method and method_revision must be 1 to 256 bytes, not blank, without control characters"
    if not text.is_evidence_ref(provenance.evidence_ref):
        return "evidence_ref must be 1 to 2048 bytes, not blank, without control characters"
    if provenance.model is None:
        return "model_inference needs a model" if provenance.origin == "model_inference" else None
    return None if _is_complete(provenance.model) else "a model needs provider, model and revision"


def _is_complete(model: Model) -> bool:
    return text.is_method(model.provider) and text.is_method(model.model) and text.is_method(model.revision)


def _evidence_problem(given: RelationInput) -> str | None:
    sources = given.evidence_sources
    if not sources:
        return None
    if len(sources) > limits.EVIDENCE_SOURCES_MAX:
        return "at most 16 evidence sources"
    ids = {source.record_id for source in sources}
    if len(ids) != len(sources):
        return "evidence sources must be distinct"
    if given.source.record_id in ids or given.target.record_id in ids:
        return "an endpoint can't be its own evidence"
    if any(source.revision < 1 for source in sources):
        return "revisions start at 1"
    return None
