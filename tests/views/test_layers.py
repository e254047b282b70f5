"""Mined edges beside what was authored: they change nothing of it, and dropping them leaves every row as it was."""

from __future__ import annotations

from threading import Event, Thread
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.clock import ManualClock
from relatum.core.kinds import Kind, kinds_of
from relatum.core.mined import MinedEdge
from relatum.ledger import Ledger
from tests.support import builders
from tests.support.builders import START_MILLIS
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.support.polling import WAIT_SECONDS
from tests.support.stores import assert_rebuilds, published_rows
from tests.views.asking import Asking
from tests.views.mining import Miner, mined, propose

RECORDS = 5
NUMBERS = st.integers(0, RECORDS - 1)
MEMORY = st.sampled_from(kinds_of("memory"))


class Edge(NamedTuple):
    """An edge between numbered records, in one of the layers."""

    source: int
    kind: Kind
    target: int


EDGES = st.lists(st.builds(Edge, NUMBERS, MEMORY, NUMBERS).filter(lambda one: one.source != one.target), max_size=8)


@given(EDGES, EDGES, st.data())
def test_a_mined_edge_never_changes_a_count_a_rank_or_a_status(
    authored: list[Edge], guessed: list[Edge], data: st.DataObject
) -> None:
    with Ledger.in_memory(clock=ManualClock(START_MILLIS)) as ledger:
        desk, asking, miner = Desk(ledger), Asking(ledger), Miner(ledger)
        facts = [f"ferry {number}" for number in range(RECORDS)]
        refs = [
            desk.create(fact, event_time_millis=at, fact_key="f" if at % 2 else None) for at, fact in enumerate(facts)
        ]
        for edge in authored:
            if edge.kind != "temporal_before" or edge.source < edge.target:
                desk.accept(builders.assertion(refs[edge.source], refs[edge.target], edge.kind))
        both = data.draw(st.lists(st.sampled_from(authored), max_size=3)) if authored else []
        before, rows = asking.authored(*refs, prompt="ferry 1"), published_rows(ledger)
        miner.replace(*(mined(refs[one.source], refs[one.target], one.kind) for one in (*guessed, *both)))
        assert (before, rows) == (asking.authored(*refs, prompt="ferry 1"), published_rows(ledger))
        edges = asking.graph(*refs, include_derived=True).edges
        shown = [one for one in edges if getattr(one, "layer", None) == "derived"]
        pairs = {(refs[one.source], one.kind, refs[one.target]) for one in (*guessed, *both)}
        assert pairs == {
            (one.source, one.kind, one.target) for one in shown if getattr(one, "layer", None) == "derived"
        }
        miner.drop()
        assert (before, rows) == (asking.authored(*refs, prompt="ferry 1"), published_rows(ledger))
        assert len(asking.graph(*refs).edges) == len(asking.graph(*refs, include_derived=True).edges)


def test_dropping_after_a_promotion_leaves_the_relation_its_journal_and_every_row(ledger: Ledger) -> None:
    desk, asking, miner = Desk(ledger), Asking(ledger), Miner(ledger)
    desk.ledger.activate(desk.partition, desk.author, "typed_memory_relations")
    one, other = desk.create("one"), desk.create("other")
    miner.replace(mined(one, other), mined(other, one, "contradicts"))
    assert ["promoted"] == miner.promote(propose(one, other))
    before, rows = asking.authored(one, other), published_rows(ledger)
    miner.drop()
    assert (before, rows) == (asking.authored(one, other), published_rows(ledger))
    assert_rebuilds(ledger)


def test_what_happens_to_the_authored_layer_leaves_the_mined_one(ledger: Ledger) -> None:
    desk, asking, miner, judging = Desk(ledger), Asking(ledger), Miner(ledger), JudgingDesk(ledger)
    one, other, third = desk.create("one"), desk.create("other"), desk.create("third")
    miner.replace(mined(one, other), mined(one, third, "contradicts"))

    def guessed() -> list[MinedEdge]:
        with ledger.view() as view:
            return view.mined.all(view.partition(desk.partition).workspace_id)

    before = guessed()
    receipt = desk.relate(one, other)
    desk.retire(receipt)
    judging.compare(one, third, "conflicts_with")
    judging.compare(one, third, "supersedes")
    desk.delete(other)
    assert before == guessed()
    assert [(one, third)] == [
        (edge.source, edge.target)
        for edge in asking.graph(one, include_derived=True).edges
        if getattr(edge, "layer", None) == "derived"
    ]


@pytest.mark.parametrize("direction", ["outgoing", "incoming"])
def test_a_walk_of_the_mined_layer_is_a_search_of_its_index(ledger: Ledger, direction: str) -> None:
    column = {"outgoing": "source", "incoming": "target"}[direction]
    statement = (
        f"EXPLAIN QUERY PLAN SELECT source, kind, target, weight FROM edge WHERE workspace = ? AND {column} = ?"
        f" ORDER BY kind, {'target' if column == 'source' else 'source'} LIMIT ?"
    )
    plan = ledger._derived._database.execute(statement, (b"", b"", 1)).fetchall()
    assert [True] == ["SEARCH" in step[-1] and f"{column}=?" in step[-1] for step in plan], plan


def test_a_walk_sees_one_run_and_never_parts_of_two(ledger: Ledger) -> None:
    desk, asking, miner = Desk(ledger), Asking(ledger), Miner(ledger)
    refs = [desk.create(f"record {number}") for number in range(12)]
    pairs = [(one, other) for one in refs for other in refs if one != other]
    runs = [[mined(one, other, weight=weight) for one, other in pairs] for weight in (0.25, 0.75)]
    miner.replace(*runs[0])
    done = Event()

    def replace() -> None:
        for turn in range(30):
            miner.replace(*runs[turn % 2])
        done.set()

    replacing = Thread(target=replace)
    replacing.start()
    seen: set[float] = set()
    while not done.is_set():
        edges = asking.graph(refs[0], include_derived=True, max_depth=1).edges
        weights = {edge.weight for edge in edges}
        assert 1 == len(weights)
        seen |= weights
    replacing.join(WAIT_SECONDS)
    assert not replacing.is_alive()
    assert seen <= {0.25, 0.75}
