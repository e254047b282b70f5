"""Decisions on record commands (records.md, commands)."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from relatum import limits
from relatum.core import digests, transitions
from relatum.core.ancestry import BOUNDS
from relatum.core.canonical import encode
from relatum.core.commands import (
    CreateRecord,
    DeleteRecord,
    DeriveRecord,
    RecordOperation,
    ReviewRecord,
    ReviseRecord,
)
from relatum.core.decide.chain import journaling, linked
from relatum.core.decide.record_rules import broken_rule
from relatum.core.eligibility import Evaluator
from relatum.core.events import (
    RecordCreated,
    RecordDeleted,
    RecordDerived,
    RecordEvent,
    RecordReviewed,
    RecordRevised,
    Stamp,
    StoredRecordOperation,
)
from relatum.core.ids import uuid7
from relatum.core.receipts import RecordReceipt
from relatum.core.records import Derivation, Payload, PayloadRow, Proof, RecordInput, RecordMeta, split
from relatum.core.state import PartitionState
from relatum.core.streams import RECORDS
from relatum.errors import Refusal, Refused, invalid, missing, stale


class RecordDecision(NamedTuple):
    """An accepted record command.

    Its event, the record it leaves with its canonical bytes, the erasable row it brings.
    """

    event: RecordEvent
    after: RecordMeta
    canonical: bytes
    payload: PayloadRow | None


def decide(
    state: PartitionState, operation: RecordOperation, idempotency_key: str, command_digest: str, stamp: Stamp
) -> RecordDecision | Refusal:
    """Accepts or refuses a command whose key is new. Static rules, then unknown, stale, tombstone, then state rules."""
    problem = broken_rule(operation, idempotency_key)
    if problem is not None:
        return invalid(problem)
    try:
        match operation:
            case CreateRecord(record=record):
                return _create(state, record, None, idempotency_key, command_digest, stamp)
            case DeriveRecord(record=record, derivation=derivation):
                return _derive(state, record, derivation, idempotency_key, command_digest, stamp)
            case ReviseRecord() | DeleteRecord() | ReviewRecord():
                return _change(state, operation, idempotency_key, command_digest, stamp)
            case _:
                assert_never(operation)
    except Refused as refused:
        return refused.refusal


def _create(
    state: PartitionState,
    record: RecordInput,
    derivation: Derivation | None,
    key: str,
    command_digest: str,
    stamp: Stamp,
) -> RecordDecision | Refusal:
    if (taken := _topic_taken(state, record, None)) is not None:
        return taken
    facts, payload = split(record)
    row, proof = _sealed(stamp, payload=payload)
    operation: StoredRecordOperation
    if derivation is None:
        operation = RecordCreated(facts=facts, payload=proof)
    else:
        operation = RecordDerived(facts=facts, payload=proof, derivation=derivation)
    record_id = uuid7(stamp.at_millis, digests.draw(stamp.entropy, "record", 10))
    return _accept(state, operation, None, record_id, row, key, command_digest, stamp)


def _derive(
    state: PartitionState, record: RecordInput, derivation: Derivation, key: str, command_digest: str, stamp: Stamp
) -> RecordDecision | Refusal:
    failure = Evaluator(state, stamp.at_millis).derivation_failure(derivation.sources)
    if failure is not None:
        if failure.reason in BOUNDS:
            return invalid("the derivation is too deep, too wide or circular")
        if failure.reason == "source_missing":
            return missing("a derivation source does not exist")
        return stale("a derivation source has changed or is not eligible")
    return _create(state, record, derivation, key, command_digest, stamp)


def _change(
    state: PartitionState,
    operation: ReviseRecord | DeleteRecord | ReviewRecord,
    key: str,
    command_digest: str,
    stamp: Stamp,
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
    row: PayloadRow | None = None
    stored: StoredRecordOperation
    match operation:
        case DeleteRecord():
            stored = RecordDeleted(record_id=before.record_id, expected_revision=before.revision)
        case ReviewRecord():
            row, proof = _sealed(stamp, evidence_ref=operation.evidence_ref)
            stored = RecordReviewed(
                record_id=before.record_id,
                expected_revision=before.revision,
                disposition=operation.disposition,
                evidence=proof,
            )
        case ReviseRecord():
            if before.derivation is not None:
                return stale("a derived record can't be revised")
            if (taken := _topic_taken(state, operation.record, before.record_id)) is not None:
                return taken
            facts, payload = split(operation.record)
            row, proof = _sealed(stamp, payload=payload)
            stored = RecordRevised(
                record_id=before.record_id, expected_revision=before.revision, facts=facts, payload=proof
            )
        case _:
            assert_never(operation)
    return _accept(state, stored, before, before.record_id, row, key, command_digest, stamp)


def _topic_taken(state: PartitionState, record: RecordInput, own_id: str | None) -> Refusal | None:
    if record.topic_key is None:
        return None
    holder = state.topic_holder(record.topic_key)
    return stale("the topic key is held by another record") if holder not in (None, own_id) else None


def _sealed(stamp: Stamp, payload: Payload | None = None, evidence_ref: str | None = None) -> tuple[PayloadRow, Proof]:
    row = PayloadRow(salt=digests.draw(stamp.entropy, "salt", 16), payload=payload, evidence_ref=evidence_ref)
    return row, Proof(digest=digests.payload_digest(row), length=len(encode(row)))


def _accept(
    state: PartitionState,
    operation: StoredRecordOperation,
    before: RecordMeta | None,
    record_id: str,
    row: PayloadRow | None,
    key: str,
    command_digest: str,
    stamp: Stamp,
) -> RecordDecision | Refusal:
    after = transitions.record_after(before, operation, record_id, stamp.at_millis, stamp.author)
    canonical = encode(after)
    if stored_length(after, len(canonical)) > limits.RECORD_BYTES_MAX and not isinstance(operation, RecordDeleted):
        return invalid("the stored record would be over 64 KiB")
    head = state.head()
    receipt = RecordReceipt(
        contract_version=1,
        idempotency_key=key,
        record_id=record_id,
        revision=after.revision,
        action=transitions.RECORD_ACTIONS[type(operation)],
        author=stamp.author,
        committed_at_millis=stamp.at_millis,
        record_digest=digests.record_digest(canonical).hex(),
        command_digest=command_digest,
        receipt_digest="",
        commit_sequence=head.sequence + 1,
    )
    event = RecordEvent(
        record_id=record_id,
        operation=operation,
        receipt=digests.sealed_receipt(state.workspace_id, receipt),
        **linked(head, state.partition, stamp),
        **journaling(head, RECORDS, stamp),
    )
    return RecordDecision(event, after, canonical, row)


def stored_length(meta: RecordMeta, canonical_length: int) -> int:
    """Stored bytes of a record: its kept part, its content and the evidence reference of its review."""
    if meta.state == "deleted":
        return canonical_length
    return canonical_length + meta.payload.length + (meta.review.evidence.length if meta.review else 0)
