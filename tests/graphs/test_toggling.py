"""Writers toggle reviews while readers take graphs: every graph is of one instant, whole, and its counters agree."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from threading import Event

import pytest

from relatum.core.answers.graphs import TypedGraph
from relatum.core.receipts import RelationReceipt
from relatum.ledger import Ledger
from tests.graphs.walking import Walking, star
from tests.support.desk import Desk

WRITERS = 8
READERS = 2
LEAVES = 24
ROUNDS = 12
ROUNDS_MAX = 1_000
"""So many more may be needed until a reader, whose turn comes when the machine likes, has seen a change."""
WAIT_SECONDS = 120.0


@pytest.fixture(params=["memory", "rocks"])
def open_ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], Ledger]:
    return Ledger.in_memory if request.param == "memory" else lambda: Ledger.open(tmp_path / "ledger", create=True)


def test_every_graph_of_a_star_is_complete_while_eight_threads_toggle_reviews(
    open_ledger: Callable[[], Ledger],
) -> None:
    with open_ledger() as ledger, ThreadPoolExecutor(WRITERS + READERS) as threads:
        hub, _, relations = star(Desk(ledger), LEAVES)
        seen, done = Event(), Event()
        readers = [threads.submit(read, Walking(Desk(ledger)), hub.record_id, seen, done) for _ in range(READERS)]
        shares = [relations[number::WRITERS] for number in range(WRITERS)]
        writers: list[Future[None]] = [threads.submit(toggle, Desk(ledger), share, seen) for share in shares]
        try:
            for writer in writers:
                writer.result(WAIT_SECONDS)
        finally:
            done.set()
        graphs = [graph for reader in readers for graph in reader.result(WAIT_SECONDS)]
    for graph in graphs:
        edges = len(graph.edges)
        assert graph.coverage.complete
        assert (2 * edges, 1 + edges) == (graph.coverage.adjacency_entries_examined, len(graph.nodes))
    assert len({len(graph.edges) for graph in graphs}) > 1, "no reader ever saw the star change"


def toggle(desk: Desk, relations: list[RelationReceipt], seen: Event) -> None:
    """Each relation is rejected and approved again, round by round, and further until a reader has seen it."""
    for turn in range(ROUNDS_MAX):
        if turn >= ROUNDS and seen.is_set():
            return
        for disposition in ("rejected", "approved"):
            relations = [desk.judge(relation, disposition) for relation in relations]


def read(walking: Walking, hub: str, seen: Event, done: Event) -> list[TypedGraph]:
    """Graphs of the hub until the writers are done, and one more. It is `seen` once one lacks a relation."""
    graphs = []
    while not done.is_set():
        graphs.append(walking.typed(hub))
        if len(graphs[-1].edges) < LEAVES:
            seen.set()
    return [*graphs, walking.typed(hub)]
