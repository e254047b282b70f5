"""The event loop's delays are measured: whatever keeps it shows, and for as long as it did."""

from __future__ import annotations

import asyncio
from threading import Event

import pytest

from relatum.http import loop_delay
from relatum.http.loop_delay import BEAT_SECONDS, Heart
from relatum.telemetry import Metrics
from tests.support.polling import WAIT_SECONDS, until

STALL_SECONDS = 0.05


def value(metrics: Metrics, name: str) -> float:
    [line] = [line for line in metrics.render().decode().splitlines() if line.startswith(f"{name} ")]
    return float(line.rpartition(" ")[2])


def test_a_loop_that_stood_still_is_late_by_as_long_but_for_a_beat() -> None:
    metrics = Metrics()

    def beats() -> float:
        return value(metrics, "relatum_loop_delay_seconds_count")

    with asyncio.Runner() as runner:

        def beaten(count: float) -> bool:
            runner.run(asyncio.sleep(0))
            return beats() >= count

        heart = runner.get_loop().create_task(Heart(metrics).beat())
        until(lambda: beaten(1), "a first beat")
        before = beats()
        Event().wait(STALL_SECONDS)  # nobody runs the loop meanwhile
        until(lambda: beaten(before + 1), "the beat that was due")
        heart.cancel()
    longest = value(metrics, "relatum_loop_delay_longest_seconds")
    assert STALL_SECONDS - 2 * BEAT_SECONDS <= longest <= value(metrics, "relatum_loop_delay_seconds_sum")


def test_it_rests_when_nothing_is_asked_for_and_beats_again_with_the_next_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop_delay, "QUIET_BEATS_MAX", 3)
    metrics = Metrics()
    heart = Heart(metrics)

    async def scenario() -> None:
        beating = asyncio.create_task(heart.beat())
        async with asyncio.timeout(WAIT_SECONDS):
            for beats in (3, 6):
                while heart._awake.is_set():  # noqa: ASYNC110 - it is its own clock
                    await asyncio.sleep(BEAT_SECONDS)
                assert beats == value(metrics, "relatum_loop_delay_seconds_count")
                heart.stir()
        beating.cancel()

    asyncio.run(scenario())
