"""The rows of each family of events."""

from __future__ import annotations

from typing import assert_never

from relatum.core import digests, journal
from relatum.core.changes import JournalHead, RecordChange, RecordEntry, RelationChange, RelationEntry
from relatum.core.decide.activations import ActivationDecision
from relatum.core.decide.checkpoints import CheckpointDecision
from relatum.core.decide.credentials import CredentialDecision
from relatum.core.decide.records import RecordDecision
from relatum.core.decide.relations import RelationDecision
from relatum.core.events import (
    Event,
    Head,
    RecordCreated,
    RecordDeleted,
    RecordDerived,
    RecordReviewed,
    RecordRevised,
)
from relatum.core.ids import uuid_bytes
from relatum.core.relations import StoredRelation
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.store import keys, rows
from relatum.store.keys import Table, Use
from relatum.store.projection.staging import Staging

Decision = RecordDecision | RelationDecision | CredentialDecision | ActivationDecision | CheckpointDecision


def project(staging: Staging, decision: Decision) -> None:
    """Stages every row of an accepted command. The rows are complete: nothing else is written for it."""
    match decision:
        case RecordDecision():
            _record(staging, decision)
        case RelationDecision():
            _relation(staging, decision)
        case CredentialDecision():
            _credential(staging, decision)
        case ActivationDecision(event=event, tip=tip):
            head = staging.head()
            staging.advance(event, Head(streams={**head.streams, event.stream: tip}))
        case CheckpointDecision():
            _checkpoint(staging, decision)
        case _:
            assert_never(decision)


def _relation(staging: Staging, decision: RelationDecision) -> None:
    event, before, after = decision.event, decision.before, decision.after
    receipt, k = event.receipt, staging.keys
    version = rows.Version(event.sequence, bytes.fromhex(receipt.relation_digest), decision.canonical).pack()
    staging.put(k.relation(after.relation_id), version)
    staging.put(k.relation_revision(after.relation_id, after.revision), version)
    if before is None:
        _relation_uses(staging, after)
    _index(staging, before is not None and before.indexed, after)
    _receipt(
        staging, "relation", event.author.subject_id, receipt.idempotency_key, event.sequence, receipt.command_digest
    )
    change = journal.relation_change(receipt, after.input)
    staging.advance(event, _journaled(staging, RELATIONS, event, change))


def _relation_uses(staging: Staging, relation: StoredRelation) -> None:
    given, k, own = relation.input, staging.keys, relation.relation_id
    staging.put(k.dependent(given.source.record_id, Use.SOURCE, own), rows.pack_u64(given.source.revision))
    staging.put(k.dependent(given.target.record_id, Use.TARGET, own), rows.pack_u64(given.target.revision))
    for ref in given.evidence_sources:
        staging.put(k.dependent(ref.record_id, Use.EVIDENCE, own), rows.pack_u64(ref.revision))


def _index(staging: Staging, was_indexed: bool, after: StoredRelation) -> None:
    if after.indexed == was_indexed:
        return
    given, own = after.input, after.relation_id
    forward, backward = rows.pack_adjacency(given.kind, given.target), rows.pack_adjacency(given.kind, given.source)
    staging.index(Table.OUTGOING, given.source, own, forward, present=after.indexed)
    staging.index(Table.INCOMING, given.target, own, backward, present=after.indexed)


def _record(staging: Staging, decision: RecordDecision) -> None:
    event, after = decision.event, decision.after
    receipt, operation, k = event.receipt, event.operation, staging.keys
    record_id, revision = after.record_id, after.revision
    version = rows.Version(event.sequence, bytes.fromhex(receipt.record_digest), decision.canonical).pack()
    staging.put(k.record(record_id), version)
    staging.put(k.record_revision(record_id, revision), version)
    staging.put(k.header(record_id, revision), rows.Completeness().pack())
    match operation:
        case RecordCreated():
            _hold_topic(staging, decision)
        case RecordDerived():
            _hold_topic(staging, decision)
            for ref in operation.derivation.sources:
                staging.put(k.dependent(ref.record_id, Use.DERIVED, record_id), rows.pack_u64(ref.revision))
        case RecordRevised():
            _free_topic(staging, record_id, revision - 1)
            _hold_topic(staging, decision)
        case RecordDeleted():
            _free_topic(staging, record_id, revision - 1)
            staging.delete_all(k.payloads(record_id))
        case RecordReviewed():
            pass
        case _:
            assert_never(operation)
    if decision.payload is not None:
        staging.put(k.payload(record_id, revision), rows.PAYLOAD.encode(decision.payload))
    _receipt(
        staging, "record", event.author.subject_id, receipt.idempotency_key, event.sequence, receipt.command_digest
    )
    _workspace(staging)
    staging.advance(event, _journaled(staging, RECORDS, event, journal.record_change(receipt)))


