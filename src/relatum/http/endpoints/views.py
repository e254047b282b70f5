"""Status, validate, health, overview, context, and the commands of curated links (views.md)."""

from __future__ import annotations

from typing import Final

from msgspec.structs import asdict

from relatum.core.answers.commands import LinkCommandAnswer
from relatum.core.answers.context import ContextAnswer
from relatum.core.answers.survey import HealthAnswer, OverviewAnswer
from relatum.core.answers.views import StatusAnswer, ValidateAnswer
from relatum.core.links import LinkCommand, LinkReceipt
from relatum.core.view_queries import ContextQuery, HealthQuery, OverviewQuery, StatusQuery, ValidateQuery
from relatum.errors import Refusal, invalid
from relatum.http.endpoints.command_requests import submit
from relatum.http.routes import Route, needing, scanning
from relatum.http.server_state import Call, reader_of
from relatum.ledger.reads import context, health, validate
from relatum.ledger.reads import overview as overviews
from relatum.ledger.reads.context_work import Wanted
from relatum.ledger.view import RequestView
from relatum.limits import CONTEXT_CHARACTERS_DEFAULT, CONTRACT_VERSION, OVERVIEW_MAX


async def link(call: Call[LinkCommand]) -> LinkCommandAnswer | Refusal:
    """Link or unlink two records."""
    outcome = await submit(call, call.body)
    if isinstance(outcome, Refusal):
        return outcome
    assert isinstance(outcome, LinkReceipt)
    return LinkCommandAnswer(contract_version=CONTRACT_VERSION, receipt=outcome)


def status(call: Call[StatusQuery], view: RequestView) -> StatusAnswer | Refusal:
    """The statuses of some records."""
    found = validate.statuses(reader_of(call, view), view.now_millis, view.store_key, call.body)
    if isinstance(found, Refusal):
        return found
    return StatusAnswer(
        contract_version=CONTRACT_VERSION,
        scope=call.body.scope,
        statuses=found.statuses,
        coverage=found.coverage,
        scanned_records=found.scanned,
        stop_reason=found.stop_reason,
        next_cursor=found.next_cursor,
    )


def validated(call: Call[ValidateQuery], view: RequestView) -> ValidateAnswer | Refusal:
    """Which records are stale or in conflict."""
    found = validate.validate(reader_of(call, view), call.body)
    if isinstance(found, Refusal):
        return found
    return ValidateAnswer(
        contract_version=CONTRACT_VERSION,
        scope=call.body.scope,
        checked=found.checked,
        stale_ids=found.stale_ids,
        stale_count=len(found.stale_ids),
        conflict_ids=found.conflict_ids,
        conflict_count=len(found.conflict_ids),
        coverage=found.coverage,
    )


def healthy(call: Call[HealthQuery], view: RequestView) -> HealthAnswer:
    """How well the records hang together."""
    found = health.health(reader_of(call, view), view.now_millis)
    return HealthAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, **asdict(found))


def overview(call: Call[OverviewQuery], view: RequestView) -> OverviewAnswer:
    """The most linked records and what joins them."""
    graph = overviews.overview(reader_of(call, view), view.now_millis, call.body.limit or OVERVIEW_MAX)
    return OverviewAnswer(contract_version=CONTRACT_VERSION, scope=call.body.scope, graph=graph)


def composed(call: Call[ContextQuery], view: RequestView) -> ContextAnswer | Refusal:
    """A block for a prompt."""
    body, partition = call.body, reader_of(call, view)
    problem = body.problem()
    if problem is not None:
        return invalid(problem)
    around = view.surroundings(partition, body.prompt)
    budget = body.budget_characters or CONTEXT_CHARACTERS_DEFAULT
    ages = view.ages
    wanted = Wanted(body.judgments_max, body.review_max, ages.resurfacing_millis, ages.deadline_millis)
    found = context.context(partition, view.now_millis, around, budget, body.shown or (), wanted)
    return ContextAnswer(contract_version=CONTRACT_VERSION, scope=body.scope, **asdict(found))


ROUTES: Final = (
    Route(
        path="/api/v1/memory/links/commands",
        tag="views",
        summary="Link or unlink two records",
        access=needing("memory_read", "memory_write"),
        takes=LinkCommand,
        answers=LinkCommandAnswer,
        handle=link,
        writes=True,
        refuses=("invalid_request", "record_not_found", "revision_conflict", "idempotency_conflict"),
    ),
    Route(
        path="/api/v1/memory/records/status",
        tag="views",
        summary="Whether what records say can be relied upon",
        access=needing("memory_read"),
        takes=StatusQuery,
        answers=StatusAnswer,
        handle=scanning(status),
        refuses=("invalid_request",),
    ),
    Route(
        path="/api/v1/memory/records/validate",
        tag="views",
        summary="Which records are stale or in conflict",
        access=needing("memory_read"),
        takes=ValidateQuery,
        answers=ValidateAnswer,
        handle=scanning(validated),
        refuses=("invalid_request",),
    ),
    Route(
        path="/api/v1/memory/graph/health",
        tag="views",
        summary="How well the records of a partition hang together",
        access=needing("memory_read"),
        takes=HealthQuery,
        answers=HealthAnswer,
        handle=scanning(healthy),
        slot=True,
    ),
    Route(
        path="/api/v1/memory/graph/overview",
        tag="views",
        summary="The most linked records and what joins them",
        access=needing("memory_read"),
        takes=OverviewQuery,
        answers=OverviewAnswer,
        handle=scanning(overview),
        slot=True,
    ),
    Route(
        path="/api/v1/memory/context",
        tag="views",
        summary="A ranked block of records for a model's prompt",
        access=needing("memory_read"),
        takes=ContextQuery,
        answers=ContextAnswer,
        handle=scanning(composed, "index"),
        slot=True,
        refuses=("invalid_request",),
    ),
)
