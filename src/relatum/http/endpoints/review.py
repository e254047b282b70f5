"""What reviewers look at, in a scope and in a workspace of the company alike (console.md, added routes).

Always holds: the twin of a route calls the same function on the partition that it addresses, so both answer the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from msgspec import Struct

from relatum.core.answers import review as answers
from relatum.core.answers.access import Capability
from relatum.core.company import WorkspaceRead
from relatum.core.review_queries import (
    CompanyDependentsRead,
    CompanyLineageRead,
    CompanyLinksRead,
    CompanyRecordHeadsRead,
    CompanyRecordHistoryRead,
    CompanyRelationHistoryRead,
    DependentsRead,
    LineageRead,
    LinksRead,
    RecordHeadsRead,
    RecordHistoryRead,
    RelationHistoryRead,
    RetainedQuery,
)
from relatum.errors import Code, Refusal, invalid
from relatum.http.routes import Route, needing, scanning
from relatum.http.server_state import Call, Scoped, reader_of
from relatum.ledger.reads import company, dependents, heads, history, lineage_graph, links, record_query
from relatum.ledger.view import RequestView
from relatum.limits import CONTRACT_VERSION
from relatum.store.partition import PartitionReader

ScopedT = TypeVar("ScopedT", bound=Scoped)
WorkspaceT = TypeVar("WorkspaceT", bound=WorkspaceRead)
Read = Callable[[PartitionReader, RequestView, Any], Any]
"""Reads a partition for a body; answers the member of the answer, or a refusal."""


def in_scope(
    path: str,
    summary: str,
    takes: type[ScopedT],
    answer: type[Struct],
    read: Read,
    *,
    member: str,
    needs: tuple[Capability, ...] = ("memory_read", "memory_review"),
    refuses: tuple[Code, ...] = ("invalid_request", "record_not_found"),
) -> Route[ScopedT]:
    """The route of a read below `/api/v1/memory`; `member` is where the answer has what was read."""

    def handle(call: Call[ScopedT], view: RequestView) -> Struct | Refusal:
        found = read(reader_of(call, view), view, call.body)
        if isinstance(found, Refusal):
            return found
        return answer(contract_version=CONTRACT_VERSION, scope=call.body.scope, **{member: found})

    return Route(
        path=f"/api/v1/memory/{path}",
        tag="review",
        summary=summary,
        access=needing(*needs),
        takes=takes,
        answers=answer,
        handle=scanning(handle),
        slot=True,
        refuses=refuses,
    )


def in_workspace(
    path: str,
    summary: str,
    takes: type[WorkspaceT],
    answer: type[Struct],
    read: Read,
    *,
    member: str,
    problem: Callable[[Any], str | None] | None = None,
) -> Route[WorkspaceT]:
    """The same read below `/api/v1/company/memory`, of a workspace of the company.

    `problem` is the static rule that a body breaks: tested before the workspace is looked for.
    """

    def handle(call: Call[WorkspaceT], view: RequestView) -> Struct | Refusal:
        broken = None if problem is None else problem(call.body)
        if broken is not None:
            return invalid(broken)
        entered = company.enter(view, call.credential.company_id, call.body.workspace_id)
        if isinstance(entered, Refusal):
            return entered
        found = read(entered.reader, view, call.body)
        if isinstance(found, Refusal):
            return found
        workspace = entered.workspace
        return answer(
            contract_version=CONTRACT_VERSION,
            company_id=workspace.company_id,
            workspace=workspace,
            **{member: found},
        )

    return Route(
        path=f"/api/v1/company/memory/{path}",
        tag="company",
        summary=summary,
        access="admin",
        takes=takes,
        answers=answer,
        handle=scanning(handle),
        slot=True,
        refuses=("invalid_request", "record_not_found"),
    )


def _heads(partition: PartitionReader, view: RequestView, body: RecordHeadsRead | CompanyRecordHeadsRead) -> object:
    return heads.heads(partition, view.now_millis, body.record_ids)


def _record_history(
    partition: PartitionReader, _view: RequestView, body: RecordHistoryRead | CompanyRecordHistoryRead
) -> object:
    return history.record_history(partition, body.record_id, body.before_revision, body.limit)


def _relation_history(
    partition: PartitionReader, _view: RequestView, body: RelationHistoryRead | CompanyRelationHistoryRead
) -> object:
    return history.relation_history(partition, body.relation_id, body.before_revision, body.limit)


def _retained(partition: PartitionReader, view: RequestView, body: RetainedQuery) -> object:
    return record_query.retained(partition, view.now_millis, view.store_key, body.filter)


def _links(partition: PartitionReader, view: RequestView, body: LinksRead | CompanyLinksRead) -> object:
    return links.links_of(partition, view.now_millis, body.record_id)


def _lineage(partition: PartitionReader, view: RequestView, body: LineageRead | CompanyLineageRead) -> object:
    return lineage_graph.lineage_graph(partition, view.now_millis, body.record_id, body.max_depth, body.node_limit)


def _dependents(partition: PartitionReader, view: RequestView, body: DependentsRead | CompanyDependentsRead) -> object:
    return dependents.dependents(partition, view.now_millis, view.store_key, body.record_id, body.limit, body.cursor)


ROUTES: Final = (
    in_scope(
        "records/retained",
        "Search records in every state, page by page",
        RetainedQuery,
        answers.RetainedAnswer,
        _retained,
        member="page",
        refuses=("invalid_request",),
    ),
    in_scope(
        "records/heads",
        "Look at up to 100 records in outline",
        RecordHeadsRead,
        answers.RecordHeadsAnswer,
        _heads,
        member="heads",
        refuses=("invalid_request",),
    ),
    in_scope(
        "records/history",
        "Look at the revisions of a record, the newest first",
        RecordHistoryRead,
        answers.RecordHistoryAnswer,
        _record_history,
        member="page",
        refuses=("record_not_found",),
    ),
    in_scope(
        "relations/history",
        "Look at the revisions of a relation, the newest first",
        RelationHistoryRead,
        answers.RelationHistoryAnswer,
        _relation_history,
        member="page",
        refuses=("record_not_found",),
    ),
    in_scope(
        "records/lineage",
        "Look at what a record was derived from, and where that fails",
        LineageRead,
        answers.LineageAnswer,
        _lineage,
        member="lineage",
    ),
    in_scope(
        "records/dependents",
        "Look at what pins a record, page by page",
        DependentsRead,
        answers.DependentsAnswer,
        _dependents,
        member="page",
    ),
    in_scope(
        "links/query",
        "Read the curated links of a record",
        LinksRead,
        answers.LinksAnswer,
        _links,
        member="links",
        needs=("memory_read",),
    ),
    in_workspace(
        "records/heads",
        "Look at up to 100 records of a workspace in outline",
        CompanyRecordHeadsRead,
        answers.CompanyRecordHeadsAnswer,
        _heads,
        member="heads",
        problem=lambda body: heads.problem(body.record_ids),
    ),
    in_workspace(
        "records/history",
        "Look at the revisions of a record of a workspace, the newest first",
        CompanyRecordHistoryRead,
        answers.CompanyRecordHistoryAnswer,
        _record_history,
        member="page",
    ),
    in_workspace(
        "relations/history",
        "Look at the revisions of a relation of a workspace, the newest first",
        CompanyRelationHistoryRead,
        answers.CompanyRelationHistoryAnswer,
        _relation_history,
        member="page",
    ),
    in_workspace(
        "records/lineage",
        "Look at what a record of a workspace was derived from, and where that fails",
        CompanyLineageRead,
        answers.CompanyLineageAnswer,
        _lineage,
        member="lineage",
    ),
    in_workspace(
        "records/dependents",
        "Look at what pins a record of a workspace, page by page",
        CompanyDependentsRead,
        answers.CompanyDependentsAnswer,
        _dependents,
        member="page",
    ),
    in_workspace(
        "links/query",
        "Read the curated links of a record of a workspace",
        CompanyLinksRead,
        answers.CompanyLinksAnswer,
        _links,
        member="links",
    ),
)
