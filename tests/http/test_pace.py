"""Requests that are ready at once share passes of the event loop, in their order."""

from __future__ import annotations

import asyncio
from collections import Counter

from relatum.http.pace import PASS_REQUESTS, Pace


class Passes:
    """Counts the passes of the running loop, and notes in which of them each request gets its turn."""

    def __init__(self) -> None:
        self.pace = Pace()
        self.at = 0
        self.noted: list[tuple[int, int]] = []
        asyncio.get_running_loop().call_soon(self._count)

    def _count(self) -> None:
        self.at += 1
        asyncio.get_running_loop().call_soon(self._count)

    async def request(self, number: int) -> None:
        await self.pace.turn()
        self.noted.append((number, self.at))


def test_a_few_requests_are_in_one_pass() -> None:
    async def scenario() -> None:
        passes = Passes()
        await asyncio.gather(*map(passes.request, range(PASS_REQUESTS)))
        assert list(range(PASS_REQUESTS)) == [number for number, _ in passes.noted]
        assert 1 == len({at for _, at in passes.noted})

    asyncio.run(scenario())


def test_many_are_in_as_many_passes_as_they_need_in_their_order() -> None:
    async def scenario() -> None:
        passes = Passes()
        many = 10 * PASS_REQUESTS
        await asyncio.gather(*map(passes.request, range(many)))
        assert list(range(many)) == [number for number, _ in passes.noted]
        assert [PASS_REQUESTS] * 10 == list(Counter(at for _, at in passes.noted).values())

    asyncio.run(scenario())


def test_who_waits_is_not_overtaken_by_those_who_come_later() -> None:
    async def scenario() -> None:
        passes = Passes()
        first = asyncio.create_task(passes.request(0))
        others = [asyncio.create_task(passes.request(number)) for number in range(1, 2 * PASS_REQUESTS)]
        waits_for_more: list[asyncio.Task[None]] = []
        while not all(one.done() for one in (first, *others)):
            waits_for_more += [asyncio.create_task(passes.request(1_000 + number)) for number in range(PASS_REQUESTS)]
            await asyncio.sleep(0)
        assert list(range(2 * PASS_REQUESTS)) == [number for number, _ in passes.noted[: 2 * PASS_REQUESTS]]
        await asyncio.gather(*waits_for_more)

    asyncio.run(scenario())


def test_a_request_that_is_given_up_in_line_costs_nobody_a_turn() -> None:
    async def scenario() -> None:
        passes = Passes()
        tasks = [asyncio.create_task(passes.request(number)) for number in range(3 * PASS_REQUESTS)]
        await asyncio.sleep(0)
        given_up = tasks[PASS_REQUESTS : 2 * PASS_REQUESTS]
        for task in given_up:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert 2 * PASS_REQUESTS == len(passes.noted)
        assert all(task.cancelled() for task in given_up)
        assert 2 == len({at for _, at in passes.noted})

    asyncio.run(scenario())
