"""The rows of each family of events."""

from __future__ import annotations

from typing import assert_never

from relatum.core import digests, journal
from relatum.core.candidates import Orphaned
from relatum.core.changes import RecordChange, RelationChange
from relatum.core.decide.activations import ActivationDecision
from relatum.core.decide.checkpoints import CheckpointDecision
from relatum.core.decide.credentials import CredentialDecision
from relatum.core.decide.judgments import JudgmentDecision
from relatum.core.decide.links import LinkDecision
from relatum.core.decide.record_events import RecordDecision
from relatum.core.decide.relations import FoundDecision, RelationDecision
from relatum.core.events import (
    NEW_RECORDS,
    Event,
    JudgmentEvent,
    RecordCreated,
    RecordDeleted,
    RecordDerived,
    RecordReviewed,
    RecordRevised,
    RecordSaved,
    StaleMarked,
    StandingSet,
    StoredRecordOperation,
)
from relatum.core.ids import Author
from relatum.core.promotions import Suspicion
from relatum.core.records import Payload
from relatum.core.relation_events import receipt_family
from relatum.core.standings import StandingChange
from relatum.core.stored_judgments import Promoted, SweepRun
from relatum.core.streams import RECORDS
from relatum.store import keys, rows
from relatum.store.keys import Use
from relatum.store.projection.candidates import erase_words
from relatum.store.projection.consequences import stage_consequences
from relatum.store.projection.facts import erase_facts, leave_fact, list_content, unlist_content
from relatum.store.projection.instants import stage_expiry
from relatum.store.projection.journal_entries import journaled
from relatum.store.projection.links import put_link, remove_link, remove_links
from relatum.store.projection.relations import stage_relation
from relatum.store.projection.staged_partition import Staging
from relatum.store.projection.standings import (
    free_topic,
    hold_topic,
    stage_stale_mark,
    stage_standing,
    unpin_deleted,
)

Decision = (
    RecordDecision
    | RelationDecision
    | FoundDecision
    | CredentialDecision
    | ActivationDecision
    | CheckpointDecision
    | JudgmentDecision
    | LinkDecision
)


def project(staging: Staging, decision: Decision) -> None:
    """Stages every row of an accepted command. The rows are complete: nothing else is written for it."""
    match decision:
        case RecordDecision():
            _record(staging, decision)
        case RelationDecision():
            _relation(staging, decision)
        case FoundDecision(event=found):
            _receipt(staging, found.author, found.receipt.idempotency_key, found, found.receipt.command_digest)
            staging.advance(found, staging.head().streams)
        case CredentialDecision():
            _credential(staging, decision)
        case ActivationDecision(event=event, tip=tip):
            staging.advance(event, {**staging.head().streams, event.stream: tip})
        case CheckpointDecision():
            _checkpoint(staging, decision)
        case JudgmentDecision():
            _judgment(staging, decision)
        case LinkDecision():
            _link(staging, decision)
        case _:
            assert_never(decision)


def _relation(staging: Staging, decision: RelationDecision) -> None:
    event, after = decision.event, decision.after
    receipt = event.receipt
    stage_relation(staging, receipt, decision.before, after, decision.canonical)
    _receipt(staging, event.author, receipt.idempotency_key, event, receipt.command_digest)
    changes = [journal.relation_change(receipt, after.input), *stage_consequences(staging, event, None)]
    staging.advance(event, journaled(staging, event, changes))


def _record(staging: Staging, decision: RecordDecision) -> None:
    event, after = decision.event, decision.after
    receipt, operation, record_id = event.receipt, event.operation, after.record_id
    if isinstance(operation, StandingSet):
        change = StandingChange(record_id=record_id, action=operation.action)
        stage_standing(staging, change, event.committed_at_millis)
        changes: list[RecordChange | RelationChange] = []
    elif isinstance(operation, StaleMarked):
        stage_stale_mark(staging, operation)
        changes = []
    else:
        changes = _revision(staging, decision)
    _receipt(staging, event.author, receipt.idempotency_key, event, receipt.command_digest)
    staging.advance(event, journaled(staging, event, [journal.record_change(receipt), *changes]))


