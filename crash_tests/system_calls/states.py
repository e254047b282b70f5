"""A recording and the crash states drawn from it: one task of a worker.

    python -m crash_tests.system_calls.states     reads tasks, see crash_tests/pool.py

What always holds: recording `r` of a seed is the same life, and state `k` is drawn by the dice of case `k`. Only in
which order the engine's own threads make their calls is up to the machine.
"""

from __future__ import annotations

import shutil
import sys
from collections import Counter
from pathlib import Path
from random import Random

import msgspec
from msgspec import Struct

from crash_tests.bugs import BUGS
from crash_tests.pool import Message, say
from crash_tests.random_draws import seeded
from crash_tests.system_calls.crash_outcomes import Crash, crash, materialize
from crash_tests.system_calls.disk import Lie
from crash_tests.system_calls.life_recorder import Liar, Past, Point, Recording, drawn_plan, record
from crash_tests.system_calls.state_checks import Refused, judge, judge_wholly
from crash_tests.violation import Violation

CASES_PER_RECORDING = 250
EARLIER_LIVES = (0, 0, 1, 1, 2)
"""How many lives, each ended by a crash, may come before the one that is recorded: so recovery is recorded too."""
WHOLLY = 0.04
"""The share of states that are judged by everything there is."""
LIED_TO = 0.04
"""The share of states of a drive that lied about the log: the store must say so, or have lost nothing."""

LIES = {"lying-sync": Lie(), "lying-directory-sync": Lie(folders=True)}
"""Controls: drives that lie about everything."""


class Task(Struct, frozen=True, kw_only=True):
    """Cases of one recording, by their numbers. What is left of a violation is put into `evidence`."""

    seed: int
    recording: int
    first_case: int
    cases: int
    place: str
    evidence: str
    control: str | None = None
    bug: str | None = None


class Bench:
    """One task at work, in a directory in memory."""

    def __init__(self, task: Task) -> None:
        self._task = task
        self._place = Path(task.place) / f"recording-{task.recording}"
        self._counts: Counter[str] = Counter()

    def run(self) -> Counter[str]:
        """The counts of what was tried. Raises `Violation`."""
        self._place.mkdir()
        try:
            recording = self._recorded_or_broken()
            honest, lied_to = self._shared_out(recording)
            lie = None if self._task.control is None else Liar(LIES[self._task.control])
            self._try_all(recording, honest, lie)
            log_liar = Liar(Lie(".log"), since=self._dice().choice(recording.points))
            self._try_all(recording, lied_to, log_liar, may_refuse=True)
        finally:
            shutil.rmtree(self._place)
        return self._counts

    def _dice(self) -> Random:
        return seeded(self._task.seed, "recording", self._task.recording)

    def _recorded_or_broken(self) -> Recording:
        try:
            return self._recorded()
        except Violation as violation:
            raise Violation(f"case {self._task.first_case}, before it was recorded: {violation}") from violation

    def _recorded(self) -> Recording:
        """The life that is recorded, after those that went before it."""
        random = self._dice()
        past, root = Past(), self._fresh("life 0")
        lives = random.choice(EARLIER_LIVES)
        for life in range(lives):
            recording = self._life(root, life, random, past)
            point = next(recording.replayed({random.choice(recording.points)}))
            crashed = crash(point.disk, random)
            rows = judge(self._put(recording, crashed), recording, point)
            past = Past((*past.told, point.told), rows)
            root = self._put(recording, crashed, f"life {life + 1}")
        return self._life(root, lives, random, past)

    def _life(self, root: Path, life: int, random: Random, past: Past) -> Recording:
        plan = drawn_plan(f"{self._task.seed}-{self._task.recording}-{life}", random)
        recording = record(root, self._place / "calls", plan, past)
        self._counts["lives"] += 1
        self._counts["calls"] += len(recording.records)
        return recording

    def _shared_out(self, recording: Recording) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """The cases at each crash point, those of an honest drive and those of a lying one.

        All the cases that a recording has are spread evenly over its points, whichever of them this task is to try.
        """
        task, points = self._task, recording.points
        honest: dict[int, list[int]] = {}
        lied_to: dict[int, list[int]] = {}
        for case in range(task.first_case, task.first_case + task.cases):
            place = (case - 1) % CASES_PER_RECORDING * len(points) // CASES_PER_RECORDING
            lies = task.control is None and seeded(task.seed, case, "lie").random() < LIED_TO
            (lied_to if lies else honest).setdefault(points[place], []).append(case)
        return honest, lied_to

    def _try_all(
        self, recording: Recording, cases: dict[int, list[int]], liar: Liar | None, *, may_refuse: bool = False
    ) -> None:
        for point in recording.replayed(cases, liar):
            for case in cases[point.number]:
                say(Message(kind="case", case=case))
                self._counts["states"] += 1
                self._try(recording, case, point, may_refuse=may_refuse)

    def _try(self, recording: Recording, case: int, point: Point, *, may_refuse: bool) -> None:
        random = seeded(self._task.seed, case)
        crashed = crash(point.disk, random)
        try:
            judge(self._put(recording, crashed), recording, point)
            if random.random() < WHOLLY:
                judge_wholly(self._put(recording, crashed), recording, point)
                self._counts["wholly"] += 1
        except Violation as violation:
            if may_refuse and isinstance(violation, Refused):
                self._counts["refused"] += 1
                return
            raise self._described(recording, case, point, crashed, violation) from violation

    def _put(self, recording: Recording, crashed: Crash, name: str = "state") -> Path:
        root = self._fresh(name)
        materialize(crashed.state, recording.begin.root, root)
        return root

    def _fresh(self, name: str) -> Path:
        place = self._place / name
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        return place

    def _described(
        self, recording: Recording, case: int, point: Point, crashed: Crash, violation: Violation
    ) -> Violation:
        evidence = Path(self._task.evidence, f"case-{case}")
        evidence.mkdir()
        materialize(crashed.state, recording.begin.root, evidence)
        shutil.copy(self._place / "calls", evidence.with_suffix(".calls"))
        last = recording.records[point.number - 1]
        return Violation(
            f"case {case}: after call {point.number} of {len(recording.records)} of life {len(recording.past.told) + 1}"
            f" ({last.told(recording.begin.root)}), of which is left: {crashed.told}: {violation}"
        )


def main() -> None:
    """Works until no more tasks come."""
    for line in sys.stdin.buffer:
        task = msgspec.json.decode(line, type=Task)
        if task.bug is not None:
            BUGS[task.bug].plant()
        try:
            say(Message(kind="done", counts=dict(Bench(task).run())))
        except Violation as violation:
            say(Message(kind="violation", text=str(violation)))


if __name__ == "__main__":
    main()
