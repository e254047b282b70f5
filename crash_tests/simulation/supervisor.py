"""Whoever looks after the machine: starts the ledger whenever it is down, restarts it, and sets its clock."""

from __future__ import annotations

import asyncio
from random import Random

from crash_tests.simulation.answers import Answers
from crash_tests.simulation.loop import SimulatedLoop
from crash_tests.simulation.machine import Machine
from crash_tests.simulation.observations import Story

_PAUSE_SECONDS = 0.01
_JUMPS_MILLIS = (-3_600_000, -1_000, -1, 1, 5_000, 86_400_000)


class Attendant:
    """Works until it is called off."""

    def __init__(self, machine: Machine, story: Story, loop: SimulatedLoop, random: Random) -> None:
        self._machine = machine
        self._story = story
        self._loop = loop
        self._random = random
        self._seen = -1

    async def work(self) -> None:
        """For ever."""
        while True:
            await asyncio.sleep(self._random.random() * _PAUSE_SECONDS)
            self._turn()

    def _turn(self) -> None:
        machine, chosen = self._machine, self._random.random()
        if machine.ledger is None:
            self._loop.call_soon(machine.boot)
            return
        if self._seen != machine.generation:
            self._seen = machine.generation
            self._look()
        if machine.is_poisoned and chosen < 0.5:
            self._loop.call_soon(machine.close if chosen < 0.25 else machine.fall)
        elif chosen < 0.02:
            self._loop.call_soon(machine.close)
        elif chosen < 0.04 and machine.falls < machine.plan.downfalls:
            self._loop.call_soon(machine.fall)
        if machine.plan.clock_jumps and self._random.random() < 0.2:
            machine.clock.offset_millis += self._random.choice(_JUMPS_MILLIS)

    def _look(self) -> None:
        """What a ledger shows that was just started."""
        view = self._machine.view()
        if view is not None:
            with view:
                self._story.look(view)
                for chapter in self._story.chapters.values():
                    Answers(view, chapter, self._random).check_some(1)
