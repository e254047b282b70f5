"""Company administration within one workspace: what its members can read, through the same functions (company.md).

Always holds: static rules are tested before the workspace is looked for; an absent workspace, one of another company,
and an absent id in a workspace of the company are one and the same 404.
"""

from __future__ import annotations

from typing import Final, Literal, TypedDict

from relatum.core.answers.company import (
    CompanyEvidenceGraphAnswer,
    CompanyRecordInspectAnswer,
    CompanyRecordQueryAnswer,
    CompanyRelationInspectAnswer,
    CompanyRelationQueryAnswer,
    CompanyRelationRevisionAnswer,
    CompanyTypedGraphAnswer,
    Workspace,
)
from relatum.core.company import (
    CompanyEvidenceGraphRead,
    CompanyRecordQuery,
    CompanyRecordRead,
    CompanyRelationQuery,
    CompanyRelationRead,
    CompanyRelationRevisionRead,
    CompanyTypedGraphRead,
    WorkspaceRead,
)
from relatum.errors import Refusal, invalid
from relatum.http.endpoints.graphs import in_parts, walking
from relatum.http.routes import Route, reading, scanning
from relatum.http.server_state import Call
from relatum.ledger.reads import company, record_query, records, relation_query, relations
from relatum.ledger.reads.company import Entered
from relatum.ledger.reads.graph_evidence import evidence_graph
from relatum.ledger.reads.graph_typed import typed_graph
from relatum.ledger.view import RequestView
from relatum.limits import CONTRACT_VERSION


class _Head(TypedDict):
    contract_version: Literal[1]
    company_id: str
    workspace: Workspace


def query_records(call: Call[CompanyRecordQuery], view: RequestView) -> CompanyRecordQueryAnswer | Refusal:
    """A page of retained records, or of those eligible now."""
    problem = call.body.filter.problem()
    entered = _entered(call, view) if problem is None else invalid(problem)
    if isinstance(entered, Refusal):
        return entered
    found = record_query.company_query(entered.reader, view.now_millis, view.store_key, call.body.filter)
    return found if isinstance(found, Refusal) else CompanyRecordQueryAnswer(**_head(entered), page=found)


def inspect_record(call: Call[CompanyRecordRead], view: RequestView) -> CompanyRecordInspectAnswer | Refusal:
    """One retained record, whatever its state."""
    entered = _entered(call, view)
    if isinstance(entered, Refusal):
        return entered
    found = records.inspect(entered.reader, view.now_millis, call.body.record_id)
    return found if isinstance(found, Refusal) else CompanyRecordInspectAnswer(**_head(entered), inspection=found)


def typed(call: Call[CompanyTypedGraphRead], view: RequestView) -> CompanyTypedGraphAnswer | Refusal:
    """A walk along relations: of what is eligible, as for everybody."""
    problem = call.body.query.problem()
    entered = _entered(call, view) if problem is None else invalid(problem)
    if isinstance(entered, Refusal):
        return entered
    found = typed_graph(entered.reader, view.now_millis, call.body.query, view.mined)
    return found if isinstance(found, Refusal) else CompanyTypedGraphAnswer(**_head(entered), graph=in_parts(found))


def evidence(call: Call[CompanyEvidenceGraphRead], view: RequestView) -> CompanyEvidenceGraphAnswer | Refusal:
    """A walk back along derivations: of what is eligible, as for everybody."""
    problem = call.body.query.problem()
    entered = _entered(call, view) if problem is None else invalid(problem)
    if isinstance(entered, Refusal):
        return entered
    found = evidence_graph(entered.reader, view.now_millis, call.body.query)
    return found if isinstance(found, Refusal) else CompanyEvidenceGraphAnswer(**_head(entered), graph=in_parts(found))


def inspect_relation(call: Call[CompanyRelationRead], view: RequestView) -> CompanyRelationInspectAnswer | Refusal:
    """One retained relation, whatever its state."""
    entered = _entered(call, view)
    if isinstance(entered, Refusal):
        return entered
    found = relations.inspect(entered.reader, view.now_millis, call.body.relation_id)
    return found if isinstance(found, Refusal) else CompanyRelationInspectAnswer(**_head(entered), inspection=found)


