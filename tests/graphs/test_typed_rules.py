"""The typed graph, rule by rule: what is a node, what is an edge, and in which order."""

from __future__ import annotations

import msgspec
import pytest

from relatum.clock import ManualClock
from relatum.core.graphs import KINDS_DEFAULT, TypedGraphQuery
from relatum.core.kinds import Kind
from tests.graphs.walking import Walking, chain, depths, edge_ids, star, statuses, stops
from tests.support.builders import START_MILLIS, unknown_id
from tests.support.desk import Desk


def test_a_star_read_from_its_hub_is_complete_and_meets_each_edge_twice(desk: Desk, walking: Walking) -> None:
    hub, leaves, relations = star(desk, 7)
    graph = walking.typed(hub)
    assert () == stops(graph)
    assert {hub.record_id: 0} | {leaf.record_id: 1 for leaf in leaves} == depths(graph)
    assert sorted(relation.relation_id for relation in relations) == edge_ids(graph)
    coverage = graph.coverage
    assert (8, 14, 7) == (
        coverage.records_examined,
        coverage.adjacency_entries_examined,
        coverage.relations_examined,
    )


def test_the_answer_names_the_effective_query(desk: Desk, walking: Walking) -> None:
    record = desk.create()
    graph = walking.typed(record)
    assert ("both", KINDS_DEFAULT, 2, 128, 256, 1024, False) == (
        graph.direction,
        graph.relation_kinds,
        graph.max_depth,
        graph.node_limit,
        graph.edge_limit,
        graph.scan_limit,
        graph.include_derived,
    )
    assert ("typed_relations_v1", START_MILLIS) == (graph.traversal_version, graph.evaluated_at_millis)
    given = walking.typed(record, relation_kinds=("blocks", "subtask_of"), max_depth=0, direction="incoming")
    assert (("blocks", "subtask_of"), 0, "incoming") == (given.relation_kinds, given.max_depth, given.direction)


def test_null_is_the_same_as_omission() -> None:
    root = unknown_id()
    members = TypedGraphQuery.__struct_fields__[1:]
    nulls = msgspec.convert({"root_record_ids": [root]} | dict.fromkeys(members), TypedGraphQuery)
    assert TypedGraphQuery(root_record_ids=(root,)).bounds() == nulls.bounds()


def test_a_missing_a_deleted_and_an_expired_root_look_alike(desk: Desk, walking: Walking) -> None:
    deleted = desk.delete(desk.create())
    expired = desk.create(valid_until_millis=START_MILLIS)
    good = desk.create()
    graph = walking.typed(unknown_id(), deleted, expired, good)
    assert ["unavailable", "unavailable", "unavailable", "included"] == statuses(graph)
    assert ({good.record_id: 0}, 4, ()) == (depths(graph), graph.coverage.records_examined, stops(graph))


def test_roots_keep_the_order_in_which_they_were_asked_for(desk: Desk, walking: Walking) -> None:
    first, second = desk.create(), desk.create()
    desk.relate(first, second)
    graph = walking.typed(second, first)
    assert [second.record_id, first.record_id] == [root.record_id for root in graph.roots]
    assert [second.record_id, first.record_id] == list(depths(graph))


@pytest.mark.parametrize(
    ("direction", "reached"), [("outgoing", [2, 3, 4]), ("incoming", [0, 1, 2]), ("both", [0, 1, 2, 3, 4])]
)
def test_a_direction_chooses_what_is_reached_and_edges_stay_as_asserted(
    desk: Desk, walking: Walking, direction: str, reached: list[int]
) -> None:
    links = chain(desk, 5)
    places = {link.record_id: place for place, link in enumerate(links)}
    graph = walking.typed(links[2], direction=direction)
    assert reached == sorted(places[record_id] for record_id in depths(graph))
    assert len(reached) - 1 == len(graph.edges)
    for edge in graph.edges:
        assert places[edge.input.source.record_id] + 1 == places[edge.input.target.record_id]


