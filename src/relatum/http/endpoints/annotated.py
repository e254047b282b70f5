"""Records with what judgments say of them: annotated, search, confirm, needs-review, topic keys (judgments.md)."""

from __future__ import annotations

from typing import Final

from relatum.core.answers.annotated import (
    AnnotatedAnswer,
    ConfirmAnswer,
    ConfirmedRecord,
    NeedsReviewAnswer,
    SearchAnswer,
    SearchCoverage,
    TopicSuggestionAnswer,
)
from relatum.core.judgment_queries import AnnotatedRead, NeedsReviewQuery, SearchQuery, TopicSuggestion
from relatum.core.judgments import ConfirmCommand
from relatum.errors import Refusal
from relatum.http.endpoints.judgment_requests import judged_alone
from relatum.http.routes import Route, needing, scanning
from relatum.http.server_state import Call, reader_of
from relatum.ledger.reads import judgments, needs_review, search, topics
from relatum.ledger.view import RequestView
from relatum.limits import CONTRACT_VERSION


def annotated(call: Call[AnnotatedRead], view: RequestView) -> AnnotatedAnswer | Refusal:
    """Up to 20 annotated records."""
    body = call.body
    found = judgments.annotated(reader_of(call, view), view.now_millis, body.record_ids, body.relations_max)
    if isinstance(found, Refusal):
        return found
    return AnnotatedAnswer(contract_version=CONTRACT_VERSION, scope=body.scope, records=found)


def search_records(call: Call[SearchQuery], view: RequestView) -> SearchAnswer | Refusal:
    """The best records for some words."""
    partition = reader_of(call, view)
    searched = view.searched(partition, call.body.text)
    records = search.search(
        partition, view.now_millis, call.body, (one.record_id for one in searched.found), view.share(call.body.text)
    )
    if isinstance(records, Refusal):
        return records
    coverage = SearchCoverage(
        indexed_changes=searched.indexed, changes=searched.changes, complete=searched.indexed == searched.changes
    )
    return SearchAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, records=records, coverage=coverage)


async def confirm(call: Call[ConfirmCommand]) -> ConfirmAnswer | Refusal:
    """Confirmations, all or nothing."""
    event = await judged_alone(call, call.body.operation)
    if isinstance(event, Refusal):
        return event
    given = event.consequences.confirmations if event.consequences else ()
    confirmations = tuple(
        ConfirmedRecord(record_id=one.record_id, outcome=one.outcome, at_millis=event.committed_at_millis)
        for one in given
    )
    return ConfirmAnswer(contract_version=CONTRACT_VERSION, confirmations=confirmations)


def to_review(call: Call[NeedsReviewQuery], view: RequestView) -> NeedsReviewAnswer:
    """Records that should be looked at again."""
    queue = needs_review.needs_review(reader_of(call, view), view.now_millis, call.body.records_max)
    return NeedsReviewAnswer(
        contract_version=CONTRACT_VERSION,
        scope=call.body.scope,
        records=queue.records,
        total=queue.total,
        coverage=queue.coverage,
    )


def suggest(call: Call[TopicSuggestion], view: RequestView) -> TopicSuggestionAnswer | Refusal:
    """A topic key for a record that has none."""
    body, partition = call.body, reader_of(call, view)
    hits = view.resembling(partition, body.content).hits
    found = topics.suggest(partition, view.now_millis, body.title, body.content, [hit.record_id for hit in hits])
    if isinstance(found, Refusal):
        return found
    return TopicSuggestionAnswer(
        contract_version=CONTRACT_VERSION,
        scope=body.scope,
        topic_key=found.topic_key,
        reason=found.reason,
        occupied=found.occupied,
        occupant=found.occupant,
        nearby=found.nearby,
    )


ROUTES: Final = (
    Route(
        path="/api/v1/memory/records/annotated",
        tag="judgments",
        summary="Read up to 20 records with what judgments say of them",
        access=needing("memory_read"),
        takes=AnnotatedRead,
        answers=AnnotatedAnswer,
        handle=scanning(annotated),
        slot=True,
        refuses=("invalid_request",),
    ),
    Route(
        path="/api/v1/memory/records/search",
        tag="judgments",
        summary="Search eligible, current records by their words, best first",
        access=needing("memory_read"),
        takes=SearchQuery,
        answers=SearchAnswer,
        handle=scanning(search_records, "index"),
        slot=True,
        refuses=("invalid_request",),
    ),
    Route(
        path="/api/v1/memory/records/confirm",
        tag="judgments",
        summary="Say of up to 20 records that they are true or false",
        access=needing("memory_read", "memory_write"),
        takes=ConfirmCommand,
        answers=ConfirmAnswer,
        handle=confirm,
        writes=True,
        refuses=("invalid_request", "record_not_found", "idempotency_conflict"),
    ),
    Route(
        path="/api/v1/memory/records/needs-review",
        tag="judgments",
        summary="Records that should be looked at again, the most urgent first",
        access=needing("memory_read"),
        takes=NeedsReviewQuery,
        answers=NeedsReviewAnswer,
        handle=scanning(to_review),
    ),
    Route(
        path="/api/v1/memory/topic-keys/suggest",
        tag="judgments",
        summary="Suggest a topic key for a record",
        access=needing("memory_read"),
        takes=TopicSuggestion,
        answers=TopicSuggestionAnswer,
        handle=scanning(suggest, "index"),
        refuses=("invalid_request",),
    ),
)
