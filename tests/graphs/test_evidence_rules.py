"""The evidence graph, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from relatum.clock import ManualClock
from relatum.core.ids import Ref
from tests.graphs.walking import Walking, depths, statuses, stops
from tests.support.builders import START_MILLIS, unknown_id
from tests.support.desk import Desk


def line(desk: Desk, length: int, **members: Any) -> list[Ref]:
    """Records each derived from the one before; the newest first."""
    made = [desk.create(**members)]
    for _ in range(length - 1):
        made.append(desk.derive(made[-1]))
    return made[::-1]


def test_an_ancestry_is_answered_with_edges_from_the_derived_to_its_source(desk: Desk, walking: Walking) -> None:
    line_of_three = line(desk, 3)
    graph = walking.evidence(line_of_three[0])
    assert {record.record_id: place for place, record in enumerate(line_of_three)} == depths(graph)
    assert [(line_of_three[0], line_of_three[1]), (line_of_three[1], line_of_three[2])] == [
        (edge.source, edge.target) for edge in graph.edges
    ]
    assert {"derived_from"} == {edge.relation for edge in graph.edges}
    assert ((), 4, 128) == (stops(graph), graph.max_depth, graph.node_limit)
    assert ("derived_ancestry_v1", START_MILLIS) == (graph.traversal_version, graph.evaluated_at_millis)
    assert (3, 2) == (graph.coverage.records_examined, graph.coverage.dependency_work.records_examined)


def test_sources_are_taken_in_ascending_id_whatever_the_order_they_were_named_in(
    desk: Desk, walking: Walking, clock: ManualClock
) -> None:
    sources = []
    for _ in range(3):
        sources.append(desk.create())
        clock.advance(1)
    derived = desk.derive(*reversed(sources))
    graph = walking.evidence(derived)
    assert [derived.record_id, *(source.record_id for source in sources)] == list(depths(graph))
    assert sources == [edge.target for edge in graph.edges]


@pytest.mark.parametrize("depth", range(9))
def test_an_ancestry_is_cut_at_each_depth(desk: Desk, walking: Walking, depth: int) -> None:
    line_of_nine = line(desk, 9)
    graph = walking.evidence(line_of_nine[0], max_depth=depth)
    assert {record.record_id: place for place, record in enumerate(line_of_nine[: depth + 1])} == depths(graph)
    assert (("depth_limit",) if depth < 8 else ()) == stops(graph)
    assert depth + 1 == graph.coverage.records_examined


def test_the_node_limit_cuts_an_ancestry(desk: Desk, walking: Walking) -> None:
    derived = desk.derive(*(desk.create() for _ in range(3)))
    assert () == stops(walking.evidence(derived, node_limit=4))
    graph = walking.evidence(derived, node_limit=3)
    assert (("node_limit",), 3, 2) == (stops(graph), len(graph.nodes), len(graph.edges))


def test_a_source_missing_at_the_greatest_depth_is_a_matter_of_depth_even_if_the_node_limit_is_used_up(
    desk: Desk, walking: Walking
) -> None:
    newest = line(desk, 3)[0]
    assert ("depth_limit",) == stops(walking.evidence(newest, max_depth=1, node_limit=2))
    assert ("node_limit",) == stops(walking.evidence(newest, max_depth=2, node_limit=2))


def test_a_shared_ancestor_is_one_node_with_an_edge_from_each_descendant(desk: Desk, walking: Walking) -> None:
    ancestor = desk.create()
    left, right = desk.derive(ancestor), desk.derive(ancestor)
    bottom = desk.derive(left, right)
    graph = walking.evidence(bottom)
    assert {bottom.record_id: 0, left.record_id: 1, right.record_id: 1, ancestor.record_id: 2} == depths(graph)
    assert (4, 4) == (len(graph.edges), graph.coverage.records_examined)


def test_edges_between_two_roots_are_answered_at_depth_0(desk: Desk, walking: Walking) -> None:
    newer, older = line(desk, 2)
    graph = walking.evidence(newer, older, max_depth=0)
    assert ([(newer, older)], ()) == ([(edge.source, edge.target) for edge in graph.edges], stops(graph))


def test_what_lies_beyond_the_depth_shown_still_decides_whether_a_root_is_available(
    desk: Desk, walking: Walking, clock: ManualClock
) -> None:
    line_of_five = line(desk, 5, valid_until_millis=START_MILLIS + 10)
    assert ["included"] == statuses(walking.evidence(line_of_five[0], max_depth=1))
    clock.advance(10)
    graph = walking.evidence(line_of_five[0], max_depth=1)
    assert (["unavailable"], ()) == (statuses(graph), stops(graph))
    assert () == graph.nodes


def test_roots_are_unavailable_or_not_examined_as_in_the_typed_graph(desk: Desk, walking: Walking) -> None:
    gone = desk.delete(desk.create())
    graph = walking.evidence(unknown_id(), gone, desk.create(), node_limit=2)
    assert ["unavailable", "unavailable", "not_examined"] == statuses(graph)
    assert (("node_limit",), 2) == (stops(graph), graph.coverage.records_examined)
