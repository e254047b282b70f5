"""The rows of what a command brings about besides its own."""

from __future__ import annotations

from relatum.core import digests, journal, transitions
from relatum.core.candidates import Words
from relatum.core.canonical import encode
from relatum.core.changes import RecordChange, RelationChange
from relatum.core.commands import AssertRelation
from relatum.core.consequences import RelationPart
from relatum.core.events import Event, JudgmentEvent, RecordEvent
from relatum.core.relation_events import receipt_of
from relatum.core.stored_judgments import SweepRun
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.projection.candidates import stage_candidate
from relatum.store.projection.relations import stage_relation, stage_verdict
from relatum.store.projection.staged_partition import Staging
from relatum.store.projection.standings import stage_confirmation, stage_standing


def stage_consequences(staging: Staging, event: Event, words: Words | None) -> list[RecordChange | RelationChange]:
    """Stages the consequences of an event, with the words of a verdict if they still exist; the changes they make."""
    given = event.consequences
    if given is None:
        return []
    at_millis = event.committed_at_millis
    by_timer = isinstance(event, JudgmentEvent) and isinstance(event.operation, SweepRun) and event.operation.by_timer
    author = None if by_timer else event.author
    words_at = event.sequence if given.words is not None else None
    changes: list[RecordChange | RelationChange] = [
        _stage_part(staging, event, part, words_at) for part in given.relations
    ]
    for standing in given.standings:
        stage_standing(staging, standing, at_millis, for_topic=isinstance(event, RecordEvent))
        version = staging.record(standing.record_id)
        receipt = receipt_of(event)
        if version is None or receipt is None:
            raise StorageInconsistency("the record of a standing is missing")
        changes.append(journal.standing_change(standing.action, version, receipt))
    for candidate in given.candidates:
        stage_candidate(staging, candidate, at_millis, author, words_at)
    for confirmation in given.confirmations:
        stage_confirmation(staging, confirmation, at_millis)
    if words is not None and words_at is not None:
        staging.put(staging.keys.words(words_at), rows.WORDS.encode(words))
    return changes


def _stage_part(staging: Staging, event: Event, part: RelationPart, words_at: int | None) -> RelationChange:
    asserts = isinstance(part.operation, AssertRelation)
    known = None if asserts else staging.relation(part.relation_id)
    if known is None and not asserts:
        raise StorageInconsistency("a relation is missing")
    before = known.relation if known else None
    after = transitions.relation_after(
        before, part.operation, part.relation_id, event.committed_at_millis, event.author
    )
    canonical = encode(after)
    if digests.relation_digest(canonical).hex() != part.receipt.relation_digest:
        raise StorageInconsistency("an event does not lead to the digest of its receipt")
    stage_relation(staging, part.receipt, before, after, canonical)
    if asserts and not part.plain:
        stage_verdict(staging, part, after, words_at)
    return journal.relation_change(part.receipt, after.input)
