"""Requests that are ready at once share passes of the event loop, in their order."""

from __future__ import annotations

import asyncio

import pytest

from relatum.http import pace
from relatum.http.pace import Pace

MANY = 20


async def passes(requests: int) -> list[int]:
    """In which pass of the loop each of so many requests gets its turn, in the order of their turns."""
    loop, paced = asyncio.get_running_loop(), Pace()
    at = 0
    noted: list[tuple[int, int]] = []

    def count() -> None:
        nonlocal at
        at += 1
        if len(noted) < requests:
            loop.call_soon(count)

    async def request(number: int) -> None:
        await paced.turn()
        noted.append((number, at))

    loop.call_soon(count)
    await asyncio.gather(*map(request, range(requests)))
    assert list(range(requests)) == [number for number, _ in noted]
    return [turn - noted[0][1] for _, turn in noted]


def test_while_a_pass_has_time_all_of_them_are_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "PASS_SECONDS", 3_600.0)
    assert [0] * MANY == asyncio.run(passes(MANY))


def test_when_its_time_is_over_the_others_come_in_the_next_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "PASS_SECONDS", 0.0)
    assert list(range(MANY)) == asyncio.run(passes(MANY))