def _hold_topic(staging: Staging, decision: RecordDecision) -> None:
    payload = decision.payload.payload if decision.payload else None
    if payload is not None and payload.topic_key is not None:
        staging.put(staging.keys.topic(payload.topic_key), uuid_bytes(decision.after.record_id))


def _free_topic(staging: Staging, record_id: str, revision: int) -> None:
    version = staging.record_revision(record_id, revision)
    topic = None if version is None else staging.topic_of(record_id, version.meta.payload_revision)
    if topic is not None:
        staging.delete(staging.keys.topic(topic))


def _workspace(staging: Staging) -> None:
    """A workspace appears in its company's list with its first record."""
    tip = staging.head().streams.get(RECORDS)
    if tip is None or tip.sequence == 0:
        key = keys.workspace(staging.partition.company_id, staging.workspace_id)
        staging.put(key, rows.PARTITION.encode(staging.partition))


def _credential(staging: Staging, decision: CredentialDecision) -> None:
    event, after = decision.event, decision.after
    credential = after.credential
    company_id = staging.partition.company_id
    body = rows.CREDENTIAL.encode(after)
    staging.put(staging.keys.credential(credential.id), body)
    place = rows.CredentialPlace(digests.credential_digest(body), company_id)
    staging.put(keys.credential_company(credential.id), place.pack())
    if event.sequence == 1:
        staging.put(keys.company(company_id), company_id.encode())
    staging.advance(event, staging.head())


def _checkpoint(staging: Staging, decision: CheckpointDecision) -> None:
    event, after, k = decision.event, decision.after, staging.keys
    subject_id = event.author.subject_id
    row = rows.CHECKPOINT.encode(rows.StoredCheckpoint(sequence=event.sequence, checkpoint=after))
    staging.put(k.checkpoint(event.stream, subject_id, after.consumer_id), row)
    staging.put(k.checkpoint_revision(event.stream, subject_id, after.consumer_id, after.revision), row)
    _receipt(staging, "checkpoint", subject_id, event.command.idempotency_key, event.sequence, event.command_digest)
    staging.advance(event, staging.head())


def _receipt(staging: Staging, family: str, subject_id: str, key: str, sequence: int, command_digest: str) -> None:
    staging.put(staging.keys.receipt(family, subject_id, key), rows.ReceiptPointer(sequence, command_digest).pack())
    staging.put(staging.keys.receipt_witness(family, subject_id, key), rows.pack_u64(sequence))


def _journaled(staging: Staging, stream: Stream, event: Event, change: RecordChange | RelationChange) -> Head:
    """Stages the journal entry of `change`; the head with the stream's new tip."""
    head = staging.head()
    tip = _tip(staging, stream, event)
    nonce = event.nonces[0]
    extended = journal.extended(staging.workspace_id, stream, tip, nonce, change)
    key = staging.keys.journal_entry(stream, extended.sequence)
    sequence, prefix_digest = event.sequence, extended.prefix_digest
    if isinstance(change, RelationChange):
        entry = RelationEntry(commit_sequence=sequence, nonce=nonce, prefix_digest=prefix_digest, change=change)
        staging.put(key, rows.RELATION_ENTRY.encode(entry))
    else:
        other = RecordEntry(commit_sequence=sequence, nonce=nonce, prefix_digest=prefix_digest, change=change)
        staging.put(key, rows.RECORD_ENTRY.encode(other))
    return Head(streams={**head.streams, stream: extended})


def _tip(staging: Staging, stream: Stream, event: Event) -> JournalHead:
    tip = staging.tip(stream)
    return tip if tip is not None else journal.opened(staging.workspace_id, stream, event.journal_ids[stream])