def test_parallel_relations_are_all_edges(desk: Desk, walking: Walking) -> None:
    one, other = desk.create(), desk.create()
    relations = [desk.relate(one, other), desk.relate(one, other), desk.relate(other, one, "contradicts")]
    assert {relation.relation_id for relation in relations} == set(edge_ids(walking.typed(one)))


def test_only_the_kinds_asked_for_are_edges_and_the_class_memory_unless_asked(desk: Desk, walking: Walking) -> None:
    one, other = desk.create(), desk.create()
    made: dict[Kind, str] = {
        kind: desk.relate(one, other, kind).relation_id for kind in ("supports", "part_of", "compatible")
    }
    assert {made["supports"], made["part_of"]} == set(edge_ids(walking.typed(one)))
    only = walking.typed(one, relation_kinds=("part_of",))
    assert ([made["part_of"]], 3) == (edge_ids(only), only.coverage.relations_examined)
    assert [made["compatible"]] == edge_ids(walking.typed(one, relation_kinds=("compatible", "scoped")))


def test_a_relation_outside_its_interval_is_no_edge(desk: Desk, walking: Walking, clock: ManualClock) -> None:
    one, other = desk.create(), desk.create()
    relation = desk.relate(
        one, other, valid_from_millis=START_MILLIS + 10, valid_until_millis=START_MILLIS + 20
    ).relation_id
    found = {}
    for later in (9, 10, 19, 20):
        clock.set(START_MILLIS + later)
        found[later] = edge_ids(walking.typed(one))
    assert {9: [], 10: [relation], 19: [relation], 20: []} == found


def test_a_retired_and_a_rejected_relation_are_not_even_examined(desk: Desk, walking: Walking) -> None:
    one, other = desk.create(), desk.create()
    desk.retire(desk.relate(one, other))
    desk.judge(desk.relate(one, other), "rejected")
    assert 0 == walking.typed(one).coverage.adjacency_entries_examined


def test_a_neighbour_at_another_revision_is_left_out_without_a_trace(desk: Desk, walking: Walking) -> None:
    one, other = desk.create(), desk.create()
    desk.relate(one, other)
    now = desk.revise(other)
    graph = walking.typed(one)
    assert ({one.record_id: 0}, [], ()) == (depths(graph), edge_ids(graph), stops(graph))
    assert 2 == graph.coverage.records_examined
    assert [] == edge_ids(walking.typed(one, now)), "the relation pins the revision before"


def test_two_relations_that_pin_two_revisions_of_one_neighbour_cost_one_look_up(desk: Desk, walking: Walking) -> None:
    one, other = desk.create(), desk.create()
    desk.relate(one, other)
    fresh = desk.relate(one, desk.revise(other))
    graph = walking.typed(one, node_limit=2)
    assert ([fresh.relation_id], 2, ()) == (edge_ids(graph), graph.coverage.records_examined, stops(graph))


def test_invalid_evidence_hides_a_relation_even_beyond_the_depth(desk: Desk, walking: Walking) -> None:
    one, other, witness = desk.create(), desk.create(), desk.create()
    desk.relate(one, other, evidence_sources=(witness,))
    assert ("depth_limit",) == stops(walking.typed(one, max_depth=0))
    desk.delete(witness)
    graph = walking.typed(one, max_depth=0)
    assert () == stops(graph)
    assert (1, 1) == (graph.coverage.relations_examined, graph.coverage.dependency_work.records_examined)


def test_an_edge_between_two_roots_is_emitted_at_depth_0(desk: Desk, walking: Walking) -> None:
    one, other = desk.create(), desk.create()
    relation = desk.relate(one, other)
    graph = walking.typed(one, other, max_depth=0)
    assert ([relation.relation_id], ()) == (edge_ids(graph), stops(graph))


def test_mined_edges_may_be_asked_for_and_there_are_none(desk: Desk, walking: Walking) -> None:
    hub, _, _ = star(desk, 2)
    plain, derived = walking.typed(hub), walking.typed(hub, include_derived=True)
    assert (True, plain.edges, plain.coverage) == (derived.include_derived, derived.edges, derived.coverage)
