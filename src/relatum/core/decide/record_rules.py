"""Static rules of record commands: what is wrong with a command whatever the state (transport.md, string classes)."""

from __future__ import annotations

from relatum import limits
from relatum.core import text
from relatum.core.commands import (
    CreateRecord,
    DeriveRecord,
    MarkStale,
    RecordOperation,
    ReviewRecord,
    ReviseRecord,
    SaveRecord,
)
from relatum.core.records import Derivation, RecordInput, RecordProvenance


def broken_rule(operation: RecordOperation, idempotency_key: str) -> str | None:
    """The first static rule that a command breaks, in words; None for a sound command."""
    if not text.is_idempotency_key(idempotency_key):
        return "the idempotency key must be 1 to 256 bytes, not blank, without control characters"
    if isinstance(operation, MarkStale):
        return _mark_problem(operation)
    if not isinstance(operation, (CreateRecord, DeriveRecord, SaveRecord)) and operation.expected_revision < 1:
        return "expected_revision starts at 1"
    if isinstance(operation, ReviewRecord) and not text.is_evidence_ref(operation.evidence_ref):
        return "evidence_ref must be 1 to 2048 bytes, not blank, without control characters"
    if isinstance(operation, DeriveRecord):
        return _record_problem(operation.record) or _derivation_problem(operation.derivation)
    if isinstance(operation, (CreateRecord, ReviseRecord, SaveRecord)):
        return _record_problem(operation.record)
    return None


def _mark_problem(operation: MarkStale) -> str | None:
    if operation.because.revision < 1:
        return "revisions start at 1"
    if operation.because.record_id == operation.record_id:
        return "a record can't make itself stale"
    if operation.confidence is not None and not 0.0 <= operation.confidence <= 1.0:
        return "confidence must lie between 0 and 1"
    return None


def _record_problem(record: RecordInput) -> str | None:
    if text.is_blank(record.content) or text.utf8_length(record.content) > limits.CONTENT_BYTES_MAX:
        return "content must be 1 byte to 48 KiB and not blank"
    if record.title is not None and text.utf8_length(record.title) > limits.TITLE_BYTES_MAX:
        return "title must be at most 200 bytes"
    tags = record.tags or ()
    if len(tags) > limits.TAGS_MAX or len(set(tags)) != len(tags):
        return "tags must be distinct and at most 32"
    if not all(1 <= text.utf8_length(tag) <= limits.TAG_BYTES_MAX for tag in tags):
        return "a tag must be 1 to 64 bytes"
    for name in (record.category, record.topic_key, record.fact_key):
        if name is not None and not text.is_identifier(name):
            return "category, topic_key and fact_key must be identifiers"
    if record.confidence is not None and not 0.0 <= record.confidence <= 1.0:
        return "confidence must lie between 0 and 1"
    return None if record.provenance is None else _provenance_problem(record.provenance)


def _provenance_problem(provenance: RecordProvenance) -> str | None:
    for name in (provenance.source_id, provenance.source_hash, provenance.source_revision):
        if name is not None and not text.is_evidence_ref(name):
            return "provenance members must be 1 to 2048 bytes, not blank, without control characters"
    return None


def _derivation_problem(derivation: Derivation) -> str | None:
    sources = derivation.sources
    if not 1 <= len(sources) <= limits.DERIVATION_SOURCES_MAX:
        return "a derivation has 1 to 16 sources"
    if len({source.record_id for source in sources}) != len(sources):
        return "derivation sources must be distinct"
    if any(source.revision < 1 for source in sources):
        return "revisions start at 1"
    if not (text.is_method(derivation.method) and text.is_method(derivation.method_revision)):
        return "method and method_revision must be 1 to 256 bytes, not blank, without control characters"
    if not text.is_evidence_ref(derivation.evidence_ref):
        return "evidence_ref must be 1 to 2048 bytes, not blank, without control characters"
    return None
