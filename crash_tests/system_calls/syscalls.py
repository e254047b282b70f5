"""The part `syscalls`: every system call of a short workload fails once, in every way that such calls can fail."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from crash_tests.leftovers import in_memory
from crash_tests.part import Part, Run, Summary
from crash_tests.pool import work_off
from crash_tests.random_draws import seeded
from crash_tests.system_calls.faults import FAULTS
from crash_tests.system_calls.fork_server import CHILD_SECONDS_MAX
from crash_tests.system_calls.native import compiled, environment
from crash_tests.system_calls.sweep import Case, Task
from crash_tests.system_calls.workloads import SWEPT_WHOLLY, WORKLOADS

LYING_SYNC = "lying-sync"
"""The control: syncs that are lies are taken for honest ones."""
CASES_PER_TASK = 25
MORE_CALLS = 2
"""Faults are tried beyond the last call, since what recovers from one may make more of them."""


def run(given: Run) -> Summary:
    """So many faults, or all that there are."""
    injector = compiled("injector", given.directory)
    with in_memory("syscalls") as place:
        work = partial(
            work_off,
            command=(sys.executable, "-m", "crash_tests.system_calls.sweep"),
            environment={**environment(injector), "TMPDIR": str(place)},
            logs=given.directory,
            silence_seconds_max=2 * CHILD_SECONDS_MAX + 30,
        )
        only = getattr(given.options, "workload", None)
        (counted,) = work([Task(seed=given.seed, place=str(place), workload=only)])
        cases = cases_of(counted.counts, given)
        counts: Counter[str] = Counter()
        for message in work(_tasks(given, place, cases)):
            counts.update(message.counts)
    return Summary(counts.total(), _line(counts, given.seconds))


def _all(calls: dict[str, int], control: str | None) -> list[int]:
    """The numbers of all cases, or of those that a control is about; `calls` says how many of each kind are made."""
    return [
        Case(workload, fault, call).number
        for workload in WORKLOADS
        for fault in FAULTS
        if control is None or fault.may_lose
        if (made := calls.get(f"{workload.name} {fault.call.name}", 0))
        for call in range(1, made + MORE_CALLS + 1)
    ]


def cases_of(calls: dict[str, int], given: Run) -> list[int]:
    """The numbers of the cases of a run, by how many calls of each kind its workloads make."""
    return _chosen(_all(calls, given.control), given)


def _chosen(every: list[int], given: Run) -> list[int]:
    """As many as were asked for: those from a number on, or some that are spread evenly over all that there are.

    The seed says where the first of them lies, so that one seed after the other comes to all.
    """
    if given.first_case > 1:
        return [number for number in every if number >= given.first_case][: given.cases]
    if given.cases >= len(every):
        return every
    stride = len(every) / given.cases
    first = seeded(given.seed, "first").random() * stride
    return [every[int(first + place * stride)] for place in range(given.cases)]


def _tasks(given: Run, place: Path, cases: list[int]) -> Iterator[Task]:
    given.tell(f"{len(cases):,} faults")
    for start in range(0, len(cases), CASES_PER_TASK):
        if given.seconds >= given.seconds_max:
            given.tell(f"stopped after {start} of {len(cases)}: the time is over")
            return
        yield Task(
            seed=given.seed,
            place=str(place),
            cases=cases[start : start + CASES_PER_TASK],
            strict=given.control == LYING_SYNC,
            bug=given.bug,
        )


def _line(counts: Counter[str], seconds: float) -> str:
    outcomes = ", ".join(f"{number:,} {outcome}" for outcome, number in sorted(counts.items()))
    return f"{counts.total():,} faults: {outcomes}; {counts.total() / seconds:,.0f} a second"


def _add_options(parser: ArgumentParser) -> None:
    names = [workload.name for workload in WORKLOADS]
    parser.add_argument("--workload", choices=names, help="sweep this one alone (default: all)")


PART = Part(
    name="syscalls",
    help="let one system call of a short workload fail, lie, or be the last one; then another one",
    unit="faults",
    cases_ci=300,
    cases_release=20_000,
    short=("--workload", SWEPT_WHOLLY, "--cases", "20000"),
    run=run,
    add_options=_add_options,
    controls=(LYING_SYNC,),
    bugs=(
        "unsynced-commit",
        "receipt-before-sync",
        "failed-sync-ignored",
        "failed-commit-answered",
        "watermark-ahead",
    ),
)
