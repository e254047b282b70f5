"""Both graphs against naive walks over a plain world: the same graph, and every counter the same."""

from __future__ import annotations

from typing import Any

from hypothesis import event, given
from hypothesis import strategies as st

from relatum.clock import ManualClock
from relatum.core.graphs import EvidenceGraphQuery, TypedGraphQuery
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.reads.graph_evidence import evidence_graph
from relatum.ledger.reads.graph_typed import typed_graph
from tests.graphs import naive
from tests.graphs.counted import Counted
from tests.graphs.histories import NUMBER, STEPS, History
from tests.graphs.shapes import evidence_shape, typed_shape
from tests.support.builders import PARTITION, START_MILLIS, unknown_id
from tests.support.desk import Desk

ROOTS = st.lists(st.integers(0, 8), min_size=1, max_size=4, unique=True)
"""Places among the records of a history; one beyond them stands for a record that does not exist."""

TYPED = st.fixed_dictionaries(
    {
        "direction": st.sampled_from(["both", "outgoing", "incoming"]),
        "relation_kinds": st.sampled_from([None, None, ["supports"], ["part_of", "contradicts"], ["compatible"]]),
        "max_depth": st.integers(0, 3),
        "node_limit": st.sampled_from([128, 5, 3, 2, 1]),
        "edge_limit": st.sampled_from([256, 4, 2, 1]),
        "scan_limit": st.sampled_from([1024, 20, 9, 5, 3, 1]),
    }
)
EVIDENCE = st.fixed_dictionaries({"max_depth": st.integers(0, 3), "node_limit": st.sampled_from([128, 5, 3, 2, 1])})


def roots_of(history: History, places: list[int]) -> list[str]:
    ids = list(history.world.records)
    chosen = [ids[place] if place < len(ids) else unknown_id(place) for place in places]
    return list(dict.fromkeys(chosen))


@given(steps=STEPS, later=NUMBER, places=ROOTS, queries=st.lists(TYPED, min_size=6, max_size=9))
def test_a_typed_graph_is_what_a_naive_walk_finds(
    steps: list[Any], later: int, places: list[int], queries: list[dict[str, Any]]
) -> None:
    clock = ManualClock(START_MILLIS)
    with Ledger.in_memory(clock=clock, entropy=Counted()) as ledger:
        history = History(Desk(ledger), START_MILLIS)
        history.take(steps)
        clock.advance(later)
        history.world.now += later
        for wanted in queries:
            wanted["root_record_ids"] = roots_of(history, places)
            with ledger.view() as view:
                graph = typed_graph(view.partition(PARTITION), view.now_millis, _typed_query(wanted))
            assert not isinstance(graph, Refusal)
            event(f"stops: {graph.coverage.stop_reasons}")
            assert naive.typed(history.world, wanted) == typed_shape(graph)


@given(steps=STEPS, later=NUMBER, places=ROOTS, queries=st.lists(EVIDENCE, min_size=6, max_size=9))
def test_an_evidence_graph_is_what_a_naive_walk_finds(
    steps: list[Any], later: int, places: list[int], queries: list[dict[str, Any]]
) -> None:
    clock = ManualClock(START_MILLIS)
    with Ledger.in_memory(clock=clock, entropy=Counted()) as ledger:
        history = History(Desk(ledger), START_MILLIS)
        history.take([("derive", a, b) if name == "relate" else (name, a, b) for name, a, b in steps])
        clock.advance(later)
        history.world.now += later
        for wanted in queries:
            wanted["root_record_ids"] = roots_of(history, places)
            query = EvidenceGraphQuery(**wanted | {"root_record_ids": tuple(wanted["root_record_ids"])})
            with ledger.view() as view:
                graph = evidence_graph(view.partition(PARTITION), view.now_millis, query)
            assert not isinstance(graph, Refusal)
            event(f"stops: {graph.coverage.stop_reasons}")
            assert naive.evidence(history.world, wanted) == evidence_shape(graph)


def _typed_query(wanted: dict[str, Any]) -> TypedGraphQuery:
    kinds = wanted["relation_kinds"]
    given = wanted | {
        "root_record_ids": tuple(wanted["root_record_ids"]),
        "relation_kinds": None if kinds is None else tuple(kinds),
    }
    return TypedGraphQuery(**given)
