"""Requests that are ready at once share passes of the event loop, in their order."""

from __future__ import annotations

import asyncio
from collections import Counter
from random import Random  # noqa: TID251 - the same requests given up on every run
from typing import Final

import pytest

from relatum.http.fairness import PASS_REQUESTS, PASS_SECONDS, Pace
from tests.support.polling import WAIT_SECONDS

FEW: Final = 5


class Passes:
    """Counts the passes of the running loop, and notes in which of them each request gets its turn.

    Time goes on when a request has its turn, and only then: so much that `few` of them fill a pass.
    """

    def __init__(self, few: int = FEW) -> None:
        self.seconds = 0.0
        self.pace = Pace(lambda: self.seconds)
        self.at = 0
        self.noted: list[tuple[int, int]] = []
        self._takes = PASS_SECONDS / (few - 0.5)
        asyncio.get_running_loop().call_soon(self._count)

    def _count(self) -> None:
        self.at += 1
        asyncio.get_running_loop().call_soon(self._count)

    async def request(self, number: int) -> None:
        await self.pace.turn()
        self.noted.append((number, self.at))
        self.seconds += self._takes

    @property
    def numbers(self) -> list[int]:
        return [number for number, _ in self.noted]

    @property
    def sizes(self) -> list[int]:
        """How many requests each pass began."""
        return list(Counter(at for _, at in self.noted).values())


def test_those_for_whom_there_is_time_are_in_one_pass() -> None:
    async def scenario() -> None:
        passes = Passes()
        await asyncio.gather(*map(passes.request, range(FEW)))
        assert list(range(FEW)) == passes.numbers
        assert [FEW] == passes.sizes

    asyncio.run(scenario())


def test_many_are_in_as_many_passes_as_they_need_in_their_order() -> None:
    async def scenario() -> None:
        passes = Passes()
        many = 10 * FEW
        await asyncio.gather(*map(passes.request, range(many)))
        assert list(range(many)) == passes.numbers
        assert [FEW] * 10 == passes.sizes

    asyncio.run(scenario())


def test_so_many_that_take_no_time_are_called_in_one_pass() -> None:
    async def scenario() -> None:
        passes = Passes(few=1_000)

        async def long_one() -> None:
            await passes.request(0)
            passes.seconds += PASS_SECONDS  # so that the others come too late for this pass, and stand in line

        await asyncio.gather(long_one(), *map(passes.request, range(1, 1 + 3 * PASS_REQUESTS)))
        assert list(range(1 + 3 * PASS_REQUESTS)) == passes.numbers
        assert [1, PASS_REQUESTS, PASS_REQUESTS, PASS_REQUESTS] == passes.sizes

    asyncio.run(scenario())


def test_a_pass_that_is_long_over_when_its_first_request_comes_begins_that_one() -> None:
    async def scenario() -> None:
        passes = Passes(few=1)

        def delay() -> None:
            passes.seconds += 10 * PASS_SECONDS
            asyncio.get_running_loop().call_soon(delay)

        delay()
        await asyncio.gather(*map(passes.request, range(FEW)))
        assert list(range(FEW)) == passes.numbers
        assert [1] * FEW == passes.sizes

    asyncio.run(scenario())


def test_who_waits_is_not_overtaken_by_those_who_come_later() -> None:
    async def scenario() -> None:
        passes = Passes()
        first = asyncio.create_task(passes.request(0))
        others = [asyncio.create_task(passes.request(number)) for number in range(1, 4 * FEW)]
        waits_for_more: list[asyncio.Task[None]] = []
        while not all(one.done() for one in (first, *others)):
            waits_for_more += [asyncio.create_task(passes.request(1_000 + number)) for number in range(FEW)]
            await asyncio.sleep(0)
        assert list(range(4 * FEW)) == passes.numbers[: 4 * FEW]
        await asyncio.gather(*waits_for_more)
        assert len(passes.numbers) == 4 * FEW + len(waits_for_more)

    asyncio.run(scenario())


def test_a_request_that_is_given_up_in_line_costs_nobody_a_turn() -> None:
    async def scenario() -> None:
        passes = Passes()
        tasks = [asyncio.create_task(passes.request(number)) for number in range(3 * FEW)]
        await asyncio.sleep(0)
        given_up = tasks[FEW : 2 * FEW]
        for task in given_up:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert 2 * FEW == len(passes.noted)
        assert all(task.cancelled() for task in given_up)
        assert [FEW, FEW] == passes.sizes
        await asyncio.wait_for(passes.request(99), 60)  # nobody is thought to be in line still

    asyncio.run(scenario())


@pytest.mark.parametrize("seed", range(20))
def test_whoever_is_not_given_up_gets_a_turn_whoever_else_is(seed: int) -> None:
    async def scenario() -> None:
        dice = Random(seed)
        passes = Passes(few=dice.choice((1, 2, FEW)))
        tasks: list[asyncio.Task[None]] = []
        for _ in range(200):
            tasks += [
                asyncio.create_task(passes.request(len(tasks) + more)) for more in range(dice.choice((0, 0, 1, 3)))
            ]
            if tasks and dice.random() < 0.3:
                dice.choice(tasks[-4:]).cancel()
            await asyncio.sleep(0)
        await asyncio.wait(tasks, timeout=WAIT_SECONDS)
        assert [] == [number for number, task in enumerate(tasks) if not task.done()]
        assert [number for number, task in enumerate(tasks) if not task.cancelled()] == passes.numbers

    asyncio.run(scenario())
