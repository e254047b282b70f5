"""What reviewers look at: records in every state, outlines, histories, links, and the same in a workspace."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest

from tests.company.administering import within, workspace_of
from tests.http.client import ABSENT, INVALID, RECORDS, RELATIONS, Caller, Json, accepted, issue, ref, refusal

LINKS = "/api/v1/memory/links"


def review(caller: Caller, at: Json, disposition: str) -> Json:
    """The receipt of a review of a record."""
    operation = {"record_id": at["record_id"], "expected_revision": at["revision"], "disposition": disposition}
    return accepted(caller.command(RECORDS, type="review", evidence_ref="note/1", **operation))


def delete(caller: Caller, at: Json) -> None:
    operation = {"record_id": at["record_id"], "expected_revision": at["revision"]}
    accepted(caller.command(RECORDS, type="delete", **operation))


def derive(caller: Caller, *sources: Json) -> Json:
    derivation = {"sources": list(sources), "method": "sum", "method_revision": "1", "evidence_ref": "run/1"}
    return ref(accepted(caller.command(RECORDS, type="derive", record={"content": "derived"}, derivation=derivation)))


def named(dependent: Json) -> str:
    """The id of the derived record, or of the relation."""
    found: str = dependent["head"]["record_id"] if dependent["head"] else dependent["relation"]["relation_id"]
    return found


def link(caller: Caller, source: Json, target: Json) -> None:
    ends = {"source_id": source["record_id"], "target_id": target["record_id"]}
    accepted(caller.command(LINKS, type="link", kind="related", **ends))


def retained(caller: Caller, **members: Any) -> Json:
    response = caller.ask(f"{RECORDS}/retained", filter=members)
    assert 200 == response.status_code, response.text
    page: Json = response.json()["page"]
    return page


class World(NamedTuple):
    """Somebody who may review, an administrator of the same company, and records by name."""

    caller: Caller
    admin: Caller
    made: dict[str, Json]

    @property
    def workspace(self) -> str:
        return workspace_of(self.caller)


@pytest.fixture(scope="module")
def world(admin: Caller) -> World:
    """A scope with a record in every state that the filters tell apart."""
    caller = issue(admin)
    other = issue(admin, scope=caller.scope)
    made = {name: caller.create(name) for name in ("plain", "approved", "rejected", "lifted", "deleted", "source")}
    made["foreign"] = other.create("foreign")
    made["derived"] = derive(caller, made["source"])
    review(caller, made["approved"], "approved")
    review(caller, made["rejected"], "rejected")
    review(caller, made["lifted"], "unreviewed")
    delete(caller, made["source"])
    delete(caller, made["deleted"])
    for verb, name in (("archive", "approved"), ("pin", "plain")):
        at = caller.ask(f"{RECORDS}/inspect", record_id=made[name]["record_id"]).json()["inspection"]["record"]
        operation = {"record_id": at["record_id"], "expected_revision": at["revision"]}
        accepted(caller.command(RECORDS, type=verb, **operation))
    return World(caller, admin, made)


FILTERS: list[tuple[Json, set[str]]] = [
    ({}, {"plain", "approved", "rejected", "lifted", "deleted", "source", "foreign", "derived"}),
    ({"state": "deleted"}, {"deleted", "source"}),
    ({"disposition": "approved"}, {"approved"}),
    ({"disposition": "none", "state": "active"}, {"plain", "foreign", "derived"}),
    ({"disposition": "waiting", "state": "active"}, {"plain", "foreign", "derived", "lifted"}),
    ({"standing": "archived"}, {"approved"}),
    ({"pinned": True}, {"plain"}),
    ({"derived": True}, {"derived"}),
    ({"eligible": False}, {"rejected", "deleted", "source", "derived"}),
    ({"reason": "rejected"}, {"rejected"}),
    ({"reason": "deleted"}, {"deleted", "source"}),
    ({"reason": "source_revision_changed"}, {"derived"}),
    ({"eligible": True, "derived": True}, set()),
]


@pytest.mark.parametrize(("members", "expected"), FILTERS)
def test_a_filter_finds_the_records_that_agree(world: World, members: Json, expected: set[str]) -> None:
    caller, admin, made = world
    names = {at["record_id"]: name for name, at in made.items()}
    entries = retained(caller, **members)["entries"]
    assert expected == {names[entry["record"]["record_id"]] for entry in entries}
    pages = [retained(caller, limit=1, **members)]
    while pages[-1]["next_cursor"] is not None:
        pages.append(retained(caller, limit=1, cursor=pages[-1]["next_cursor"], **members))
    joined = [entry["record"] for page in pages for entry in page["entries"]]
    assert joined == [entry["record"] for entry in entries], "pages join to the same list"
    seen_within = within(admin, "records/query", world.workspace, filter=members)
    assert expected == {names[one["record"]["record_id"]] for one in seen_within.json()["page"]["entries"]}


def test_the_author_is_whoever_wrote_the_present_content(world: World) -> None:
    caller, _, made = world
    author = caller.credential["spec"]["subject_id"]
    found = {entry["record"]["record_id"] for entry in retained(caller, author=author)["entries"]}
    assert found == {at["record_id"] for name, at in made.items() if name != "foreign"}


def test_heads_outline_records_in_every_state_and_say_null_for_others(world: World) -> None:
    caller, admin, made = world
    elsewhere = issue(admin).create()["record_id"]
    ids = [made[name]["record_id"] for name in ("derived", "deleted", "plain")] + [ABSENT, elsewhere]
    heads = caller.ask(f"{RECORDS}/heads", record_ids=ids).json()["heads"]
    derived, deleted, plain, absent, foreign = heads
    inspected = caller.ask(f"{RECORDS}/inspect", record_id=ids[0]).json()["inspection"]["eligibility"]
    assert (False, "derived") == (derived["eligible"], derived["preview"])
    assert inspected["first_failure"]["reason"] == derived["reason"]
    assert ("deleted", None, None, "deleted") == tuple(deleted[one] for one in ("state", "title", "preview", "reason"))
    assert (True, None, True) == (plain["eligible"], plain["reason"], plain["standing"]["pinned"])
    assert (None, None) == (absent, foreign), "an id of another partition is one that does not exist"
    assert heads == within(admin, "records/heads", world.workspace, record_ids=ids).json()["heads"]


@pytest.mark.parametrize(("number", "status"), [(0, 400), (1, 200), (100, 200), (101, 400)])
def test_one_to_a_hundred_distinct_heads_can_be_asked_for(world: World, number: int, status: int) -> None:
    ids = [f"00000000-0000-7000-8000-{one:012d}" for one in range(number)]
    assert status == world.caller.ask(f"{RECORDS}/heads", record_ids=ids).status_code
    assert status == within(world.admin, "records/heads", world.workspace, record_ids=ids).status_code
    twice = {"record_ids": [ABSENT, ABSENT]}
    assert INVALID == refusal(world.caller.ask(f"{RECORDS}/heads", **twice))
    assert INVALID == refusal(within(world.admin, "records/heads", "0" * 64, **twice)), "before the workspace is sought"


def test_histories_page_from_the_newest_revision_as_each_was_answered(world: World) -> None:
    caller, admin, _ = world
    at = caller.create("first")
    for number in range(2, 5):
        operation = {
            "record_id": at["record_id"],
            "expected_revision": number - 1,
            "record": {"content": f"no {number}"},
        }
        accepted(caller.command(RECORDS, type="revise", **operation))
    claim = caller.relate()
    accepted(caller.change("retire", claim))
    record, relation = {"record_id": at["record_id"]}, {"relation_id": claim["relation_id"]}
    for family, thing, newest in ((RECORDS, record, 4), (RELATIONS, relation, 2)):
        each = [
            caller.ask(f"{family}/revision", **thing, revision=number).json()["history"]
            for number in range(newest, 0, -1)
        ]
        page = caller.ask(f"{family}/history", **thing).json()["page"]
        assert {"history": each, "next_before_revision": None, "stop_reason": "exhausted"} == page
        joined: list[Json] = []
        stops: list[str] = []
        before: int | None = newest + 7
        while before is not None:
            page = caller.ask(f"{family}/history", **thing, limit=1, before_revision=before).json()["page"]
            joined, before = joined + page["history"], page["next_before_revision"]
            stops.append(page["stop_reason"])
        assert (each, ["record_limit"] * (newest - 1) + ["exhausted"]) == (joined, stops)
        route = f"{family.rpartition('/')[2]}/history"
        assert each == within(admin, route, world.workspace, **thing).json()["page"]["history"]
        for wrong in ({"limit": 0}, {"limit": 51}, {"before_revision": 0}):
            assert INVALID == refusal(caller.ask(f"{family}/history", **thing, **wrong))
        absent = dict.fromkeys(thing, ABSENT)
        assert (404, "record_not_found") == refusal(caller.ask(f"{family}/history", **absent))


def test_of_a_deleted_record_no_history_shows_a_text(world: World) -> None:
    record_id = world.made["deleted"]["record_id"]
    page = world.caller.ask(f"{RECORDS}/history", record_id=record_id).json()["page"]
    assert [None, None] == [one["record"]["input"] for one in page["history"]]
    assert ["deleted", "created"] == [one["receipt"]["action"] for one in page["history"]]


def test_links_are_shown_from_one_end_and_say_whether_they_are_active(world: World) -> None:
    caller, admin, made = world
    centre, near, far, gone = (caller.create(name, title=name) for name in ("centre", "near", "far", "gone"))
    for other in (near, far, gone):
        link(caller, centre, other)
    accepted(caller.command(RECORDS, type="archive", record_id=far["record_id"], expected_revision=1))
    review(caller, gone, "rejected")
    found = caller.ask(f"{LINKS}/query", record_id=centre["record_id"]).json()["links"]
    assert [("far", False), ("near", True)] == [(one["title"], one["active"]) for one in found], "the newest first"
    assert found == within(admin, "links/query", world.workspace, record_id=centre["record_id"]).json()["links"]
    for unfit in (gone["record_id"], made["deleted"]["record_id"], ABSENT):
        assert (404, "record_not_found") == refusal(caller.ask(f"{LINKS}/query", record_id=unfit))
    reader = issue(admin, capabilities=("memory_read",), scope=caller.scope)
    assert 200 == reader.ask(f"{LINKS}/query", record_id=centre["record_id"]).status_code
    assert 403 == reader.ask(f"{RECORDS}/history", record_id=centre["record_id"]).status_code


def test_a_query_of_relations_takes_class_method_and_verdict(world: World) -> None:
    caller, _, _ = world
    one, other = caller.create(), caller.create()
    stale = caller.relate(one, other)
    operation = {"record_id": one["record_id"], "expected_revision": 1, "record": {"content": "moved on"}}
    accepted(caller.command(RECORDS, type="revise", **operation))

    def found(**members: Any) -> set[str]:
        page = caller.ask(f"{RELATIONS}/query", filter={"endpoint": one["record_id"], **members}).json()["page"]
        return {entry["relation"]["relation_id"] for entry in page["relations"]}

    itself = {stale["relation_id"]}
    assert itself == found(eligible=False) == found(reason="endpoint_revision_changed") == found(**{"class": "memory"})
    assert itself == found(disposition="waiting") == found(method="by hand")
    assert set() == found(eligible=True) | found(reason="retired") | found(**{"class": "verdict"}) | found(method="x")
    accepted(caller.change("review", stale, disposition="approved"))
    assert set() == found(disposition="waiting")


def test_a_lineage_shows_what_is_there_and_where_it_fails(world: World) -> None:
    caller, admin, _ = world
    ground, gone = caller.create("ground"), caller.create("gone")
    middle = derive(caller, ground, gone)
    top = derive(caller, middle, ground)
    delete(caller, gone)
    itself = {"record_id": top["record_id"]}
    lineage = caller.ask(f"{RECORDS}/lineage", **itself).json()["lineage"]
    nodes = {node["record_id"]: node for node in lineage["nodes"]}
    assert [top["record_id"], middle["record_id"], ground["record_id"], gone["record_id"]] == list(nodes)
    assert [0, 1, 1, 2] == [node["depth"] for node in lineage["nodes"]]
    assert [None, None, None, "deleted"] == [node["reason"] for node in lineage["nodes"]], "each by itself"
    assert [False, False, True, False] == [node["head"]["eligible"] for node in lineage["nodes"]]
    holds = {(edge["derived"]["record_id"], edge["source"]["record_id"]): edge["holds"] for edge in lineage["edges"]}
    assert {
        (top["record_id"], middle["record_id"]): False,
        (top["record_id"], ground["record_id"]): True,
        (middle["record_id"], ground["record_id"]): True,
        (middle["record_id"], gone["record_id"]): False,
    } == holds
    inspected = caller.ask(f"{RECORDS}/inspect", **itself).json()["inspection"]["eligibility"]
    assert inspected["first_failure"] == lineage["first_failure"]
    assert {"complete": True, "stop_reasons": [], "records_examined": 4} == lineage["coverage"]
    seen_within = within(admin, "records/lineage", world.workspace, **itself).json()["lineage"]
    assert (lineage["nodes"], lineage["edges"]) == (seen_within["nodes"], seen_within["edges"])
    for bounds, left, stops in (
        ({"max_depth": 0}, 1, ["depth_limit"]),
        ({"max_depth": 1}, 3, ["depth_limit"]),
        ({"node_limit": 3}, 3, ["node_limit"]),
        ({"node_limit": 2, "max_depth": 1}, 2, ["depth_limit", "node_limit"]),
        ({"node_limit": 4, "max_depth": 2}, 4, []),
    ):
        cut = caller.ask(f"{RECORDS}/lineage", **itself, **bounds).json()["lineage"]
        assert (left, stops) == (len(cut["nodes"]), cut["coverage"]["stop_reasons"]), bounds
    for wrong in ({"max_depth": 9}, {"node_limit": 0}, {"node_limit": 257}):
        assert INVALID == refusal(caller.ask(f"{RECORDS}/lineage", **itself, **wrong))
    assert (404, "record_not_found") == refusal(caller.ask(f"{RECORDS}/lineage", record_id=ABSENT))


def test_dependents_are_listed_content_by_content_and_counted_for_the_present_one(world: World) -> None:
    caller, admin, _ = world
    at, other = caller.create("pinned"), caller.create("other")
    old = caller.relate(at, other)
    text = {"content": "moved on"}
    revision = {"record_id": at["record_id"], "expected_revision": 1, "record": text}
    accepted(caller.command(RECORDS, type="revise", **revision))
    content = {"record_id": at["record_id"], "revision": 2}
    review(caller, content, "approved")
    approved = {**content, "revision": 3}
    made = [
        ("source", 2, derive(caller, content)["record_id"]),
        ("endpoint", 3, caller.relate(approved, other)["relation_id"]),
        ("endpoint", 2, caller.relate(other, content)["relation_id"]),
        ("evidence", 3, caller.relate(evidence_sources=[approved])["relation_id"]),
        ("endpoint", 1, old["relation_id"]),
    ]
    itself = {"record_id": at["record_id"]}
    page = caller.ask(f"{RECORDS}/dependents", **itself).json()["page"]
    told = [(one["use"], one["pinned_revision"], named(one)) for one in page["dependents"]]
    assert made == told
    assert [True, True, True, True, False] == [one["eligible"] for one in page["dependents"]]
    assert {"source": 1, "endpoint": 2, "evidence": 1} == page["totals"]
    joined: list[Json] = []
    cursor: str | None = None
    while cursor is not None or not joined:
        step = caller.ask(f"{RECORDS}/dependents", **itself, limit=2, cursor=cursor).json()["page"]
        joined, cursor = joined + step["dependents"], step["next_cursor"]
    assert page["dependents"] == joined, "pages of two join to the same list"
    first = caller.ask(f"{RECORDS}/dependents", **itself, limit=1).json()["page"]["next_cursor"]
    assert INVALID == refusal(caller.ask(f"{RECORDS}/dependents", record_id=other["record_id"], cursor=first))
    assert page == within(admin, "records/dependents", world.workspace, **itself).json()["page"]
    delete(caller, approved)
    gone = caller.ask(f"{RECORDS}/dependents", **itself).json()["page"]
    assert {"source": 0, "endpoint": 0, "evidence": 0} == gone["totals"]
    assert [one[2] for one in made] == list(map(named, gone["dependents"]))
    for wrong in ({"limit": 0}, {"limit": 101}, {"cursor": "x"}):
        assert INVALID == refusal(caller.ask(f"{RECORDS}/dependents", **itself, **wrong))
    assert (404, "record_not_found") == refusal(caller.ask(f"{RECORDS}/dependents", record_id=ABSENT))