def _revision(staging: Staging, decision: RecordDecision) -> list[RecordChange | RelationChange]:
    """The rows of a new revision and of what comes with it; the changes besides its own."""
    event, after, k = decision.event, decision.after, staging.keys
    operation, record_id, revision = event.operation, after.record_id, after.revision
    current = True
    if isinstance(operation, (RecordRevised, RecordDeleted)):
        current = staging.standing(record_id).state == "current"
        replaced = staging.kept_payload(record_id)
        unlist_content(staging, record_id, replaced)
        leave_fact(staging, record_id, replaced)
        if current:
            free_topic(staging, record_id, replaced)
    version = rows.pack_version(event.sequence, bytes.fromhex(event.receipt.record_digest), decision.canonical)
    staging.put(k.record(record_id), version)
    staging.put(k.record_revision(record_id, revision), version)
    if after.content_revision == revision:
        staging.put(k.header(record_id, revision), rows.Completeness())
    if decision.payload is not None:
        staging.put(k.payload(record_id, revision), rows.PAYLOAD.encode(decision.payload))
    if isinstance(operation, (*NEW_RECORDS, RecordRevised)):
        stage_expiry(staging, record_id, operation.facts)
    changes = stage_consequences(staging, event, None)
    brought = None if decision.payload is None else decision.payload.payload
    _derived_rows(staging, operation, record_id, brought, current=current)
    _workspace(staging)
    return changes


def _derived_rows(
    staging: Staging, operation: StoredRecordOperation, record_id: str, brought: Payload | None, *, current: bool
) -> None:
    """What else is kept of a new revision, which brought a content unless that was erased since.

    `current` is whether the record's standing was before it.
    """
    k = staging.keys
    match operation:
        case RecordCreated() | RecordSaved():
            hold_topic(staging, record_id, brought)
            list_content(staging, record_id, brought)
        case RecordDerived():
            hold_topic(staging, record_id, brought)
            list_content(staging, record_id, brought)
            for ref in operation.derivation.sources:
                staging.use(staging.content_of(ref), Use.DERIVED, record_id)
        case RecordRevised():
            list_content(staging, record_id, brought)
            if current:
                hold_topic(staging, record_id, brought)
        case RecordDeleted():
            erase_facts(staging, record_id)
            staging.delete_all(k.payloads(record_id))
            erase_words(staging, record_id)
            unpin_deleted(staging, record_id)
            remove_links(staging, record_id)
        case RecordReviewed() | StandingSet() | StaleMarked():
            pass
        case _:
            assert_never(operation)


def _judgment(staging: Staging, decision: JudgmentDecision) -> None:
    event = decision.event
    changes = stage_consequences(staging, event, decision.words)
    if isinstance(event.operation, SweepRun):
        _swept(staging, event, event.operation)
    elif isinstance(event.operation, Promoted):
        _promoted(staging, event.operation)
    _receipt(staging, event.author, event.idempotency_key, event, event.command_digest)
    staging.advance(event, journaled(staging, event, changes))


def _promoted(staging: Staging, promoted: Promoted) -> None:
    """The counters of promotion: for each day, and for each pair that was found to contradict itself."""
    k, run_date = staging.keys, promoted.run.run_date
    count = sum(outcome.outcome == "promoted" for outcome in promoted.outcomes)
    if count:
        staging.put(k.promoted(run_date), rows.PROMOTED.encode(staging.promoted_on(run_date) + count))
    for one, other in promoted.suspicions:
        dates = Suspicion(run_dates=(*staging.suspicion(one, other), run_date))
        staging.put(k.suspicion(one, other), rows.SUSPICION.encode(dates))


def _link(staging: Staging, decision: LinkDecision) -> None:
    event, before, after = decision.event, decision.before, decision.after
    if after is None:
        assert before is not None
        remove_link(staging, before)
    else:
        put_link(staging, after)
    receipt = event.receipt
    _receipt(staging, event.author, receipt.idempotency_key, event, receipt.command_digest)
    staging.advance(event, staging.head().streams)


def _swept(staging: Staging, event: JudgmentEvent, run: SweepRun) -> None:
    """Where an undo finds what a run did."""
    changes = event.consequences.candidates if event.consequences else ()
    operations = [change.operation_id for change in changes if isinstance(change, Orphaned)]
    for target_id in (run.run_id, *operations):
        staging.put(staging.keys.swept(target_id), rows.pack_u64(event.sequence))


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
    staging.advance(event, staging.head().streams)


def _checkpoint(staging: Staging, decision: CheckpointDecision) -> None:
    event, after, k = decision.event, decision.after, staging.keys
    subject_id = event.author.subject_id
    row = rows.CHECKPOINT.encode(rows.StoredCheckpoint(sequence=event.sequence, checkpoint=after))
    staging.put(k.checkpoint(event.stream, subject_id, after.consumer_id), row)
    staging.put(k.checkpoint_revision(event.stream, subject_id, after.consumer_id, after.revision), row)
    _receipt(staging, event.author, event.command.idempotency_key, event, event.command_digest)
    staging.advance(event, staging.head().streams)


def _receipt(staging: Staging, author: Author, key: str, event: Event, command_digest: str) -> None:
    family, subject_id = receipt_family(event), author.subject_id
    staging.put(staging.keys.receipt(family, subject_id, key), rows.pack_receipt(event.sequence, command_digest))
    staging.put(staging.keys.receipt_witness(family, subject_id, key), rows.pack_u64(event.sequence))
