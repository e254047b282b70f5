"""A partition's rows, derived again from its events and payloads.

The proof that events are the truth: applied to an empty store they give the same rows, byte for byte.
"""

from __future__ import annotations

from typing import assert_never

from relatum.core import digests, journal, transitions
from relatum.core.candidates import Words
from relatum.core.canonical import encode
from relatum.core.decide import links
from relatum.core.decide.activations import ActivationDecision
from relatum.core.decide.checkpoints import CheckpointDecision
from relatum.core.decide.credentials import CredentialDecision
from relatum.core.decide.judgments import JudgmentDecision
from relatum.core.decide.record_events import RecordDecision
from relatum.core.decide.relations import FoundDecision, RelationDecision
from relatum.core.events import (
    NEW_RECORDS,
    ActivationEvent,
    CheckpointEvent,
    CredentialEvent,
    CredentialIssued,
    Event,
    FoundEvent,
    JudgmentEvent,
    LinkEvent,
    RecordEvent,
    RelationEvent,
    StaleMarked,
    StandingSet,
)
from relatum.core.records import PayloadRow
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.partition import PartitionReader
from relatum.store.projection.apply import Decision, project
from relatum.store.projection.staged_partition import Staging

Erasable = PayloadRow | Words
"""What an event brought that a deletion may have erased since."""


def rebuild(source: PartitionReader, target: Staging) -> int:
    """Applies every event of `source` to `target`, which holds nothing of this partition yet; the number of events.

    Raises StorageInconsistency where an event is missing, off the chain, or does not give what its receipt says.
    """
    tip = source.head()
    for sequence in range(1, tip.sequence + 1):
        event = source.event(sequence)
        if event is None:
            raise StorageInconsistency("an event is missing")
        apply_event(target, event, payload_of(source, event))
    if target.head() != tip:
        raise StorageInconsistency("the events do not lead to the stored head")
    return tip.sequence


def apply_event(target: Staging, event: Event, payload: Erasable | None) -> None:
    """Stages the rows of the next event of a partition, given the erasable row it brought if that still exists."""
    head = target.head()
    if event.sequence != head.sequence + 1 or event.previous != head.event_digest:
        raise StorageInconsistency("an event is off the chain")
    project(target, replay(target, event, payload))
    target.keep()


def replay(target: Staging, event: Event, payload: Erasable | None) -> Decision:
    """The decision that an event records, from the state before it."""
    at_millis, author = event.committed_at_millis, event.author
    match event:
        case RecordEvent():
            new = isinstance(event.operation, NEW_RECORDS)
            known = None if new else target.record(event.record_id)
            record = transitions.record_after(
                known.meta if known else None, event.operation, event.record_id, at_millis, author
            )
            canonical = encode(record)
            _agree(digests.record_digest(canonical), event.receipt.record_digest)
            return RecordDecision(event, record, canonical, payload if isinstance(payload, PayloadRow) else None)
        case RelationEvent():
            current = None if event.receipt.revision == 1 else target.relation(event.relation_id)
            before = current.relation if current else None
            relation = transitions.relation_after(before, event.operation, event.relation_id, at_millis, author)
            canonical = encode(relation)
            _agree(digests.relation_digest(canonical), event.receipt.relation_digest)
            return RelationDecision(event, before, relation, canonical)
        case FoundEvent(receipt=receipt):
            found = target.relation(receipt.relation_id)
            if found is None or found.relation.revision != receipt.revision:
                raise StorageInconsistency("an event names a relation that is not as it was found")
            _agree(found.digest, receipt.relation_digest)
            return FoundDecision(event)
        case CredentialEvent():
            operation = event.operation
            was = None if isinstance(operation, CredentialIssued) else target.credential(operation.credential_id)
            company_id = target.partition.company_id
            return CredentialDecision(
                event, transitions.credential_after(was, operation, company_id, at_millis, author)
            )
        case ActivationEvent():
            journal_id = event.journal_ids[event.stream]
            return ActivationDecision(event, journal.opened(target.workspace_id, event.stream, journal_id))
        case CheckpointEvent():
            command = event.command
            saved = target.checkpoint(event.stream, author.subject_id, command.consumer_id)
            after = transitions.checkpoint_after(target.workspace_id, event.stream, saved, command, at_millis, author)
            _agree(bytes.fromhex(after.checkpoint_digest), event.receipt.checkpoint.checkpoint_digest)
            return CheckpointDecision(event, after)
        case JudgmentEvent():
            return JudgmentDecision(event, payload if isinstance(payload, Words) else None)
        case LinkEvent():
            return links.replayed(target, event)
        case _:
            assert_never(event)


def _agree(digest: bytes, stated: str) -> None:
    if digest.hex() != stated:
        raise StorageInconsistency("an event does not lead to the digest of its receipt")


def payload_of(source: PartitionReader, event: Event) -> Erasable | None:
    """The erasable row that an event brought; None if it brought none, or it was erased."""
    if isinstance(event, JudgmentEvent):
        return source.words(event.sequence)
    if not isinstance(event, RecordEvent) or isinstance(event.operation, StandingSet | StaleMarked):
        return None  # a change of standing brings no row of its own, and shares its revision with the row that did
    body = source.body(source.keys.payload(event.record_id, event.receipt.revision))
    return None if body is None else rows.PAYLOAD.decode(body)
