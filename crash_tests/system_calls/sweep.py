"""One fault after the other: the cases, their numbers, and the worker that tries them.

python -m crash_tests.system_calls.sweep     reads tasks, see crash_tests/pool.py
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from crash_tests.bugs import BUGS
from crash_tests.pool import Message, say
from crash_tests.system_calls.faults import FAULTS, Fault
from crash_tests.system_calls.fork_server import Zygote
from crash_tests.system_calls.workloads import WORKLOADS, Workload
from crash_tests.violation import Violation

CALLS_MAX = 10_000
"""No workload makes so many calls of a kind."""


class Case(NamedTuple):
    """A fault that strikes the `call`-th call of its kind in a workload."""

    workload: Workload
    fault: Fault
    call: int

    @classmethod
    def of(cls, number: int) -> Case:
        """The case with a number."""
        rest, call = divmod(number, CALLS_MAX)
        workload, fault = divmod(rest, len(FAULTS))
        return cls(WORKLOADS[workload], FAULTS[fault], call)

    @property
    def number(self) -> int:
        """What `of` takes."""
        return (WORKLOADS.index(self.workload) * len(FAULTS) + FAULTS.index(self.fault)) * CALLS_MAX + self.call

    def __str__(self) -> str:
        return f"case {self.number}: {self.workload.name}, at call {self.call}: {self.fault}"


class Task(Struct, frozen=True, kw_only=True):
    """Cases to try, by their numbers; or, if there are none, the calls of the workloads are to be counted."""

    seed: int
    place: str
    cases: list[int] = []
    workload: str | None = None
    """The one whose calls are to be counted; None for all."""
    strict: bool = False
    """Whether even a lie may lose nothing: no store can keep that promise."""
    bug: str | None = None


def main() -> None:
    """Works until no more tasks come."""
    zygote: Zygote | None = None
    for line in sys.stdin.buffer:
        task = msgspec.json.decode(line, type=Task)
        if zygote is None:
            if task.bug is not None:
                BUGS[task.bug].plant()
            zygote = Zygote(task.seed, Path(task.place))
        try:
            say(
                Message(
                    kind="done", counts=dict(_tried(zygote, task) if task.cases else _counted(zygote, task.workload))
                )
            )
        except Violation as violation:
            say(Message(kind="violation", text=str(violation)))


def _counted(zygote: Zygote, only: str | None) -> Counter[str]:
    """How many calls of each kind each workload makes, or only one of them."""
    return Counter(
        {
            f"{workload.name} {call.name}": made
            for workload in WORKLOADS
            if only in (None, workload.name)
            for call, made in zygote.rehearsal(workload).calls.items()
        }
    )


def _tried(zygote: Zygote, task: Task) -> Counter[str]:
    """How many cases came to what."""
    outcomes: Counter[str] = Counter()
    for number in task.cases:
        say(Message(kind="case", case=number))
        case = Case.of(number)
        try:
            outcomes[zygote.try_case(*case, may_lose=case.fault.may_lose and not task.strict)] += 1
        except Violation as violation:
            raise Violation(f"{case}: {violation}") from violation
    return outcomes


if __name__ == "__main__":
    main()
