"""Health and overview over the wire: what counts as linked and as a conflict (views.md)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.client import INVALID, Caller, Json, accepted, refusal
from tests.judgments.over_http.calling import answered, change, compare, submit
from tests.views.over_http.calling import GRAPH, edge, health, ids, linked, mine, overview, stand

MODEL = {"provider": "maker", "model": "reader", "revision": "7"}


def inferred(caller: Caller, source: Json, target: Json, **members: Any) -> Json:
    """A relation that a model has inferred."""
    how = {"origin": "model_inference", "method": "m", "method_revision": "1", "evidence_ref": "e", "model": MODEL}
    return caller.relate(source, target, provenance=how, **members)


def counts(caller: Caller) -> tuple[Any, ...]:
    found = health(caller)
    assert found["coverage"]["complete"]
    return tuple(found[name] for name in ("state", "records", "linked", "isolated", "conflicts", "red"))


def test_the_states_of_a_partition_from_empty_to_connected(caller: Caller) -> None:
    assert ("empty", 0, 0, 0, 0, False) == counts(caller)
    one, other, third = caller.create("one"), caller.create("other"), caller.create("third")
    assert ("disconnected", 3, 0, 3, 0, False) == counts(caller)
    linked(caller, one, other)
    assert ("partial", 3, 2, 1, 0, False) == counts(caller)
    caller.relate(third, caller.create("fourth"))
    assert ("connected", 4, 4, 0, 0, False) == counts(caller), "two pairs of records need not hang together"
    for record in (one, other, third):
        change(caller, "delete", record)
    assert ("disconnected", 1, 0, 1, 0, False) == counts(caller)


def test_conflicts_are_counted_by_pair_whichever_end_says_so_and_by_whatever_means(caller: Caller) -> None:
    one, other, third = caller.create("one"), caller.create("other"), caller.create("third")
    caller.relate(one, other, kind="contradicts")
    caller.relate(other, one, kind="contradicts")
    linked(caller, other, one, "conflicts")
    assert ("partial", 3, 2, 1, 1, True) == counts(caller)
    answered(compare(caller, third, one, "conflicts_with"))
    assert ("connected", 3, 3, 0, 2, True) == counts(caller)


def test_other_classes_and_ineligible_relations_do_not_count(caller: Caller) -> None:
    one, other, person = caller.create("one"), caller.create("other"), caller.create("p", type="person")
    caller.relate(one, person, kind="about_person")
    answered(compare(caller, one, other, "compatible"))
    mine(caller, edge(one, other, "contradicts"))
    caller.relate(one, other, valid_until_millis=1)
    told = caller.relate(one, other)
    retired = accepted(caller.change("retire", told))
    assert ("disconnected", 3, 0, 3, 0, False) == counts(caller)
    accepted(caller.change("restore", retired))
    assert ("partial", 3, 2, 1, 0, False) == counts(caller)
    change(caller, "review", other, disposition="rejected", evidence_ref="n")
    assert ("disconnected", 2, 0, 2, 0, False) == counts(caller), "what a reader could not read is not there"


def test_machine_relations_are_counted_until_somebody_approves_or_rejects_them(caller: Caller) -> None:
    one, other = caller.create("one"), caller.create("other")
    first, second = inferred(caller, one, other), inferred(caller, other, one)
    caller.relate(one, other)

    assert 2 == health(caller)["unreviewed_machine_relations"]
    first = accepted(caller.change("review", first, disposition="unreviewed"))
    assert 2 == health(caller)["unreviewed_machine_relations"], "looked at and left open"
    accepted(caller.change("review", first, disposition="approved"))
    assert 1 == health(caller)["unreviewed_machine_relations"]
    accepted(caller.change("review", second, disposition="rejected"))
    assert 0 == health(caller)["unreviewed_machine_relations"]


def waiting(caller: Caller) -> tuple[int, int | None]:
    """How many candidates wait, and how long the first has."""
    found = health(caller)
    return found["pending_candidates"], found["oldest_pending_age_millis"]


def test_candidates_wait_while_both_ends_are_active_and_current(caller: Caller) -> None:
    one, other, third = caller.create("one"), caller.create("other"), caller.create("third")
    assert (0, None) == waiting(caller)
    submit(caller, (one, other))
    submit(caller, (one, third))
    pending, age = waiting(caller)
    assert 2 == pending
    assert age is not None
    assert 0 <= age
    accepted(stand(caller, "archive", other))
    assert 1 == waiting(caller)[0]
    change(caller, "delete", third)
    assert (0, None) == waiting(caller)


def test_an_overview_shows_the_most_linked_and_what_is_between_them(caller: Caller) -> None:
    hub = caller.create("x" * 130, title="The hub")
    spokes = [caller.create(f"spoke {number}") for number in range(4)]
    for spoke in spokes[:3]:
        caller.relate(hub, spoke)
    caller.relate(hub, spokes[0])
    caller.relate(spokes[0], spokes[1], kind="contradicts")
    linked(caller, spokes[1], spokes[2], "supports")
    found = overview(caller, limit=3)
    assert [(spokes[1]["record_id"], 3), (hub["record_id"], 3)] == [
        (node["record_id"], node["degree"]) for node in found["nodes"][:2]
    ], "the most linked first, of equals the newest"
    node = next(one for one in found["nodes"] if one["record_id"] == hub["record_id"])
    assert ("The hub", "x" * 120, 3, 1) == (node["title"], node["preview"], node["degree"], node["revision"])
    chosen = {one["record_id"] for one in found["nodes"]}
    assert 3 == len(chosen)
    assert all({one["source_id"], one["target_id"]} <= chosen for one in found["edges"])
    assert ["node_limit"] == found["coverage"]["stop_reasons"]
    whole = overview(caller)
    assert 5 == len(whole["nodes"])
    assert {"authored": 4, "link": 1} == {
        layer: sum(one["layer"] == layer for one in whole["edges"]) for layer in ("authored", "link")
    }, "two relations that say the same are one edge"
    assert whole["coverage"]["complete"]
    assert [3, 3, 2, 2, 0] == [one["degree"] for one in whole["nodes"]]


def test_an_overview_tells_nothing_of_what_a_reader_could_not_read(caller: Caller) -> None:
    one, rejected, expired = caller.create("one"), caller.create("secret"), caller.create("old", valid_until_millis=1)
    linked(caller, one, rejected)
    change(caller, "review", rejected, disposition="rejected", evidence_ref="n")
    found = overview(caller)
    assert (ids(one), []) == ([node["record_id"] for node in found["nodes"]], found["edges"])
    assert expired["record_id"] not in str(found)


def test_other_classes_lend_no_weight_to_a_node(caller: Caller) -> None:
    one, other, person = caller.create("one"), caller.create("other"), caller.create("p", type="person")
    caller.relate(one, person, kind="about_person")
    caller.relate(one, other)
    found = {node["record_id"]: node["degree"] for node in overview(caller)["nodes"]}
    assert {one["record_id"]: 1, other["record_id"]: 1, person["record_id"]: 0} == found


@pytest.mark.parametrize("limit", [0, 201, -1, 1.5, "3"])
def test_a_limit_lies_between_1_and_200(caller: Caller, limit: object) -> None:
    assert INVALID == refusal(caller.ask(f"{GRAPH}/overview", limit=limit))
