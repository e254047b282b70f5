"""Kinds over the wire: classes and the types of ends, walks along one class, symmetric kinds from both ends."""

from __future__ import annotations

import pytest

from relatum.core.kinds import REGISTRY, Kind, KindClass, kinds_of
from tests.http.client import INVALID, RECORDS, RELATIONS, STALE, Caller, Json, issue, ref, refusal, relation
from tests.views.over_http.calling import GRAPH, graph, status

TYPES = ("memory", "person", "session", "task")
CLASSES: tuple[KindClass, ...] = ("memory", "verdict", "person", "provenance", "task")


def ends(caller: Caller, kind: Kind) -> tuple[Json, Json]:
    """New records that a kind may join."""
    row = REGISTRY[kind]
    return (
        caller.create("one", type=row.source_type, event_time_millis=1),
        caller.create("other", type=row.target_type, event_time_millis=2),
    )


def accepted_commands(caller: Caller) -> int:
    """How many commands the partition has accepted, this question's own among them."""
    answer = caller.command(RECORDS, type="create", record={"content": "how many so far"})
    count: int = answer.json()["receipt"]["commit_sequence"]
    return count


@pytest.mark.parametrize("kind_class", CLASSES)
def test_a_class_that_disagrees_with_the_type_of_an_end_is_refused_before_any_write(
    caller: Caller, kind_class: KindClass
) -> None:
    of_type = {each: (caller.create(each, type=each), caller.create(each, type=each)) for each in TYPES}
    before = accepted_commands(caller)
    kind = kinds_of(kind_class)[0]
    row = REGISTRY[kind]
    wrong = [(one, other) for one in TYPES for other in TYPES if (one, other) != (row.source_type, row.target_type)]
    for source_type, target_type in wrong:
        given = relation(of_type[source_type][0], of_type[target_type][1], kind=kind)
        assert INVALID == refusal(caller.command(RELATIONS, type="assert", relation=given))
    assert before + 1 == accepted_commands(caller)
    caller.relate(of_type[row.source_type][0], of_type[row.target_type][1], kind=kind)
    assert before + 3 == accepted_commands(caller)


def test_a_missing_end_is_told_before_the_types(caller: Caller) -> None:
    task, memory = caller.create(type="task"), caller.create()
    given = relation(task, {**memory, "revision": 2}, kind="supports")
    assert STALE == refusal(caller.command(RELATIONS, type="assert", relation=given))


def test_a_kind_that_is_in_no_class_breaks_the_schema(caller: Caller) -> None:
    given = relation(caller.create(), caller.create(), kind="is_friends_with")
    assert INVALID == refusal(caller.command(RELATIONS, type="assert", relation=given))


@pytest.mark.parametrize("kind", REGISTRY)
def test_a_walk_along_one_kind_finds_it_and_a_walk_without_kinds_is_one_along_memory(
    caller: Caller, kind: Kind
) -> None:
    source, target = ends(caller, kind)
    asserted = caller.relate(source, target, kind=kind)
    for root in (source, target):
        found = graph(caller, root, relation_kinds=[kind])
        assert [asserted["relation_id"]] == [edge["relation_id"] for edge in found["edges"]]
        by_default = graph(caller, root)
        assert list(kinds_of("memory")) == by_default["relation_kinds"]
        assert (REGISTRY[kind].kind_class == "memory") is bool(by_default["edges"])


def test_a_walk_along_kinds_of_two_classes_is_refused(caller: Caller) -> None:
    root = caller.create()
    first = {one: kinds_of(one)[0] for one in CLASSES}
    for one in CLASSES:
        for other in CLASSES:
            query = {"root_record_ids": [root["record_id"]], "relation_kinds": [first[one], first[other]]}
            answer = caller.ask(f"{GRAPH}/typed", query=query)
            assert INVALID == refusal(answer), (one, other)  # of one class: a kind that is named twice
    assert kinds_of("task") == tuple(graph(caller, root, relation_kinds=list(kinds_of("task")))["relation_kinds"])


def test_symmetric_kinds_are_stored_as_asserted_and_counted_by_partner(caller: Caller) -> None:
    hub, others = caller.create("hub"), [caller.create(f"other {number}") for number in range(3)]
    for other in others:
        told = caller.relate(hub, other, kind="contradicts")
        caller.relate(other, hub, kind="contradicts")
        edges = {edge["relation_id"]: edge["input"] for edge in graph(caller, other, max_depth=1)["edges"]}
        assert (hub["record_id"], other["record_id"]) == (
            edges[told["relation_id"]]["source"]["record_id"],
            edges[told["relation_id"]]["target"]["record_id"],
        )
    assert [3, 1, 1, 1] == [status(caller, one)["contested_count"] for one in (hub, *others)]


def test_a_plain_supersedes_has_no_side_effect(caller: Caller) -> None:
    new, old = caller.create("new"), caller.create("old")
    caller.relate(new, old, kind="supersedes")
    untouched = {"state": "current", "pinned": False, "superseded_by": None, "replaces": []}
    assert [untouched, untouched] == [status(caller, one)["standing"] for one in (new, old)]


def test_no_class_opens_another_partition(admin: Caller, caller: Caller) -> None:
    foreign = issue(admin).create("elsewhere", type="person")
    given = relation(caller.create(), ref(foreign), kind="about_person")
    assert STALE == refusal(caller.command(RELATIONS, type="assert", relation=given))
