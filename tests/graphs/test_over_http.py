"""Both graphs over a real server: bodies, authority, and answers that the served document allows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.client import ABSENT, FORBIDDEN, INVALID, RECORDS, Caller, Json, accepted, issue, ref, refusal

TYPED = "/api/v1/memory/graph/typed"
EVIDENCE = "/api/v1/memory/graph/evidence"
BOTH = [TYPED, EVIDENCE]


@pytest.fixture
def caller(admin: Caller) -> Caller:
    return issue(admin)


def graph(caller: Caller, path: str, *roots: Json, **query: Any) -> Json:
    answer = caller.ask(path, query={"root_record_ids": [root["record_id"] for root in roots], **query})
    assert answer.status_code == 200, answer.text
    body: Json = answer.json()
    assert (1, caller.scope | {"mission_id": None}) == (body["contract_version"], body["scope"])
    found: Json = body["graph"]
    return found


def test_a_typed_graph_answers_records_and_relations_as_their_own_reads_do(caller: Caller) -> None:
    source, target = caller.create("from"), caller.create("to")
    receipt = caller.relate(source, target)
    found = graph(caller, TYPED, source)
    assert [source, target] == [ref(node["record"]) for node in found["nodes"]]
    record = caller.ask(f"{RECORDS}/read", record_id=target["record_id"]).json()["record"]
    assert record == found["nodes"][1]["record"]
    read = caller.ask("/api/v1/memory/relations/read", relation_id=receipt["relation_id"]).json()["relation"]
    assert [read] == found["edges"]
    assert ("typed_relations_v1", "both", False) == (
        found["traversal_version"],
        found["direction"],
        found["include_derived"],
    )
    assert "root_record_ids" not in found, "the roots are named with what became of each"


def test_an_evidence_graph_answers_the_ancestry(caller: Caller) -> None:
    source = caller.create("source")
    derivation = {"sources": [source], "method": "summary", "method_revision": "1", "evidence_ref": "run/1"}
    derive = caller.command(RECORDS, type="derive", record={"content": "derived"}, derivation=derivation)
    derived = ref(accepted(derive))
    found = graph(caller, EVIDENCE, derived)
    assert [{"source": derived, "target": source, "relation": "derived_from"}] == found["edges"]
    assert ("derived_ancestry_v1", 4, 128) == (found["traversal_version"], found["max_depth"], found["node_limit"])


def test_the_largest_query_is_answered(caller: Caller) -> None:
    roots = [caller.create(f"root {number}") for number in range(16)]
    caller.relate(roots[0], roots[15])
    whole = {"max_depth": 8, "node_limit": 256, "edge_limit": 1024, "scan_limit": 4096, "include_derived": True}
    found = graph(caller, TYPED, *roots, relation_kinds=["supports"], direction="outgoing", **whole)
    assert (16, 1, True) == (len(found["nodes"]), len(found["edges"]), found["coverage"]["complete"])
    assert whole == {name: found[name] for name in whole}


@pytest.mark.parametrize("path", BOTH)
def test_a_cut_is_an_answer_and_a_foreign_root_is_unavailable(admin: Caller, caller: Caller, path: str) -> None:
    stranger = issue(admin)
    theirs, own = stranger.create(), caller.create()
    found = graph(caller, path, theirs, own, node_limit=1)
    assert ["unavailable", "not_examined"] == [root["status"] for root in found["roots"]]
    assert (False, ["node_limit"]) == (found["coverage"]["complete"], found["coverage"]["stop_reasons"])
    unknown = graph(caller, path, {"record_id": ABSENT}, node_limit=1)
    foreign = graph(caller, path, theirs, node_limit=1)
    assert unknown["coverage"] == foreign["coverage"], "a foreign record and an unknown one look alike"


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"root_record_ids": []},
        {"root_record_ids": [ABSENT] * 2},
        {"root_record_ids": [ABSENT, "urn:uuid:" + ABSENT.upper()]},
        {"root_record_ids": ["no uuid"]},
        {"root_record_ids": ABSENT},
        {"root_record_ids": [ABSENT], "max_depth": 9},
        {"root_record_ids": [ABSENT], "max_depth": -1},
        {"root_record_ids": [ABSENT], "node_limit": 0},
        {"root_record_ids": [ABSENT], "node_limit": 257},
        {"root_record_ids": [ABSENT], "node_limit": 1.0},
        {"root_record_ids": [ABSENT], "unknown": 1},
    ],
)
@pytest.mark.parametrize("path", BOTH)
def test_a_query_outside_the_schema_or_the_rules_is_400(caller: Caller, path: str, query: Json) -> None:
    assert INVALID == refusal(caller.ask(path, query=query))


@pytest.mark.parametrize(
    "members",
    [
        {"direction": "sideways"},
        {"relation_kinds": []},
        {"relation_kinds": ["supports", "supports"]},
        {"relation_kinds": ["supports", "compatible"]},
        {"relation_kinds": ["likes"]},
        {"edge_limit": 1025},
        {"scan_limit": 4097},
        {"include_derived": "no"},
    ],
)
def test_members_of_the_typed_graph_are_checked_and_are_none_of_the_other(caller: Caller, members: Json) -> None:
    query = {"root_record_ids": [ABSENT], **members}
    assert INVALID == refusal(caller.ask(TYPED, query=query))
    assert INVALID == refusal(caller.ask(EVIDENCE, query={"root_record_ids": [ABSENT], "direction": "both"}))


@pytest.mark.parametrize("path", BOTH)
def test_a_graph_needs_the_capability_to_read(admin: Caller, path: str) -> None:
    blind = issue(admin, capabilities=["memory_write", "memory_review"])
    assert FORBIDDEN == refusal(blind.ask(path, query={"root_record_ids": [ABSENT]}))


def test_graphs_of_one_instant_are_equal_whoever_asks_and_nulls_are_omissions(caller: Caller) -> None:
    root = caller.create()
    caller.relate(root)
    names = ("direction", "relation_kinds", "max_depth", "node_limit", "edge_limit", "scan_limit", "include_derived")
    plain, nulls = graph(caller, TYPED, root), graph(caller, TYPED, root, **dict.fromkeys(names))
    assert {**plain, "evaluated_at_millis": 0} == {**nulls, "evaluated_at_millis": 0}
