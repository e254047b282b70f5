"""Mined edges: replace, drop, promote, dangling, repair (views.md, derived edges)."""

from __future__ import annotations

from typing import Final

from relatum.core.answers.edges import (
    DanglingAnswer,
    DropEdgesAnswer,
    EdgeView,
    MovedEdge,
    PromoteAnswer,
    ProposalAnswer,
    RepairAnswer,
    ReplaceEdgesAnswer,
)
from relatum.core.mined import MinedEdge
from relatum.core.promotions import PromoteCommand
from relatum.core.stored_judgments import Promoted
from relatum.core.view_queries import DanglingEdges, DropEdges, ReplaceEdges
from relatum.errors import Refusal, invalid
from relatum.http.endpoints.judgment_requests import judged_alone
from relatum.http.routes import Route, in_thread, needing, scanning
from relatum.http.server_state import Call, partition_of, reader_of
from relatum.ledger.derived import repair
from relatum.ledger.view import RequestView
from relatum.limits import BATCH_BODY_BYTES_MAX, CONTRACT_VERSION, DANGLING_DEFAULT


def replace(call: Call[ReplaceEdges]) -> ReplaceEdgesAnswer | Refusal:
    """A page of a run."""
    body = call.body
    problem = body.problem()
    if problem is not None:
        return invalid(problem)
    edges = [MinedEdge(one.source_id, one.kind, one.target_id, one.weight) for one in body.edges]
    finish = bool(body.finish)
    count = call.ledger.mining.replace(partition_of(call), body.run, edges, finish=finish)
    if count is None:
        return invalid("a run has at most 500,000 edges")
    return ReplaceEdgesAnswer(contract_version=CONTRACT_VERSION, run_id=body.run.run_id, edges=count, finished=finish)


def drop(call: Call[DropEdges]) -> DropEdgesAnswer:
    """All mined edges of a partition."""
    dropped = call.ledger.mining.drop(partition_of(call))
    return DropEdgesAnswer(contract_version=CONTRACT_VERSION, dropped=dropped)


async def promote(call: Call[PromoteCommand]) -> PromoteAnswer | Refusal:
    """Mined edges that become authored relations."""
    event = await judged_alone(call, call.body.operation)
    if isinstance(event, Refusal):
        return event
    assert isinstance(event.operation, Promoted)
    outcomes = tuple(
        ProposalAnswer(
            source_id=proposal.source_id,
            target_id=proposal.target_id,
            kind=proposal.kind,
            outcome=outcome.outcome,
            relation_id=outcome.relation_id,
        )
        for proposal, outcome in zip(call.body.proposals, event.operation.outcomes, strict=True)
    )
    return PromoteAnswer(contract_version=CONTRACT_VERSION, outcomes=outcomes)


def dangling(call: Call[DanglingEdges], view: RequestView) -> DanglingAnswer:
    """Mined edges whose end is gone."""
    limit = call.body.limit or DANGLING_DEFAULT
    found = repair.dangling(view.mined, reader_of(call, view), limit)
    return DanglingAnswer(
        contract_version=CONTRACT_VERSION,
        scope=call.body.scope,
        edges=tuple(map(_view, found.edges)),
        complete=found.complete,
    )


def repaired(call: Call[DanglingEdges]) -> RepairAnswer:
    """Mined edges led on to superseders, or dropped."""
    limit = call.body.limit or DANGLING_DEFAULT
    found = call.ledger.mining.repair(partition_of(call), limit)
    return RepairAnswer(
        contract_version=CONTRACT_VERSION,
        moved=tuple(MovedEdge(before=_view(before), after=_view(after)) for before, after in found.moved),
        dropped=tuple(map(_view, found.dropped)),
    )


def _view(edge: MinedEdge) -> EdgeView:
    return EdgeView(source_id=edge.source_id, target_id=edge.target_id, kind=edge.kind, weight=edge.weight)


ROUTES: Final = (
    Route(
        path="/api/v1/memory/edges/derived/replace",
        tag="derived",
        summary="Replace the mined edges of a partition, page by page",
        access=needing("memory_read", "memory_mine"),
        takes=ReplaceEdges,
        answers=ReplaceEdgesAnswer,
        handle=in_thread(replace, "mined"),
        body_bytes_max=BATCH_BODY_BYTES_MAX,
        refuses=("invalid_request",),
    ),
    Route(
        path="/api/v1/memory/edges/derived/drop",
        tag="derived",
        summary="Drop all mined edges of a partition",
        access=needing("memory_read", "memory_mine"),
        takes=DropEdges,
        answers=DropEdgesAnswer,
        handle=in_thread(drop, "mined"),
    ),
    Route(
        path="/api/v1/memory/edges/promote",
        tag="derived",
        summary="Make authored relations of mined edges",
        access=needing("memory_read", "memory_write", "memory_mine"),
        takes=PromoteCommand,
        answers=PromoteAnswer,
        handle=promote,
        writes=True,
        refuses=("invalid_request", "idempotency_conflict"),
    ),
    Route(
        path="/api/v1/memory/edges/dangling",
        tag="derived",
        summary="Mined edges whose end is gone",
        access=needing("memory_read"),
        takes=DanglingEdges,
        answers=DanglingAnswer,
        handle=scanning(dangling, "mined"),
    ),
    Route(
        path="/api/v1/memory/edges/repair",
        tag="derived",
        summary="Lead mined edges on to the superseders of their ends, and drop the rest",
        access=needing("memory_write"),
        takes=DanglingEdges,
        answers=RepairAnswer,
        handle=in_thread(repaired, "mined"),
    ),
)
