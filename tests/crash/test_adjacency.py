"""The graph around a record is what the model's relations make of it, and whatever differs is noticed."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy

import pytest

from crash_tests.adjacency import compare, neighbourhood
from crash_tests.history import Json
from crash_tests.model import Model
from crash_tests.violation import Violation

NOW = 100
ROOT, NEAR, FAR, GONE = "root", "near", "far", "gone"


def record(record_id: str, revision: int = 1, **members: object) -> Json:
    shown = {"record_id": record_id, "revision": revision, "content_revision": revision, "state": "active"}
    shown |= {"review": None, "derivation": None}
    return shown | {"input": {"valid_until_millis": None}} | members


def relation(name: str, source: str, target: str, **members: object) -> Json:
    times = {"valid_from_millis": None, "valid_until_millis": None}
    ends = {"source": ref(source), "target": ref(target)}
    names = (*times, "kind", "evidence_sources")
    given = {"kind": "supports", **ends, **times, **{key: members.pop(key) for key in list(members) if key in names}}
    return {"relation_id": name, "state": "active", "review": None, "input": given} | members


def ref(record_id: str, revision: int = 1) -> Json:
    return {"record_id": record_id, "revision": revision}


def model(*relations: Json) -> Model:
    made = Model()
    for one in (record(ROOT), record(NEAR), record(FAR), record(GONE, state="deleted")):
        made.records[one["record_id"]] = [one]
    for one in relations:
        made.relations[one["relation_id"]] = [one]
    return made


def chain() -> Model:
    """Root and neighbour, twice related, a record behind the neighbour, and much that does not count."""
    return model(
        relation("a", ROOT, NEAR),
        relation("b", NEAR, ROOT),
        relation("c", NEAR, FAR),
        relation("retired", ROOT, FAR, state="retired"),
        relation("rejected", ROOT, FAR, review={"disposition": "rejected"}),
        relation("over", ROOT, FAR, valid_until_millis=NOW),
        relation("to come", FAR, ROOT, valid_from_millis=NOW + 1),
        relation("unfounded", ROOT, FAR, evidence_sources=[ref(GONE)]),
        relation("to nowhere", ROOT, GONE),
    )


def answer(made: Model) -> Json:
    """What a sound server says of the neighbourhood of the root in `chain`."""
    return {
        "roots": [{"record_id": ROOT, "status": "included"}],
        "nodes": [{"record": made.records[name][0], "depth": depth} for name, depth in ((ROOT, 0), (NEAR, 1))],
        "edges": [made.relations[name][0] for name in ("a", "b")],
        "coverage": {"complete": False, "stop_reasons": ["depth_limit"], "adjacency_entries_examined": 9},
    }


def test_a_walk_of_one_step_finds_what_may_be_read_and_counts_what_is_indexed() -> None:
    found = neighbourhood(chain(), ROOT, NOW)
    assert {(ROOT, 1): 0, (NEAR, 1): 1} == found.nodes
    assert {"a", "b"} == found.edges
    # Root and neighbour have two entries each for a and b, one for c, and the root four that lead to nothing.
    assert (9, True, True, True) == (found.entries, found.leads_on, found.may_lead_on, found.fits)


def test_a_record_that_may_not_be_read_has_no_neighbours() -> None:
    made = chain()
    made.records[ROOT].append(record(ROOT, 2, review={"disposition": "rejected"}))
    assert ({}, set(), 0) == neighbourhood(made, ROOT, NOW)[:3]


def test_a_verdict_that_is_no_more_than_that_is_counted_and_leads_nowhere() -> None:
    known = Model()
    known.records = {name: [record(name)] for name in (ROOT, NEAR)}
    known.relations = {"verdict": [relation("verdict", ROOT, NEAR, kind="not_conflict")]}
    found = neighbourhood(known, ROOT, NOW)
    assert ({(ROOT, 1): 0}, set(), 1) == (found.nodes, found.edges, found.entries)


def test_a_relation_to_another_revision_leads_nowhere() -> None:
    made = model(relation("a", ROOT, NEAR))
    made.records[NEAR].append(record(NEAR, 2))
    found = neighbourhood(made, ROOT, NOW)
    assert ({(ROOT, 1): 0}, set(), 1) == found[:3]


def test_a_sound_answer_is_content() -> None:
    made = chain()
    compare(made, ROOT, neighbourhood(made, ROOT, NOW), answer(made))


UNSOUND: dict[str, tuple[Callable[[Json], object], str]] = {
    "the root is hidden": (lambda graph: graph["roots"][0].update(status="unavailable"), "its root"),
    "a neighbour is missing": (lambda graph: graph["nodes"].pop(), "its nodes"),
    "a neighbour is too far": (lambda graph: graph["nodes"][1].update(depth=2), "its nodes"),
    "a neighbour is shown otherwise": (lambda graph: graph["nodes"][1]["record"].update(review={}), "record near"),
    "an edge is missing": (lambda graph: graph["edges"].pop(), "its edges"),
    "an edge is told twice": (lambda graph: graph["edges"].append(graph["edges"][0]), "tells an edge twice"),
    "an edge is shown otherwise": (lambda graph: graph["edges"][0].update(state="retired"), "relation a"),
    "an index entry is missing": (
        lambda graph: graph["coverage"].update(adjacency_entries_examined=8),
        "how many index entries",
    ),
    "it is cut for want of room": (
        lambda graph: graph["coverage"].update(stop_reasons=["node_limit"]),
        "was cut by",
    ),
    "it says that nothing leads on": (
        lambda graph: graph["coverage"].update(stop_reasons=[], complete=True),
        "says that nothing leads on",
    ),
    "it says complete and is cut": (lambda graph: graph["coverage"].update(complete=True), "whether it is complete"),
}


@pytest.mark.parametrize(("damage", "noticed"), UNSOUND.values(), ids=UNSOUND)
def test_an_unsound_answer_is_noticed(damage: Callable[[Json], object], noticed: str) -> None:
    made = chain()
    graph = deepcopy(answer(made))
    damage(graph)
    with pytest.raises(Violation, match=f"the graph around record root.*{noticed}"):
        compare(made, ROOT, neighbourhood(made, ROOT, NOW), graph)


def test_a_walk_that_says_something_leads_on_where_nothing_does_is_noticed() -> None:
    made = model(relation("a", ROOT, NEAR), relation("b", NEAR, ROOT))
    graph = answer(made) | {}
    graph["coverage"]["adjacency_entries_examined"] = 4
    with pytest.raises(Violation, match="says that something leads on, and nothing does"):
        compare(made, ROOT, neighbourhood(made, ROOT, NOW), graph)
