"""The timer of the sweep, on an event loop: nothing that fails in it ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from relatum.http.sweeper import sweep_for_ever
from relatum.ledger.judgments import Judging
from tests.http.test_failures import Desk, run
from tests.support.polling import WAIT_SECONDS


def test_the_timer_outlives_a_fault_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Callable[[], bool]] = []

    def sweep_due(_: Judging, wanted: Callable[[], bool]) -> int:
        runs.append(wanted)
        raise LookupError

    monkeypatch.setattr(Judging, "sweep_due", sweep_due)

    async def test(desk: Desk) -> None:
        timer = asyncio.create_task(sweep_for_ever(desk.services, 0.0))
        async with asyncio.timeout(WAIT_SECONDS):
            while len(runs) < 2 and not timer.done():  # noqa: ASYNC110 - what is waited for is told to nobody
                await asyncio.sleep(0)
        assert all(wanted() for wanted in runs)
        desk.services.stop()
        assert not any(wanted() for wanted in runs)
        await asyncio.wait_for(timer, WAIT_SECONDS)
        assert "LookupError" in desk.lines.getvalue()

    run(test)
    assert len(runs) >= 2
