"""The verification of a store that is being written: whatever goes on meanwhile, it finds nothing in sound rows."""

from __future__ import annotations

import asyncio
from random import Random

from crash_tests.simulation.machine import Machine
from crash_tests.violation import require
from relatum.store.verify.findings import Findings
from relatum.store.verify.serial import SerialPartitions
from relatum.store.verify.store_check import StoreCheck
from relatum.store.verify.totals import Totals

_PAUSE_SECONDS = 0.003
_STEP_ROWS = (10, 40)


class Scrubber:
    """Verifies the store, again and again."""

    def __init__(self, machine: Machine, random: Random) -> None:
        self._machine = machine
        self._random = random

    async def work(self, turns: int) -> None:
        """So many times, or so many beginnings if the machine dies."""
        for _ in range(turns):
            await self._machine.pause(_PAUSE_SECONDS)
            if self._runs:
                await self._scrub()

    @property
    def _runs(self) -> bool:
        return self._machine.ledger is not None and not self._machine.leaving

    async def _scrub(self) -> None:
        findings, generation = Findings(), self._machine.generation
        totals, step_rows, view = Totals(), self._random.choice(_STEP_ROWS), self._machine.raw_view
        partitions = SerialPartitions(view, findings, totals, step_rows=step_rows)
        check = StoreCheck(view, findings, totals, partitions, step_rows=step_rows)
        for _ in check.steps():
            require(not findings.named, f"the verification of a sound store finds fault: {findings.named}")
            if self._random.random() < 0.5:
                await asyncio.sleep(self._random.random() * _PAUSE_SECONDS)
            if not self._runs or self._machine.generation != generation:
                return
