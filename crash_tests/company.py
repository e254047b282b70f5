"""The company that every crash test works for: its scopes, and accounts for them issued over HTTP."""

from __future__ import annotations

from contextlib import closing

import msgspec

from crash_tests.history import Account, Desk
from crash_tests.violation import require
from crash_tests.wire import Connection
from relatum.core.ids import Scope

COMPANY = "acme"
ADMINISTRATOR = "root"
CAPABILITIES = ("memory_read", "memory_write", "memory_review", "memory_checkpoint", "memory_mine")
EVERYWHERE = {
    "version": "company_scopes_v1",
    "projects": {"mode": "all"},
    "agents": {"mode": "all"},
    "missions": {"mode": "all"},
    "allow_unassigned_mission": True,
    "visibilities": ["private", "shared"],
}
SHARED = Scope(project_id="atlas", mission_id="survey", agent_id="scout", visibility="shared")
PRIVATE = Scope(project_id="atlas", agent_id="scout", visibility="private")


def issue(port: int, admin_secret: str, subject: str) -> Account:
    """An account that may do everything everywhere."""
    spec = {"subject_id": subject, "capabilities": CAPABILITIES, "grants": [], "scope_policy": EVERYWHERE}
    with closing(Connection(port, admin_secret)) as connection:
        answer = connection.post("/api/v1/credentials", msgspec.json.encode({"contract_version": 1, "spec": spec}))
    require(answer.status == 201, f"a credential could not be issued: {answer.status} {answer.body!r}")
    issued = answer.json()
    return Account(COMPANY, subject, issued["credential"]["id"], issued["secret"])


def desks_of(accounts: list[Account]) -> list[Desk]:
    """Each account at work in each scope: they share one partition, and each has one to itself."""
    return [Desk(account, scope) for account in accounts for scope in (SHARED, PRIVATE)]
