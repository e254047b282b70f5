"""Company administration over the wire, in a few words."""

from __future__ import annotations

from typing import Any

import httpx

from relatum.core.digests import workspace_id
from relatum.core.ids import Scope, memory_partition
from tests.http.client import Caller, Json

COMPANY = "/api/v1/company/memory"
WORKSPACES = f"{COMPANY}/workspaces"
CONSUMERS = f"{COMPANY}/consumers/query"
ABSENT_WORKSPACE = "0123456789abcdef" * 4


def workspace_of(caller: Caller, company_id: str = "acme") -> str:
    """The workspace that a caller's scope addresses."""
    scope = Scope(**caller.scope)
    return workspace_id(memory_partition(company_id, caller.credential["spec"]["subject_id"], scope))


def within(admin: Caller, route: str, workspace: str, **members: Any) -> httpx.Response:
    """A read of a workspace."""
    return admin.post(f"{COMPANY}/{route}", workspace_id=workspace, **members)


def answered(response: httpx.Response) -> Json:
    """An answer that must be given."""
    assert response.status_code == 200, response.text
    body: Json = response.json()
    return body


def listed(admin: Caller, **query: Any) -> Json:
    """A page of workspaces."""
    page: Json = answered(admin.get(WORKSPACES, contract_version=1, **query))["page"]
    return page


def consumers(admin: Caller, **query: Any) -> Json:
    """A page of consumers."""
    page: Json = answered(admin.post(CONSUMERS, query={"stream": "typed_memory_relations", **query}))["page"]
    return page
