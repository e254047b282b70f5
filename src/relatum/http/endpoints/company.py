"""Company administration as a whole: the workspaces, and the consumers in all of them (company.md)."""

from __future__ import annotations

from typing import Final

from relatum.core.answers.company import ConsumersAnswer, WorkspacesAnswer
from relatum.core.company import ConsumersRead, WorkspacesQuery
from relatum.errors import Refusal
from relatum.http.routes import Route, scanning
from relatum.http.server_state import Call
from relatum.ledger.reads import company, consumers
from relatum.ledger.view import RequestView
from relatum.limits import CONTRACT_VERSION


def workspaces(call: Call[WorkspacesQuery], view: RequestView) -> WorkspacesAnswer | Refusal:
    """A page of workspaces."""
    company_id = call.credential.company_id
    found = company.workspaces(view, company_id, call.body.limit, call.body.after_workspace_id)
    if isinstance(found, Refusal):
        return found
    return WorkspacesAnswer(contract_version=CONTRACT_VERSION, company_id=company_id, page=found)


def consumers_of_a_stream(call: Call[ConsumersRead], view: RequestView) -> ConsumersAnswer | Refusal:
    """A page of consumers."""
    company_id = call.credential.company_id
    found = consumers.page(view, company_id, call.body.query)
    if isinstance(found, Refusal):
        return found
    return ConsumersAnswer(contract_version=CONTRACT_VERSION, company_id=company_id, page=found)


ROUTES: Final = (
    Route(
        method="GET",
        path="/api/v1/company/memory/workspaces",
        tag="company",
        summary="List the company's workspaces",
        access="admin",
        takes=WorkspacesQuery,
        answers=WorkspacesAnswer,
        handle=scanning(workspaces),
        slot=True,
        refuses=("invalid_request",),
    ),
    Route(
        path="/api/v1/company/memory/consumers/query",
        tag="company",
        summary="List the consumers of a stream in all workspaces, and how far each is behind",
        access="admin",
        takes=ConsumersRead,
        answers=ConsumersAnswer,
        handle=scanning(consumers_of_a_stream),
        slot=True,
        refuses=("invalid_request",),
    ),
)
