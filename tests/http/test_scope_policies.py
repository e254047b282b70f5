"""Scope policies over the wire (access.md): authority over many scopes at once."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from tests.http.client import (
    ABSENT,
    CREDENTIALS,
    FORBIDDEN,
    INVALID,
    NO_RECORD,
    RECORDS,
    Caller,
    Json,
    issue,
    refusal,
    scope,
)

ALL: Json = {"mode": "all"}


def policy(**members: Any) -> Json:
    return {
        "version": "company_scopes_v1",
        "projects": ALL,
        "agents": ALL,
        "missions": ALL,
        "allow_unassigned_mission": True,
        "visibilities": ["shared", "private"],
        **members,
    }


def test_a_policy_covers_the_scopes_it_selects_and_no_others(admin: Caller) -> None:
    only = policy(
        projects={"mode": "only", "ids": ["p1", "p2"]},
        missions={"mode": "only", "ids": ["m1"]},
        allow_unassigned_mission=False,
        visibilities=["shared"],
    )
    inside = {"project_id": "p1", "agent_id": "any", "mission_id": "m1", "visibility": "shared"}
    holder = issue(admin, grants=[], scope_policy=only, scope=inside)
    assert NO_RECORD == refusal(holder.ask(f"{RECORDS}/read", record_id=ABSENT))
    assert NO_RECORD == refusal(holder.at(project_id="p2", agent_id="x").ask(f"{RECORDS}/read", record_id=ABSENT))
    for outside in ({"project_id": "p3"}, {"mission_id": None}, {"mission_id": "m2"}, {"visibility": "private"}):
        assert FORBIDDEN == refusal(holder.at(**outside).ask(f"{RECORDS}/read", record_id=ABSENT))


BROKEN_POLICIES: list[Json] = [
    {"visibilities": []},
    {"visibilities": ["shared", "shared"]},
    {"projects": {"mode": "only"}},
    {"projects": {"mode": "all", "ids": ["p"]}},
    {"projects": {"mode": "only", "ids": ["p", "p"]}},
    {"projects": {"mode": "only", "ids": [" "]}},
    {"projects": {"mode": "only", "ids": [str(number) for number in range(257)]}},
    {"version": "company_scopes_v2"},
]


@pytest.mark.parametrize("broken", BROKEN_POLICIES, ids=lambda one: str(one)[:40])
def test_a_broken_policy_is_refused_at_issue_and_at_change(broken: Json, admin: Caller) -> None:
    spec = {"subject_id": "s", "capabilities": ["memory_read"], "grants": [], "scope_policy": policy(**broken)}
    assert INVALID == refusal(admin.post(CREDENTIALS, spec=spec))
    authority = {"grants": [], "scope_policy": policy(**broken)}
    assert INVALID == refusal(_replaced(admin, authority))


def test_a_policy_of_256_ids_is_taken(admin: Caller) -> None:
    ids = [str(number) for number in range(256)]
    spec = {"subject_id": "s", "capabilities": ["memory_read"], "grants": []}
    found = admin.post(CREDENTIALS, spec={**spec, "scope_policy": policy(projects={"mode": "only", "ids": ids})})
    assert 201 == found.status_code


def test_a_policy_excludes_grants_and_administration(admin: Caller) -> None:
    spec = {"subject_id": "s", "capabilities": ["memory_read"], "grants": [scope()], "scope_policy": policy()}
    assert INVALID == refusal(admin.post(CREDENTIALS, spec=spec))
    administrator = {**spec, "grants": [], "capabilities": ["memory_read", "credential_admin"]}
    assert INVALID == refusal(admin.post(CREDENTIALS, spec=administrator))


def _replaced(admin: Caller, authority: Json) -> httpx.Response:
    changed = issue(admin).credential["id"]
    return admin.post(f"{CREDENTIALS}/{changed}/scope-authority", expected_revision=1, authority=authority)
