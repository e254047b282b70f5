"""What a ledger is usually given by the world: time, which may jump, and randomness. Here both come from the dice."""

from __future__ import annotations

from random import Random
from typing import Final

from crash_tests.simulation.loop import SimulatedLoop
from relatum.ledger.judgments import Ages

AGES: Final = Ages(resurfacing_millis=1, deadline_millis=5)
"""Candidates are offered again, and swept, within a case."""
_EPOCH_MILLIS = 1_700_000_000_000


class WrongClock:
    """The time of day as the machine has it: that of the loop, and off by `offset_millis`."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self.offset_millis = 0
        self._loop = loop

    def millis(self) -> int:
        """Unix time in milliseconds."""
        return _EPOCH_MILLIS + int(self._loop.time() * 1000) + self.offset_millis


class JudgedInstants:
    """By which instant each event was judged: what the clock said, which may be before the time of its commit."""

    def __init__(self) -> None:
        self._groups: dict[str, list[tuple[int, int]]] = {}

    def note(self, workspace_id: str, first: int, last: int, now_millis: int) -> None:
        """The events of a group from one sequence to another were judged now. A group that was lost is forgotten."""
        groups = self._groups.setdefault(workspace_id, [])
        while groups and groups[-1][0] >= first:
            groups.pop()
        groups.append((last, now_millis))

    def of(self, workspace_id: str, sequence: int) -> int:
        """By which instant an event was judged."""
        return next(now_millis for last, now_millis in self._groups[workspace_id] if last >= sequence)


class Dice:
    """Bytes that nobody but the seed can guess."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def draw(self, size: int) -> bytes:
        """`size` bytes."""
        return self._random.randbytes(size)
