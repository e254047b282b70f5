"""Mined edges over the wire: replaced a run at a time, dropped, walked, mended (views.md, derived edges)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from relatum.core.kinds import REGISTRY
from relatum.limits import BATCH_BODY_BYTES_MAX, DERIVED_PAGE_MAX
from tests.http.client import ABSENT, INVALID, RELATIONS, TOO_LARGE, Caller, Json, accepted, issue, refusal
from tests.judgments.over_http.calling import answered, change, compare
from tests.views.over_http.calling import (
    EDGES,
    MINING,
    RUN,
    context,
    edge,
    graph,
    health,
    ids,
    mine,
    mined,
    overview,
    promote,
    proposal,
    stand,
    status,
)

NOWHERE = {"record_id": ABSENT, "revision": 1}
OTHER_RUN = {"run_id": "another night", "run_date": "2026-01-09"}


def told(edges: list[Json]) -> list[tuple[str, str, str, float]]:
    return [(one["source"]["record_id"], one["kind"], one["target"]["record_id"], one["weight"]) for one in edges]


def dangling(caller: Caller, **members: Any) -> Json:
    return answered(caller.ask(f"{EDGES}/dangling", **members))


def repair(caller: Caller, **members: Any) -> Json:
    return answered(caller.ask(f"{EDGES}/repair", **members))


def test_pages_of_a_run_are_seen_only_when_it_is_finished_and_take_the_place_of_the_run_before(caller: Caller) -> None:
    one, other, third = caller.create("one"), caller.create("other"), caller.create("third")
    assert {"contract_version": 1, "run_id": "night", "edges": 1, "finished": True} == mine(caller, edge(one, other))
    before = told(mined(caller, one))
    assert [(one["record_id"], "supports", other["record_id"], 0.5)] == before
    assert {"edges": 1, "finished": False}.items() <= mine(
        caller, edge(one, third), finish=False, run=OTHER_RUN
    ).items()
    assert before == told(mined(caller, one))
    last = mine(caller, edge(third, one, "caused_by", 1), run=OTHER_RUN)
    assert (2, True) == (last["edges"], last["finished"])
    assert [
        (one["record_id"], "supports", third["record_id"], 0.5),
        (third["record_id"], "caused_by", one["record_id"], 1.0),
    ] == sorted(told(mined(caller, one)), key=lambda each: each[1] != "supports")
    mine(caller, run=RUN)
    assert [] == mined(caller, one)


def test_the_last_page_of_a_run_sent_again_after_a_lost_answer_changes_nothing(caller: Caller) -> None:
    one, other, third = caller.create("one"), caller.create("other"), caller.create("third")
    for last in ([edge(one, third)], []):
        mine(caller, edge(one, other), finish=False)
        answer = mine(caller, *last)
        before = told(mined(caller, one))
        assert 1 + len(last) == len(before) == answer["edges"]
        assert (answer, before) == (mine(caller, *last), told(mined(caller, one)))
    mine(caller, edge(one, other), finish=False)
    mine(caller, edge(one, third))
    assert 1 == mine(caller, edge(one, third), run=OTHER_RUN)["edges"], "another run takes its place"
    assert 1 == mine(caller, edge(one, third))["edges"], "and what is repeated after that is a run of its own"


def test_a_last_page_is_a_run_of_its_own_once_its_run_was_dropped(caller: Caller) -> None:
    one, other, third = caller.create("one"), caller.create("other"), caller.create("third")
    mine(caller, edge(one, other), finish=False)
    mine(caller, edge(one, third))
    answered(caller.ask(f"{EDGES}/derived/drop"))
    assert 1 == mine(caller, edge(one, third))["edges"]
    assert [third["record_id"]] == [found[2] for found in told(mined(caller, one))]


def test_an_edge_that_a_run_names_twice_is_one_edge(caller: Caller) -> None:
    one, other = caller.create("one"), caller.create("other")
    assert 1 == mine(caller, edge(one, other, weight=0.25), edge(one, other, weight=0.75))["edges"]
    assert [0.75] == [found["weight"] for found in mined(caller, one)]


def test_ends_may_be_missing_and_are_passed_over_in_walks(caller: Caller) -> None:
    one, gone = caller.create("one"), caller.create("gone")
    change(caller, "delete", gone)
    mine(caller, edge(one, NOWHERE), edge(gone, one))
    found = graph(caller, one, include_derived=True)
    assert ([], True) == (found["edges"], found["coverage"]["complete"])


def test_what_is_wrong_with_a_page(caller: Caller) -> None:
    one, other = caller.create("one"), caller.create("other")
    sound = edge(one, other)
    mine(caller, sound)

    def refused(**members: Any) -> tuple[int, str]:
        body = {"run": RUN, "edges": [edge(other, one)], "finish": True, **members}
        return refusal(caller.ask(f"{EDGES}/derived/replace", **body))

    for kind, row in REGISTRY.items():
        if row.kind_class != "memory":
            assert INVALID == refused(edges=[{**sound, "kind": kind}]), kind
    for weight in (-0.001, 1.001, "0.5", True, None):
        assert INVALID == refused(edges=[{**sound, "weight": weight}]), weight
    for run in (
        {**RUN, "run_date": day} for day in ("2026-1-08", "2026-02-29", "2026-13-01", "08.01.2026", "2026-01-08T")
    ):
        assert INVALID == refused(run=run), run
    assert INVALID == refused(run={**RUN, "run_id": " "})
    assert INVALID == refused(edges=[{**sound, "target_id": one["record_id"]}])
    assert INVALID == refused(edges=[{**sound, "confidence": 0.5}])
    assert INVALID == refused(idempotency_key="key"), "the routes of mined edges carry no key"
    assert [(one["record_id"], "supports", other["record_id"], 0.5)] == told(mined(caller, one))
    mine(caller, run={**RUN, "run_date": "2028-02-29"})


def test_a_page_has_at_most_five_thousand_edges_and_one_mebibyte(caller: Caller) -> None:
    def page(edges: int, size: int = 0) -> Any:
        given = [
            {"source_id": ABSENT, "target_id": f"{n:08x}-0000-7000-8000-000000000000", "kind": "supports", "weight": 1}
            for n in range(edges)
        ]
        body = {"contract_version": 1, "scope": caller.scope, "run": RUN, "edges": given, "finish": True}
        return caller.raw(f"{EDGES}/derived/replace", json.dumps(body).encode().ljust(size))

    assert INVALID == refusal(page(DERIVED_PAGE_MAX + 1))
    assert DERIVED_PAGE_MAX == answered(page(DERIVED_PAGE_MAX, BATCH_BODY_BYTES_MAX))["edges"]
    assert TOO_LARGE == refusal(page(1, BATCH_BODY_BYTES_MAX + 1))
    assert DERIVED_PAGE_MAX == answered(caller.ask(f"{EDGES}/derived/drop"))["dropped"]


def test_dropping_takes_mined_edges_and_nothing_else(caller: Caller) -> None:
    answered(caller.ask(f"{RELATIONS}/changes/activate"))
    one, other, third = caller.create("one ferry"), caller.create("other"), caller.create("third")
    caller.relate(one, other, kind="contradicts")
    asked: list[Callable[[], Json]] = [
        lambda: graph(caller, one),
        lambda: health(caller),
        lambda: overview(caller),
        lambda: status(caller, one),
        lambda: context(caller, "ferry"),
        lambda: answered(caller.ask(f"{RELATIONS}/query", filter={})),
        lambda: answered(caller.ask(f"{RELATIONS}/changes", query={"limit": 5})),
    ]

    def authored() -> list[str]:
        answers = json.dumps([ask() for ask in asked])
        return re.sub(r'"evaluated_at_millis": \d+', "", answers).split("}")

    before = authored()
    mine(caller, edge(one, other, "contradicts"), edge(third, one, "contradicts"), edge(one, third, "supersedes"))
    mine(caller, edge(one, third), finish=False, run=OTHER_RUN)
    assert before == authored()
    assert 3 == answered(caller.ask(f"{EDGES}/derived/drop"))["dropped"]
    assert before == authored()
    assert [] == mined(caller, one)
    assert 1 == mine(caller, edge(one, third), run=OTHER_RUN)["edges"], "an unfinished run is dropped, too"
    assert 1 == answered(caller.ask(f"{EDGES}/derived/drop"))["dropped"]
    assert 0 == answered(caller.ask(f"{EDGES}/derived/drop"))["dropped"]


def test_the_same_pair_in_both_layers_never_touches(caller: Caller) -> None:
    one, other = caller.create("one"), caller.create("other")
    mine(caller, edge(one, other, "supports", 0.25))
    asserted = caller.relate(one, other, kind="supports")
    found = graph(caller, one, include_derived=True)["edges"]
    assert [asserted["relation_id"], None] == [each.get("relation_id") for each in found]
    retired = accepted(caller.change("retire", asserted))
    assert [(one["record_id"], "supports", other["record_id"], 0.25)] == told(mined(caller, one))
    accepted(caller.change("restore", retired))
    answered(caller.ask(f"{EDGES}/derived/drop"))
    assert [asserted["relation_id"]] == [each.get("relation_id") for each in graph(caller, one)["edges"]]
    assert ["related_already"] == [each["outcome"] for each in promote(caller, proposal(one, other))]
    mine(caller, edge(one, other, "supports", 0.25))
    assert 2 == len(graph(caller, one, include_derived=True)["edges"])


def test_mined_edges_are_shown_only_when_asked_for_and_marked(caller: Caller) -> None:
    one, other, third = caller.create("one"), caller.create("other"), caller.create("third")
    mine(caller, edge(one, other, "leads_to", 0.125), edge(other, third, "supports", 1))
    assert ([], 1) == ((plain := graph(caller, one))["edges"], len(plain["nodes"]))
    found = graph(caller, one, include_derived=True)
    assert {
        "layer": "derived",
        "source": one,
        "target": other,
        "kind": "leads_to",
        "weight": 0.125,
    } == found["edges"][0]
    assert [0, 1, 2] == [node["depth"] for node in found["nodes"]]
    assert ([], ["leads_to"]) == (
        mined(caller, one, direction="incoming"),
        [each["kind"] for each in mined(caller, one, direction="outgoing", max_depth=1)],
    )
    assert ["supports"] == [each["kind"] for each in mined(caller, other, relation_kinds=["supports"])]
    assert [] == mined(caller, one, relation_kinds=["compatible"])


def test_a_walk_examines_the_entries_of_its_nodes_in_both_layers_and_no_others(caller: Caller) -> None:
    hub, spokes = caller.create("hub"), [caller.create(f"spoke {number}") for number in range(12)]
    for spoke in spokes[:5]:
        caller.relate(hub, spoke)
    noise = [edge(one, other, "part_of") for one in spokes for other in spokes if one != other]
    mine(caller, *(edge(hub, spoke) for spoke in spokes[5:]), *noise)

    def examined(root: Json, **query: Any) -> int:
        asked = {"max_depth": 0, "include_derived": True, **query}
        count: int = graph(caller, root, **asked)["coverage"]["adjacency_entries_examined"]
        return count

    assert (12, 5) == (examined(hub), examined(hub, include_derived=False))
    assert (12, 0) == (examined(hub, direction="outgoing"), examined(hub, direction="incoming"))
    assert 1 + 11 == examined(spokes[0], direction="incoming")
    assert 11 == examined(spokes[0], direction="outgoing")
    asked = {"include_derived": True, "max_depth": 1, "direction": "outgoing", "relation_kinds": ["supports"]}
    walked = graph(caller, hub, scan_limit=8, **asked)
    assert (["scan_limit"], 8) == (
        walked["coverage"]["stop_reasons"],
        walked["coverage"]["adjacency_entries_examined"],
    )
    cut = graph(caller, hub, edge_limit=7, **asked)
    assert (["edge_limit"], 7) == (cut["coverage"]["stop_reasons"], len(cut["edges"]))
    few = graph(caller, hub, node_limit=7, **asked)
    assert (["node_limit"], 7) == (few["coverage"]["stop_reasons"], len(few["nodes"]))


def test_edges_whose_end_is_gone_are_listed_and_led_on_or_dropped(caller: Caller) -> None:
    kept, old, new, newest, gone = (caller.create(name) for name in ("kept", "old", "new", "newest", "gone"))
    answered(compare(caller, new, old, "supersedes"))
    answered(compare(caller, newest, new, "supersedes"))
    change(caller, "delete", gone)
    sound = edge(kept, newest, "part_of")
    bad = [edge(kept, old), edge(gone, kept), edge(old, newest, "caused_by"), edge(kept, NOWHERE), edge(new, gone)]
    mine(caller, sound, *bad)
    found = dangling(caller)
    assert found["complete"]
    assert sorted(map(str, bad)) == sorted(map(str, found["edges"]))
    done = repair(caller)
    assert [{"before": bad[0], "after": edge(kept, newest)}] == done["moved"]
    assert sorted(map(str, bad[1:])) == sorted(map(str, done["dropped"]))
    assert ([], True) == ((left := dangling(caller))["edges"], left["complete"])
    assert {("part_of", newest["record_id"]), ("supports", newest["record_id"])} == {
        (kind, target) for _, kind, target, _ in told(mined(caller, kept))
    }
    assert {"moved": [], "dropped": []}.items() <= repair(caller).items()


def test_archived_ends_are_not_gone(caller: Caller) -> None:
    one, other = caller.create("one"), caller.create("other")
    accepted(stand(caller, "archive", other))
    mine(caller, edge(one, other))
    assert [] == dangling(caller)["edges"]


def test_a_superseded_end_that_was_deleted_is_still_led_on(caller: Caller) -> None:
    one, old, new = caller.create("one"), caller.create("old"), caller.create("new")
    answered(compare(caller, new, old, "supersedes"))
    change(caller, "delete", old)
    mine(caller, edge(one, old), edge(one, new, weight=0.75))
    assert [{"before": edge(one, old), "after": edge(one, new)}] == repair(caller)["moved"]
    assert [0.75] == [each["weight"] for each in mined(caller, one)], "the edge that was there already stays"


def test_lists_and_repairs_take_a_limit(caller: Caller) -> None:
    one = caller.create("one")
    ghosts = [{"record_id": f"{number:08x}-0000-7000-8000-000000000000"} for number in range(5)]
    mine(caller, *(edge(one, ghost) for ghost in ghosts))
    some = dangling(caller, limit=2)
    assert (2, False) == (len(some["edges"]), some["complete"])
    assert (5, True) == (len((every := dangling(caller, limit=5))["edges"]), every["complete"])
    assert [2, 2, 1] == [len(repair(caller, limit=2)["dropped"]) for _ in range(3)]
    for limit in (0, 1001):
        assert INVALID == refusal(caller.ask(f"{EDGES}/dangling", limit=limit))


def test_partitions_do_not_share_mined_edges(admin: Caller, caller: Caller) -> None:
    one, other = caller.create("one"), caller.create("other")
    mine(caller, edge(one, other))
    stranger = issue(admin, capabilities=list(MINING))
    assert 0 == answered(stranger.ask(f"{EDGES}/derived/drop"))["dropped"]
    assert [] == dangling(stranger)["edges"]
    assert 1 == len(mined(caller, one))
    assert ids(one, other) == [
        node["record"]["record_id"] for node in graph(caller, one, include_derived=True)["nodes"]
    ]
