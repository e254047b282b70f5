"""Reads within a workspace: what its members see, by the same functions, and more of it."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.company.administering import ABSENT_WORKSPACE, COMPANY, answered, within, workspace_of
from tests.http.client import (
    ABSENT,
    FORBIDDEN,
    INVALID,
    NO_RECORD,
    RECORDS,
    RELATIONS,
    Caller,
    Json,
    accepted,
    issue,
    ref,
    refusal,
    scope,
)


class Made(NamedTuple):
    """A workspace with some contents, and its writer."""

    writer: Caller
    workspace: str
    source: Json
    target: Json
    gone: Json
    derived: Json
    relation: Json


@pytest.fixture
def made(admin: Caller) -> Made:
    writer = issue(admin, scope=scope(visibility="private"))
    source, target, gone = writer.create("from"), writer.create("to"), writer.create("gone")
    relation = writer.relate(source, target)
    gone = ref(accepted(writer.command(RECORDS, type="delete", record_id=gone["record_id"], expected_revision=1)))
    derivation = {"sources": [source], "method": "summary", "method_revision": "1", "evidence_ref": "run/1"}
    derive = writer.command(RECORDS, type="derive", record={"content": "derived"}, derivation=derivation)
    return Made(writer, workspace_of(writer), source, target, gone, ref(accepted(derive)), relation)


def test_every_answer_names_the_company_and_the_workspace(admin: Caller, made: Made) -> None:
    body = answered(within(admin, "records/query", made.workspace, filter={}))
    assert ("acme", 1) == (body["company_id"], body["contract_version"])
    assert {
        "workspace_id": made.workspace,
        "company_id": "acme",
        "scope": {**made.writer.scope, "mission_id": None},
        "private_subject_id": made.writer.credential["spec"]["subject_id"],
    } == body["workspace"]


def test_records_are_retained_ones_with_verdicts_or_the_current_ones(admin: Caller, made: Made) -> None:
    def found(**wanted: Any) -> dict[str, bool]:
        entries = answered(within(admin, "records/query", made.workspace, filter=wanted))["page"]["entries"]
        return {entry["record"]["record_id"]: entry["eligibility"]["eligible"] for entry in entries}

    current = {one["record_id"]: True for one in (made.source, made.target, made.derived)}
    assert {**current, made.gone["record_id"]: False} == found() == found(view="retained") == found(view=None)
    assert current == found(view="current")
    assert INVALID == refusal(within(admin, "records/query", made.workspace, filter={"view": "all"}))


def test_pages_of_records_go_on_by_their_cursor_in_their_workspace_alone(admin: Caller, made: Made) -> None:
    seen: list[str] = []
    cursor = None
    while True:
        page = answered(within(admin, "records/query", made.workspace, filter={"limit": 1, "cursor": cursor}))["page"]
        seen += [entry["record"]["record_id"] for entry in page["entries"]]
        if page["next_cursor"] is None:
            break
        cursor = page["next_cursor"]
    assert 4 == len(set(seen)) == len(seen)
    other = issue(admin)
    other.create()
    assert INVALID == refusal(within(admin, "records/query", workspace_of(other), filter={"cursor": cursor}))


def test_a_record_and_a_relation_are_inspected_as_by_a_member(admin: Caller, made: Made) -> None:
    for route, path, member in (
        ("records/inspect", f"{RECORDS}/inspect", {"record_id": made.gone["record_id"]}),
        ("relations/inspect", f"{RELATIONS}/inspect", {"relation_id": made.relation["relation_id"]}),
    ):
        own = answered(made.writer.ask(path, **member))["inspection"]
        seen = answered(within(admin, route, made.workspace, **member))["inspection"]
        assert without_instant(own) == without_instant(seen)


def test_a_revision_and_a_page_of_relations_are_as_for_a_member(admin: Caller, made: Made) -> None:
    at = {"relation_id": made.relation["relation_id"], "revision": 1}
    own = answered(made.writer.ask(f"{RELATIONS}/revision", **at))["history"]
    assert own == answered(within(admin, "relations/revision", made.workspace, **at))["history"]
    page = answered(within(admin, "relations/query", made.workspace, filter={"kind": "supports"}))["page"]
    assert [made.relation["relation_id"]] == [one["relation"]["relation_id"] for one in page["relations"]]


def test_graphs_show_what_is_eligible_to_the_administrator_too(admin: Caller, made: Made) -> None:
    roots = {"root_record_ids": [one["record_id"] for one in (made.source, made.gone)]}
    for kind in ("typed", "evidence"):
        own = answered(made.writer.ask(f"/api/v1/memory/graph/{kind}", query=roots))["graph"]
        seen = answered(within(admin, f"graph/{kind}", made.workspace, query=roots))["graph"]
        assert without_instant(own) == without_instant(seen)
        assert ["included", "unavailable"] == [root["status"] for root in seen["roots"]]


READS: dict[str, Json] = {
    "records/query": {"filter": {}},
    "records/inspect": {"record_id": ABSENT},
    "graph/typed": {"query": {"root_record_ids": [ABSENT]}},
    "graph/evidence": {"query": {"root_record_ids": [ABSENT]}},
    "relations/inspect": {"relation_id": ABSENT},
    "relations/revision": {"relation_id": ABSENT, "revision": 1},
    "relations/query": {"filter": {}},
}


@pytest.mark.parametrize("route", READS)
def test_an_absent_workspace_and_another_companys_are_the_same_404(admin: Caller, stranger: Caller, route: str) -> None:
    theirs = issue(stranger)
    theirs.create()
    absent = within(admin, route, ABSENT_WORKSPACE, **READS[route])
    foreign = within(admin, route, workspace_of(theirs, "umbrella"), **READS[route])
    assert NO_RECORD == refusal(absent)
    assert absent.content == foreign.content


@pytest.mark.parametrize("route", ["records/inspect", "relations/inspect", "relations/revision"])
def test_an_absent_id_is_the_same_404_again(admin: Caller, made: Made, route: str) -> None:
    absent_id = within(admin, route, made.workspace, **READS[route])
    assert absent_id.content == within(admin, route, ABSENT_WORKSPACE, **READS[route]).content
    assert NO_RECORD == refusal(absent_id)


@pytest.mark.parametrize("route", READS)
@pytest.mark.parametrize("workspace", ["", "abc", ABSENT_WORKSPACE.upper(), ABSENT_WORKSPACE + "0", "g" * 64])
def test_a_malformed_workspace_id_is_400(admin: Caller, route: str, workspace: str) -> None:
    assert INVALID == refusal(within(admin, route, workspace, **READS[route]))


def test_static_rules_come_before_the_workspace_is_looked_for(admin: Caller) -> None:
    twice = {"root_record_ids": [ABSENT, ABSENT]}
    for kind in ("typed", "evidence"):
        assert INVALID == refusal(within(admin, f"graph/{kind}", ABSENT_WORKSPACE, query=twice))
    for route, member in (("records/query", "topic_key"), ("relations/query", "reporter")):
        assert INVALID == refusal(within(admin, route, ABSENT_WORKSPACE, filter={member: " "}))


@pytest.mark.parametrize("route", READS)
def test_a_read_needs_the_capability_and_takes_no_scope(admin: Caller, made: Made, route: str) -> None:
    assert FORBIDDEN == refusal(within(made.writer, route, made.workspace, **READS[route]))
    both = admin.post(f"{COMPANY}/{route}", workspace_id=made.workspace, scope=made.writer.scope, **READS[route])
    assert INVALID == refusal(both)


def without_instant(answer: Json) -> Json:
    """An answer without the instant of its evaluation."""
    found = {name: value for name, value in answer.items() if name != "evaluated_at_millis"}
    if "eligibility" in found:
        found["eligibility"] = without_instant(found["eligibility"])
    return found
