"""Who gives way when a server holds as many connections as it may, and who is never made to."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.http.connections import SPARE, Cause, Connections
from relatum.telemetry import Metrics
from tests.doors.hosting import Host, Visitor, hosted, run
from tests.http.wire import head

FEW = 2 * SPARE
WORKING = FEW - SPARE
AT_ONCE = head("GET", "/at-once")


async def at_work(host: Host, number: int) -> list[Visitor]:
    """So many visitors, each waiting for an answer that the stage holds back."""
    visitors = [await host.visit(head("GET", "/held")) for _ in range(number)]
    await host.until_begun(*["/held"] * number)
    return visitors


async def served(visitor: Visitor) -> bool:
    await visitor.send(AT_ONCE)
    return (200, b"/at-once") == await visitor.answer()


def test_the_one_that_waited_longest_gives_way_to_a_new_one() -> None:
    async def test() -> None:
        async with hosted(connections_max=FEW) as host:
            visitors = [await host.visit() for _ in range(FEW)]
            assert all([await served(visitor) for visitor in (*visitors[1:], visitors[0])])
            newcomer = await host.visit(AT_ONCE)
            assert (200, b"/at-once") == await newcomer.answer()
            assert b"" == await visitors[1].rest()
            assert await served(visitors[0])
            assert await served(visitors[2])
            assert (1, 0) == (host.dropped("gave_way"), host.dropped("no_room"))

    run(test())


def test_a_head_that_never_ends_keeps_nobody_out() -> None:
    async def test() -> None:
        async with hosted(connections_max=FEW) as host:
            for _ in range(2 * FEW):
                await host.visit(b"GET /at-once HTTP/1.1\r\nname: ")
            newcomer = await host.visit(AT_ONCE)
            assert (200, b"/at-once") == await newcomer.answer()

    run(test())


def test_an_answer_that_nobody_reads_keeps_nobody_out() -> None:
    async def test() -> None:
        async with hosted(connections_max=FEW) as host:
            host.stage.long_bytes = 16 * 1024 * 1024
            for _ in range(FEW):
                await host.visit(head("GET", "/long"))
            newcomer = await host.visit(AT_ONCE)
            assert (200, b"/at-once") == await newcomer.answer()
            assert 1 == host.dropped("gave_way")

    run(test())


def test_a_connection_at_work_never_gives_way() -> None:
    async def test() -> None:
        async with hosted(connections_max=FEW) as host:
            working = await at_work(host, WORKING - 1)
            for _ in range(2 * FEW):
                assert await served(await host.visit())
            host.stage.let("/held")
            assert [(200, b"/held")] * len(working) == [await visitor.answer() for visitor in working]

    run(test())


def test_whoever_asks_while_all_work_that_may_be_is_going_on_is_refused_and_served_later() -> None:
    async def test() -> None:
        async with hosted(connections_max=FEW) as host:
            working = await at_work(host, WORKING)
            visitor = await host.visit(AT_ONCE)
            status, body = await visitor.answer()
            assert (503, "retrieval_busy") == (status, json.loads(body)["error"]["code"])
            host.stage.let("/held")
            assert (200, b"/held") == await working[0].answer()
            assert await served(visitor)

    run(test())


def test_an_answer_of_a_departed_client_leaves_its_place() -> None:
    async def test() -> None:
        async with hosted(connections_max=FEW) as host:
            working = await at_work(host, WORKING)
            for visitor in working:
                await visitor.leave()
            newcomer = await host.visit()
            while not await served_or_refused(newcomer):
                pass

    run(test())


async def served_or_refused(visitor: Visitor) -> bool:
    await visitor.send(AT_ONCE)
    return (await visitor.answer())[0] == 200


# The order by itself


class Named:
    """A connection that remembers how it was ended."""

    def __init__(self) -> None:
        self.cause: Cause | None = None

    def drop(self, cause: Cause) -> None:
        self.cause = cause


@pytest.fixture
def few() -> Connections:
    return Connections(FEW, Metrics())


def test_where_all_are_at_work_the_new_one_finds_no_room(few: Connections) -> None:
    held = [Named() for _ in range(FEW)]
    for each in held:
        few.take(each)
        few.works(each)
    late = Named()
    few.take(late)
    assert "no_room" == late.cause
    assert all(each.cause is None for each in held)
    few.let_go(late)
    few.waits(late)
    few.waits(held[3])
    few.take(another := Named())
    assert ("gave_way", None) == (held[3].cause, another.cause)


@given(st.lists(st.tuples(st.sampled_from(["take", "works", "waits", "let_go"]), st.integers(0, 200)), max_size=400))
def test_no_more_are_held_than_may_be_whatever_happens(steps: list[tuple[str, int]]) -> None:
    metrics = Metrics()
    connections = Connections(FEW, metrics)
    every = [Named() for _ in range(201)]
    taken: set[int] = set()
    for step, number in [*((("take", n)) for n in range(FEW)), *steps]:
        if step == "take" and number in taken:
            continue
        taken.add(number)
        getattr(connections, step)(every[number])
        held = [each for each in connections._held if isinstance(each, Named)]
        assert len(held) <= FEW
        assert all(each.cause is None for each in held)
        assert set(connections._waiting) <= set(held)