def relation_revision(
    call: Call[CompanyRelationRevisionRead], view: RequestView
) -> CompanyRelationRevisionAnswer | Refusal:
    """One revision of a relation."""
    entered = _entered(call, view)
    if isinstance(entered, Refusal):
        return entered
    found = relations.revision(entered.reader, call.body.relation_id, call.body.revision)
    return found if isinstance(found, Refusal) else CompanyRelationRevisionAnswer(**_head(entered), history=found)


def query_relations(call: Call[CompanyRelationQuery], view: RequestView) -> CompanyRelationQueryAnswer | Refusal:
    """A page of retained relations."""
    problem = call.body.filter.problem()
    entered = _entered(call, view) if problem is None else invalid(problem)
    if isinstance(entered, Refusal):
        return entered
    found = relation_query.query(entered.reader, view.now_millis, view.store_key, call.body.filter)
    return found if isinstance(found, Refusal) else CompanyRelationQueryAnswer(**_head(entered), page=found)


def _entered(call: Call[WorkspaceRead], view: RequestView) -> Entered | Refusal:
    return company.enter(view, call.credential.company_id, call.body.workspace_id)


def _head(entered: Entered) -> _Head:
    """The members with which every answer begins."""
    workspace = entered.workspace
    return _Head(contract_version=CONTRACT_VERSION, company_id=workspace.company_id, workspace=workspace)


ROUTES: Final = (
    Route(
        path="/api/v1/company/memory/records/query",
        tag="company",
        summary="Search a workspace's records, page by page",
        access="admin",
        takes=CompanyRecordQuery,
        answers=CompanyRecordQueryAnswer,
        handle=scanning(query_records),
        slot=True,
        refuses=("invalid_request", "record_not_found"),
    ),
    Route(
        path="/api/v1/company/memory/records/inspect",
        tag="company",
        summary="Look at a record of a workspace and at the reasons of its eligibility",
        access="admin",
        takes=CompanyRecordRead,
        answers=CompanyRecordInspectAnswer,
        handle=reading(inspect_record),
        slot=True,
        refuses=("invalid_request", "record_not_found"),
    ),
    Route(
        path="/api/v1/company/memory/graph/typed",
        tag="company",
        summary="Walk along relations from up to 16 records of a workspace",
        access="admin",
        takes=CompanyTypedGraphRead,
        answers=CompanyTypedGraphAnswer,
        handle=walking(typed),
        slot=True,
        refuses=("invalid_request", "record_not_found"),
    ),
    Route(
        path="/api/v1/company/memory/graph/evidence",
        tag="company",
        summary="Walk from up to 16 records of a workspace to what they were derived from",
        access="admin",
        takes=CompanyEvidenceGraphRead,
        answers=CompanyEvidenceGraphAnswer,
        handle=scanning(evidence),
        slot=True,
        refuses=("invalid_request", "record_not_found"),
    ),
    Route(
        path="/api/v1/company/memory/relations/inspect",
        tag="company",
        summary="Look at a relation of a workspace and at the reason of its eligibility",
        access="admin",
        takes=CompanyRelationRead,
        answers=CompanyRelationInspectAnswer,
        handle=reading(inspect_relation),
        slot=True,
        refuses=("invalid_request", "record_not_found"),
    ),
    Route(
        path="/api/v1/company/memory/relations/revision",
        tag="company",
        summary="Look at a relation of a workspace as it was at one revision",
        access="admin",
        takes=CompanyRelationRevisionRead,
        answers=CompanyRelationRevisionAnswer,
        handle=reading(relation_revision),
        slot=True,
        refuses=("invalid_request", "record_not_found"),
    ),
    Route(
        path="/api/v1/company/memory/relations/query",
        tag="company",
        summary="Search a workspace's relations, page by page",
        access="admin",
        takes=CompanyRelationQuery,
        answers=CompanyRelationQueryAnswer,
        handle=scanning(query_relations),
        slot=True,
        refuses=("invalid_request", "record_not_found"),
    ),
)
