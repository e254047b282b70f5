"""Limits of the typed graph, each at the limit and one past it, and the budgets that refuse a graph."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from relatum import limits
from relatum.clock import ManualClock
from relatum.core.graphs import EvidenceGraphQuery, TypedGraphQuery
from relatum.errors import Refusal
from tests.graphs.walking import Walking, chain, depths, edge_ids, star, statuses, stops
from tests.support.builders import assertion, provenance, unknown_id
from tests.support.desk import Desk

BAD_REQUEST = (400, "invalid_request")


def refused(outcome: object) -> tuple[int, str]:
    assert isinstance(outcome, Refusal), outcome
    return outcome.status, outcome.code


@pytest.mark.parametrize("depth", range(9))
def test_a_chain_is_cut_at_each_depth(desk: Desk, walking: Walking, depth: int) -> None:
    links = chain(desk, 9)
    graph = walking.typed(links[0], max_depth=depth)
    assert {link.record_id: place for place, link in enumerate(links[: depth + 1])} == depths(graph)
    assert (("depth_limit",) if depth < 8 else ()) == stops(graph)


def test_a_chain_that_ends_at_the_depth_is_complete(desk: Desk, walking: Walking) -> None:
    links = chain(desk, 3)
    assert () == stops(walking.typed(links[0], max_depth=2))
    assert ("depth_limit",) == stops(walking.typed(links[0], max_depth=1))


def test_each_look_up_costs_one_of_the_node_limit_whatever_it_finds(desk: Desk, walking: Walking) -> None:
    hub, leaves, _ = star(desk, 3)
    desk.delete(leaves[0])
    assert () == stops(walking.typed(hub, node_limit=4))
    graph = walking.typed(hub, node_limit=3)
    assert (("node_limit",), 3) == (stops(graph), graph.coverage.records_examined)
    with_a_missing_root = walking.typed(unknown_id(), hub, node_limit=4)
    assert (("node_limit",), 4) == (stops(with_a_missing_root), with_a_missing_root.coverage.records_examined)


def test_roots_beyond_the_node_limit_are_not_examined(desk: Desk, walking: Walking) -> None:
    roots = [desk.create() for _ in range(3)]
    graph = walking.typed(*roots, node_limit=2)
    assert ["included", "included", "not_examined"] == statuses(graph)
    assert (("node_limit",), 2) == (stops(graph), graph.coverage.records_examined)
    assert () == stops(walking.typed(*roots, node_limit=3))


def test_an_edge_to_a_node_that_is_in_already_needs_no_look_up(desk: Desk, walking: Walking) -> None:
    one, other, third = desk.create(), desk.create(), desk.create()
    inside = desk.relate(one, other)
    desk.relate(one, third)
    graph = walking.typed(one, other, node_limit=2)
    assert ([inside.relation_id], ("node_limit",)) == (edge_ids(graph), stops(graph))


def test_a_neighbour_beyond_the_edge_limit_is_looked_up_once_and_not_included(desk: Desk, walking: Walking) -> None:
    one, other, third = desk.create(), desk.create(), desk.create()
    desk.relate(one, other)
    for _ in range(3):
        desk.relate(one, third)
    assert () == stops(walking.typed(one, edge_limit=4))
    graph = walking.typed(one, edge_limit=1)
    assert (("edge_limit",), 3, 2) == (stops(graph), graph.coverage.records_examined, len(graph.nodes))
    sizes = walking.typed(one).coverage.record_bytes
    assert sizes == graph.coverage.record_bytes


@pytest.mark.parametrize("edges", [1, 4, 5, 6])
def test_the_edge_limit_cuts_a_star(desk: Desk, walking: Walking, edges: int) -> None:
    hub, _, _ = star(desk, 5)
    graph = walking.typed(hub, edge_limit=edges)
    shown = min(edges, 5)
    assert (shown, shown + 1) == (len(graph.edges), len(graph.nodes))
    assert (("edge_limit",) if edges < 5 else ()) == stops(graph)


def test_a_scan_budget_used_up_exactly_is_complete(desk: Desk, walking: Walking) -> None:
    hub, _, _ = star(desk, 5)
    exact = walking.typed(hub, scan_limit=10)
    assert ((), 10) == (stops(exact), exact.coverage.adjacency_entries_examined)
    short = walking.typed(hub, scan_limit=9)
    assert (("scan_limit",), 9) == (stops(short), short.coverage.adjacency_entries_examined)
    assert 6 == len(short.nodes), "what was found before the budget was gone is answered"


def test_all_four_reasons_are_told_in_their_order(desk: Desk, walking: Walking, clock: ManualClock) -> None:
    first, second, third = desk.create(), desk.create(), desk.create()
    for source, target in [(first, second), (first, second), (first, third), (second, third)]:
        desk.relate(source, target)
        clock.advance(1)  # so that the ids of the relations have the order in which they were made
    graph = walking.typed(first, node_limit=2, edge_limit=1, max_depth=1, scan_limit=5)
    assert ("depth_limit", "node_limit", "edge_limit", "scan_limit") == stops(graph)


@pytest.mark.parametrize(
    ("member", "least", "greatest"),
    [("max_depth", 0, 8), ("node_limit", 1, 256), ("edge_limit", 1, 1024), ("scan_limit", 1, 4096)],
)
def test_a_limit_out_of_range_is_refused_by_decoding(member: str, least: int, greatest: int) -> None:
    def decoded(value: object) -> Any:
        return msgspec.convert({"root_record_ids": [unknown_id()], member: value}, TypedGraphQuery)

    for bound in (least, greatest):
        assert bound == getattr(decoded(bound), member)
    for value in [least - 1, greatest + 1, True, 1.0, "1"]:
        with pytest.raises(msgspec.ValidationError):
            decoded(value)
        if member in EvidenceGraphQuery.__struct_fields__:
            with pytest.raises(msgspec.ValidationError):
                msgspec.convert({"root_record_ids": [unknown_id()], member: value}, EvidenceGraphQuery)


def test_1_to_16_distinct_roots_are_taken(walking: Walking) -> None:
    ids = [unknown_id(number) for number in range(17)]
    assert 16 == len(walking.typed(*ids[:16]).roots)
    for wrong in ([], ids, [ids[0], ids[0]]):
        assert BAD_REQUEST == refused(walking.try_typed(*wrong))
        assert BAD_REQUEST == refused(walking.try_evidence(*wrong))


def test_two_spellings_of_one_root_are_not_distinct() -> None:
    plain = unknown_id()
    query = msgspec.convert({"root_record_ids": [plain, "urn:uuid:" + plain.upper()]}, TypedGraphQuery)
    assert query.problem() is not None


@pytest.mark.parametrize(
    "kinds", [(), ("supports", "supports"), ("supports", "compatible"), ("blocks", "about_person")]
)
def test_kinds_are_distinct_and_of_one_class(walking: Walking, kinds: tuple[str, ...]) -> None:
    assert BAD_REQUEST == refused(walking.try_typed(unknown_id(), relation_kinds=kinds))


def test_8_mib_of_records_is_a_graph_and_a_byte_more_is_none(desk: Desk, walking: Walking) -> None:
    hub, large = desk.create("hub"), limits.CONTENT_BYTES_MAX
    empty = walking.typed(hub).coverage.record_bytes
    desk.relate(hub, desk.create("x" * large))
    each = walking.typed(hub).coverage.record_bytes - empty
    left = limits.GRAPH_RECORD_BYTES_MAX - empty - each
    while left > 2 * each:
        desk.relate(hub, desk.create("x" * large))
        left -= each
    for last in (left // 2, left - left // 2):
        desk.relate(hub, desk.create("x" * (last - (each - large))))
    whole = walking.typed(hub, node_limit=256)
    assert ((), limits.GRAPH_RECORD_BYTES_MAX) == (stops(whole), whole.coverage.record_bytes)
    desk.relate(hub, desk.create("x"))
    assert BAD_REQUEST == refused(walking.try_typed(hub, node_limit=256))
    assert ("node_limit",) == stops(walking.typed(hub, node_limit=100)), "a cut within the budget is no refusal"


def test_over_4_mib_of_relations_there_is_no_graph(desk: Desk, walking: Walking) -> None:
    one, other = desk.create(), desk.create()
    bulky = assertion(one, other, provenance=provenance(evidence_ref="e" * limits.EVIDENCE_REF_BYTES_MAX))
    desk.accept(bulky)
    fitting = limits.GRAPH_RELATION_BYTES_MAX // walking.typed(one).coverage.relation_bytes
    desk.ledger.submit_all([desk.command(bulky) for _ in range(fitting - 1)])
    whole = walking.typed(one, direction="outgoing", scan_limit=4096)
    assert (fitting, 256, ("edge_limit",)) == (whole.coverage.relations_examined, len(whole.edges), stops(whole))
    desk.accept(bulky)
    assert BAD_REQUEST == refused(walking.try_typed(one, direction="outgoing", scan_limit=4096))
    assert ("edge_limit", "scan_limit") == stops(walking.typed(one, direction="outgoing", scan_limit=fitting))
