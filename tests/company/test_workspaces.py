"""The list of a company's workspaces."""

from __future__ import annotations

from typing import Any

import pytest

from tests.company.administering import ABSENT_WORKSPACE, WORKSPACES, answered, listed, workspace_of
from tests.feeds.wire import Feed, follower_of
from tests.http.client import CREDENTIALS, FORBIDDEN, INVALID, RECORDS, UNAUTHORIZED, Caller, issue, refusal, scope


def ids(page: dict[str, Any]) -> list[str]:
    return [workspace["workspace_id"] for workspace in page["workspaces"]]


def test_workspaces_appear_with_their_first_record_and_are_listed_in_pages(admins: dict[str, Caller]) -> None:
    admin = admins["harbour"]
    callers = [issue(admin, scope=scope(visibility=sight)) for sight in ("shared", "private", "shared", "private")]
    assert [] == ids(listed(admin)), "a grant makes no workspace"
    for caller in callers:
        caller.ask(f"{RECORDS}/query", filter={})
    Feed(follower_of(admin, scope=callers[0].scope)).ask("changes/activate")
    assert [] == ids(listed(admin)), "neither a read nor an activation makes one"
    for caller in callers:
        caller.create()
    expected = sorted(workspace_of(caller, "harbour") for caller in callers)
    assert (expected, None) == (ids(listed(admin)), listed(admin)["next_after_workspace_id"])
    first = listed(admin, limit=3)
    assert (expected[:3], expected[2]) == (ids(first), first["next_after_workspace_id"])
    second = listed(admin, limit=3, after_workspace_id=expected[2])
    assert (expected[3:], None) == (ids(second), second["next_after_workspace_id"])
    assert None is listed(admin, limit=4)["next_after_workspace_id"], "a page that fits exactly is the last one"


def test_a_private_workspace_names_its_subject_and_stays_when_its_writer_is_revoked(admin: Caller) -> None:
    writer = issue(admin, scope=scope(visibility="private", mission_id="survey"))
    writer.create()
    revoked = admin.post(f"{CREDENTIALS}/{writer.credential['id']}/revoke", expected_revision=1)
    assert 200 == revoked.status_code
    workspace = workspace_of(writer)
    [found] = [one for one in all_workspaces(admin) if one["workspace_id"] == workspace]
    assert {
        "workspace_id": workspace,
        "company_id": "acme",
        "scope": writer.scope,
        "private_subject_id": writer.credential["spec"]["subject_id"],
    } == found


def test_a_shared_workspace_has_no_subject_and_stays_when_its_records_are_deleted(admin: Caller) -> None:
    writer = issue(admin)
    at = writer.create()
    deletion = writer.command(RECORDS, type="delete", record_id=at["record_id"], expected_revision=1)
    assert 200 == deletion.status_code
    [found] = [one for one in all_workspaces(admin) if one["workspace_id"] == workspace_of(writer)]
    assert (None, {**writer.scope, "mission_id": None}) == (found["private_subject_id"], found["scope"])


def test_a_company_sees_its_own_workspaces_alone(admin: Caller, stranger: Caller) -> None:
    issue(stranger).create()
    issue(admin).create()
    own, others = {one["workspace_id"] for one in all_workspaces(admin)}, set(ids(listed(stranger)))
    assert own
    assert others
    assert not own & others


def test_a_company_without_workspaces_has_an_empty_page(admins: dict[str, Caller]) -> None:
    body = answered(admins["quiet"].get(WORKSPACES, contract_version=1))
    assert {
        "contract_version": 1,
        "company_id": "quiet",
        "page": {"workspaces": [], "next_after_workspace_id": None},
    } == body


@pytest.mark.parametrize(
    "query",
    [
        {"limit": 0},
        {"limit": 101},
        {"limit": "five"},
        {"limit": "1.0"},
        {"limit": "01"},
        {"after_workspace_id": "abc"},
        {"after_workspace_id": ABSENT_WORKSPACE.upper()},
        {"after_workspace_id": ABSENT_WORKSPACE + "0"},
        {"unknown": 1},
        {"limit": [1, 2]},
    ],
)
def test_a_query_string_outside_the_schema_or_the_rules_is_refused(admin: Caller, query: dict[str, Any]) -> None:
    assert INVALID == refusal(admin.get(WORKSPACES, contract_version=1, **query))


def test_limits_of_a_page_are_1_and_100_and_an_absent_predecessor_is_a_place_like_any_other(admin: Caller) -> None:
    issue(admin).create()
    assert 1 == len(listed(admin, limit=1)["workspaces"])
    assert len(all_workspaces(admin)) <= 100
    assert len(ids(listed(admin, limit=100))) == len(all_workspaces(admin))
    after = [one for one in ids(listed(admin, limit=100)) if one > ABSENT_WORKSPACE]
    assert after == ids(listed(admin, limit=100, after_workspace_id=ABSENT_WORKSPACE))


def test_the_version_is_needed_and_must_be_1(admin: Caller) -> None:
    assert INVALID == refusal(admin.get(WORKSPACES))
    assert (400, "unsupported_contract_version") == refusal(admin.get(WORKSPACES, contract_version=2))


def test_administration_needs_its_capability_whatever_the_query(admin: Caller) -> None:
    member = issue(admin)
    assert FORBIDDEN == refusal(member.get(WORKSPACES, contract_version=1))
    assert FORBIDDEN == refusal(member.get(WORKSPACES, limit=0))
    nobody = Caller(admin.api, "nobody")
    assert UNAUTHORIZED == refusal(nobody.get(WORKSPACES, contract_version=1))


def all_workspaces(admin: Caller) -> list[dict[str, Any]]:
    """Every workspace, page by page."""
    found: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = listed(admin, limit=7, **after)
        found += page["workspaces"]
        if page["next_after_workspace_id"] is None:
            return found
        after = {"after_workspace_id": page["next_after_workspace_id"]}
