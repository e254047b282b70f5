"""What views answer after a restart, and after the derived files were thrown away."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.http.client import RECEIPTS, Api, Caller, Json, accepted, issue, refusal
from tests.http.serving import Server, initialise
from tests.judgments.over_http.calling import answered, compare
from tests.views.over_http.calling import (
    EDGES,
    MINING,
    RUN,
    context,
    edge,
    health,
    linked,
    mark,
    mine,
    mined,
    overview,
    promote,
    proposal,
    stand,
    statuses,
    validate,
)

UNAVAILABLE = (503, "storage_unavailable")
OTHER_RUN = {"run_id": "another night", "run_date": "2026-01-09"}


class House:
    """A store that is served now and then."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._admin = initialise(directory)
        self._caller: Caller | None = None

    @contextmanager
    def open(self) -> Iterator[Caller]:
        with Server(self.directory) as server, Api(server.url) as api:
            if self._caller is None:
                self._caller = issue(Caller(api, self._admin), capabilities=list(MINING))
            yield Caller(api, self._caller.secret, self._caller.scope)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path / "store")


def authored(caller: Caller, *refs: Json) -> list[object]:
    found: list[object] = [health(caller), overview(caller), statuses(caller, *refs), validate(caller)]
    block = context(caller, "ferry harbour", budget_characters=500)
    for entry in block["entries"]:
        del entry["score"]  # which fades with every second
    return [*found, block]


def test_everything_is_there_after_a_restart_and_the_authored_part_without_derived_files(house: House) -> None:
    with house.open() as caller:
        refs = [caller.create(f"the ferry {number}", fact_key="ferry", category="constraint") for number in range(3)]
        linked(caller, refs[0], refs[1], "conflicts")
        answered(compare(caller, refs[2], refs[0], "supersedes"))
        accepted(stand(caller, "pin", refs[1]))
        accepted(mark(caller, refs[1], refs[2]))
        assert ["promoted"] == [one["outcome"] for one in promote(caller, proposal(refs[1], refs[2]), key="a night")]
        promote(caller, proposal(refs[0], refs[1], "contradicts"), day="2026-01-08")
        mine(caller, edge(refs[1], refs[2], "leads_to"))
        mine(caller, edge(refs[2], refs[1], "part_of"), finish=False, run=OTHER_RUN)
        before, edges = authored(caller, *refs), mined(caller, refs[1])
        assert 1 == len(edges)
    with house.open() as caller:
        assert (before, edges) == (authored(caller, *refs), mined(caller, refs[1]))
        receipt = answered(caller.ask(RECEIPTS, family="judgment", idempotency_key="a night"))["receipt"]
        assert "a night" == receipt["idempotency_key"]
        assert 1 == mine(caller, run=OTHER_RUN)["edges"], "the pages of an unfinished run are still there"
        assert ["part_of"] == [one["kind"] for one in mined(caller, refs[1])]
    for name in ("derived.sqlite", "search.sqlite"):
        (house.directory / name).unlink()
    with house.open() as caller:
        assert (before, []) == (authored(caller, *refs), mined(caller, refs[1]))
        assert ["promoted"] == [
            one["outcome"] for one in promote(caller, proposal(refs[1], refs[0], "contradicts"), day="2026-01-09")
        ], "the detections of a day are no part of what was thrown away"
        mine(caller, edge(refs[1], refs[2]), run=RUN)
        assert 1 == len(mined(caller, refs[1]))


@pytest.mark.slow
def test_a_mined_layer_that_is_damaged_keeps_nothing_else_back(house: House) -> None:
    with house.open() as caller:
        one, other = caller.create("the ferry"), caller.create("the harbour")
        mine(caller, edge(one, other, "leads_to"))
        before = authored(caller, one, other)
    derived = house.directory / "derived.sqlite"
    derived.write_bytes(b"nothing that SQLite knows" * 1_000)
    with house.open() as caller:
        assert before == authored(caller, one, other)
        for path, body in ((f"{EDGES}/dangling", {"limit": 5}), (f"{EDGES}/derived/drop", {})):
            answer = caller.ask(path, **body)
            assert UNAVAILABLE == refusal(answer)
            assert "the mined edges can't be read" in answer.json()["error"]["message"]
        accepted(stand(caller, "pin", one))
    derived.unlink()
    with house.open() as caller:
        assert [] == mined(caller, one)
        mine(caller, edge(one, other, "leads_to"))
        assert 1 == len(mined(caller, one))
