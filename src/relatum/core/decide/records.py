"""Decisions on record commands (records.md, commands)."""

from __future__ import annotations

from typing import assert_never

from relatum.core.ancestry import BOUNDS
from relatum.core.commands import (
    ArchiveRecord,
    CreateRecord,
    DeleteRecord,
    DeriveRecord,
    MarkStale,
    PinRecord,
    RecordOperation,
    ReviewRecord,
    ReviseRecord,
    SaveRecord,
    StandingOperation,
    UnarchiveRecord,
    UnpinRecord,
)
from relatum.core.decide.event_envelope import Asked, new_id
from relatum.core.decide.record_events import RecordDecision, accept, sealed
from relatum.core.decide.record_rules import broken_rule
from relatum.core.decide.saves import NOTHING_DETECTED, Detected, save
from relatum.core.decide.standings import standing_change
from relatum.core.decide.verdicts import is_fit
from relatum.core.eligibility import Evaluator
from relatum.core.events import (
    RecordCreated,
    RecordDeleted,
    RecordDerived,
    RecordReviewed,
    RecordRevised,
    StaleMarked,
    Stamp,
    StandingSet,
    StoredRecordOperation,
)
from relatum.core.records import Derivation, PayloadRow, RecordInput, split
from relatum.core.standings import StaleMark
from relatum.core.state import PartitionState, RecordVersion
from relatum.errors import Refusal, Refused, invalid, missing, stale
from relatum.limits import STALE_MARKS_MAX


def decide(
    state: PartitionState,
    operation: RecordOperation,
    idempotency_key: str,
    command_digest: str,
    stamp: Stamp,
    detected: Detected = NOTHING_DETECTED,
) -> RecordDecision | Refusal:
    """Accepts or refuses a command whose key is new. Static rules, then unknown, stale, tombstone, then state rules.

    `detected` is what the search index knows of a save's neighbours.
    """
    problem = broken_rule(operation, idempotency_key)
    if problem is not None:
        return invalid(problem)
    asked = Asked(idempotency_key, command_digest, stamp)
    try:
        match operation:
            case CreateRecord(record=record):
                return _create(state, record, None, asked)
            case SaveRecord():
                return save(state, operation, detected, asked)
            case DeriveRecord(record=record, derivation=derivation):
                return _derive(state, record, derivation, asked)
            case MarkStale():
                return _mark_stale(state, operation, asked)
            case _:
                return _change(state, operation, asked)
    except Refused as refused:
        return refused.refusal


def _create(
    state: PartitionState,
    record: RecordInput,
    derivation: Derivation | None,
    asked: Asked,
) -> RecordDecision | Refusal:
    if _topic_taken(state, record, None):
        return _TOPIC_TAKEN
    facts, payload = split(record)
    row, proof = sealed(asked.stamp, payload=payload)
    operation: StoredRecordOperation
    if derivation is None:
        operation = RecordCreated(facts=facts, payload=proof)
    else:
        operation = RecordDerived(facts=facts, payload=proof, derivation=derivation)
    return accept(state, operation, None, new_id(asked.stamp, "record"), row, asked)


def _derive(
    state: PartitionState, record: RecordInput, derivation: Derivation, asked: Asked
) -> RecordDecision | Refusal:
    evaluator = Evaluator(state, asked.stamp.now_millis)
    failure = evaluator.derivation_failure(derivation.sources)
    if failure is not None:
        if failure.reason in BOUNDS:
            return invalid("the derivation is too deep, too wide or circular")
        place = evaluator.failing_pin(derivation.sources, depth=1)
        if failure.reason == "source_missing":
            return missing(f"the derivation source at {place}, or one that it was made of, does not exist")
        return stale(f"the derivation source at {place} is at another revision or not eligible")
    return _create(state, record, derivation, asked)


def _change(
    state: PartitionState,
    operation: ReviseRecord | DeleteRecord | ReviewRecord | StandingOperation,
    asked: Asked,
) -> RecordDecision | Refusal:
    version = state.record(operation.record_id)
    if version is None:
        return missing()
    state.verify_record(version)
    before = version.meta
    if before.revision != operation.expected_revision:
        return stale("the record is at another revision")
    if before.state == "deleted":
        return missing()
    changed = _changed(state, version, operation, asked.stamp)
    if isinstance(changed, Refusal):
        return changed
    stored, row = changed
    return accept(state, stored, before, before.record_id, row, asked)


def _mark_stale(state: PartitionState, operation: MarkStale, asked: Asked) -> RecordDecision | Refusal:
    version, later = state.record(operation.record_id), state.record(operation.because.record_id)
    if version is None or version.meta.state == "deleted":
        return missing()
    state.verify_record(version)
    if later is None or later.meta.state == "deleted":
        return missing("the later record does not exist")
    if not later.meta.holds(operation.because.revision):
        return stale("the later record is at another revision")
    marks = {mark.because.record_id for mark in state.standing(operation.record_id).stale_marks}
    lifted = {one for one in marks if _is_deleted(state, one)}
    if len((marks - lifted) | {operation.because.record_id}) > STALE_MARKS_MAX:
        return invalid("at most 16 records can make another one stale")
    mark = StaleMark(because=operation.because, confidence=operation.confidence)
    stored = StaleMarked(record_id=operation.record_id, mark=mark, lifted=tuple(sorted(lifted)))
    return accept(state, stored, version.meta, operation.record_id, None, asked)


def _is_deleted(state: PartitionState, record_id: str) -> bool:
    version = state.record(record_id)
    return version is not None and version.meta.state == "deleted"


def _changed(
    state: PartitionState,
    version: RecordVersion,
    operation: ReviseRecord | DeleteRecord | ReviewRecord | StandingOperation,
    stamp: Stamp,
) -> tuple[StoredRecordOperation, PayloadRow | None] | Refusal:
    """What is stored of a change of a retained record, with the erasable row it brings."""
    before = version.meta
    record_id, revision = before.record_id, before.revision
    match operation:
        case DeleteRecord():
            return RecordDeleted(record_id=record_id, expected_revision=revision), None
        case ReviewRecord(disposition=disposition):
            row, proof = sealed(stamp, evidence_ref=operation.evidence_ref)
            reviewed = RecordReviewed(
                record_id=record_id, expected_revision=revision, disposition=disposition, evidence=proof
            )
            return reviewed, row
        case ReviseRecord():
            if before.derivation is not None:
                return stale("a derived record can't be revised")
            if is_fit(state, version) and _topic_taken(state, operation.record, record_id):
                return _TOPIC_TAKEN
            facts, payload = split(operation.record)
            row, proof = sealed(stamp, payload=payload)
            return RecordRevised(record_id=record_id, expected_revision=revision, facts=facts, payload=proof), row
        case ArchiveRecord() | UnarchiveRecord() | PinRecord() | UnpinRecord():
            change = standing_change(state, operation)
            if isinstance(change, Refusal):
                return change
            return StandingSet(record_id=record_id, expected_revision=revision, action=change), None
        case _:
            assert_never(operation)


_TOPIC_TAKEN = stale("the topic key is held by another record")


def _topic_taken(state: PartitionState, record: RecordInput, own_id: str | None) -> bool:
    return record.topic_key is not None and state.topic_holder(record.topic_key) not in (None, own_id)
