"""Mined edges over a kill: the last run that was finished must be there, or one in doubt since, wholly."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from crash_tests.history import Json
from crash_tests.mining import Mined, Miner
from crash_tests.random_draws import seeded
from crash_tests.violation import Violation
from tests.crash.scripted import Running, Scripted, error
from tests.crash.told import ACCOUNT

EDGE = ("a", "supports", "b", 0.25)
OTHER = ("a", "supports", "b", 1.0)


@pytest.fixture
def mined() -> Mined:
    return Mined(ACCOUNT)


def look(mined: Mined, *edges: tuple[str, str, str, float], complete: bool = True) -> int:
    names = ("source_id", "kind", "target_id", "weight")
    told = {"edges": [dict(zip(names, edge, strict=True)) for edge in edges], "complete": complete}
    connection = Scripted()
    connection.told(200, msgspec.json.encode(told))
    return mined.look(connection)  # type: ignore[arg-type]  # a stand-in


def asked(mined: Mined, *edges: tuple[str, str, str, float]) -> None:
    mined.possible.append(frozenset(edges))


def test_what_was_acknowledged_must_be_there_and_nothing_else(mined: Mined) -> None:
    assert 0 == look(mined)
    asked(mined, EDGE)
    mined.acknowledged()
    assert 1 == look(mined, EDGE)
    for found in ((), (OTHER,), (EDGE, ("a", "supports", "c", 0.0))):
        with pytest.raises(Violation, match="not those that may be"):
            look(mined, *found)


def test_what_is_in_doubt_may_be_there_or_not_and_stays_as_it_is_found(mined: Mined) -> None:
    for found, gone in (((), (EDGE,)), ((EDGE,), ())):
        mined.possible = [frozenset(), frozenset([EDGE])]
        look(mined, *found)
        with pytest.raises(Violation, match="not those that may be"):
            look(mined, *gone)


def test_a_part_of_a_run_is_noticed(mined: Mined) -> None:
    asked(mined, EDGE, ("b", "supports", "c", 0.0))
    with pytest.raises(Violation, match="1 mined edges are there"):
        look(mined, EDGE)


def test_an_edge_that_is_told_twice_and_an_answer_that_is_cut_are_noticed(mined: Mined) -> None:
    asked(mined, EDGE)
    for edges, complete in (((EDGE, EDGE), True), ((EDGE,), False)):
        with pytest.raises(Violation, match="told twice, or not all"):
            look(mined, *edges, complete=complete)


class Store(Scripted):
    """Stands where a server would that keeps runs; `answers` are those that are not 200."""

    def __init__(self) -> None:
        super().__init__()
        self.staged: list[Json] = []
        self.edges: list[Json] = []
        self.finished = 0

    def post(self, path: str, body: bytes) -> Any:
        asked: Json = msgspec.json.decode(body)
        verb = path.rpartition("/")[2]
        if verb != "dangling" and self.answers:
            return super().post(path, body)
        if verb == "drop":
            self.edges, self.staged = [], []
        elif verb == "replace":
            self.staged = [one for one in self.staged if one["run"] == asked["run"]] + [asked]
            if asked.get("finish"):
                self.edges, self.finished = [edge for page in self.staged for edge in page["edges"]], self.finished + 1
        self.told(200, msgspec.json.encode({"edges": self.edges, "complete": True}))
        return self.answers.pop()


def test_a_miner_finishes_runs_of_pages_and_drops_them(mined: Mined) -> None:
    miner, store = Miner(mined, Running(), seeded(4), lambda: True), Store()  # type: ignore[arg-type]  # a stand-in
    miner._connection = store  # type: ignore[assignment]  # a stand-in
    for number in range(40):
        if number % 4:
            miner._mine()
        else:
            miner._ask("drop", frozenset())
        assert 1 == len(mined.possible)
        assert len(store.edges) == len(mined.possible[0])
    assert 30 == store.finished


def test_a_change_that_was_not_answered_stays_in_doubt(mined: Mined) -> None:
    server = Running(stopping=True)
    miner, store = Miner(mined, server, seeded(4), lambda: True), Store()  # type: ignore[arg-type]  # a stand-in
    miner._connection = store  # type: ignore[assignment]  # a stand-in
    store.told(503, error("storage_unavailable"))
    assert not miner._ask("drop", frozenset([EDGE]))
    assert [frozenset(), frozenset([EDGE])] == mined.possible
