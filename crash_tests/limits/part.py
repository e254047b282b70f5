"""The parts `full-disk` and `limits`."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from crash_tests.limits import full_disk, scarce
from crash_tests.oracle import Verdict
from crash_tests.part import Part, Run, Summary
from crash_tests.processes import crew
from crash_tests.template import Template

AT_ONCE = 2


def run_full_disk(given: Run) -> Summary:
    """So many full disks. Raises Violation and Unavailable."""
    launch = () if given.bug is None else ("--bug", given.bug)
    outcomes: list[full_disk.Outcome] = []
    with crew(full_disk.try_case) as workers:
        template = Template.make(given.directory, launch)
        cases = (full_disk.Case.of(given, number, template, launch) for number in given.numbers())
        for outcome in workers.results(cases):
            outcomes.append(outcome)
            given.tell(f"[{given.seconds:6.1f} s] {len(outcomes)} disks, {outcome.acknowledged} acknowledged")
    restarts = Counter(one.served_full for one in outcomes)
    return Summary(
        len(outcomes),
        f"{len(outcomes)} full disks: {sum(one.unavailable for one in outcomes)} commands unavailable, "
        f"{sum(one.reads for one in outcomes)} reads meanwhile, {restarts[True]} starts served and {restarts[False]} "
        f"refused while full; {_compared([one.verdict for one in outcomes], [one.rows for one in outcomes])}",
    )


def run_limits(given: Run) -> Summary:
    """So many servers within limits. Raises Violation."""
    launch = () if given.bug is None else ("--bug", given.bug)
    template = Template.make(given.directory, launch)
    outcomes: list[scarce.Outcome] = []
    make = partial(scarce.Case.of, given, template=template, launch=launch)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        for outcome in threads.map(scarce.try_case, map(make, given.numbers())):
            outcomes.append(outcome)
            given.tell(f"[{given.seconds:6.1f} s] {len(outcomes)} servers, the last one within {outcome.kind}")
    refused = sum(not one.started for one in outcomes)
    return Summary(
        len(outcomes),
        f"{len(outcomes)} servers within limits: {refused} did not start, {sum(one.died for one in outcomes)} died, "
        f"{sum(one.unavailable for one in outcomes)} commands unavailable; "
        f"{_compared([one.verdict for one in outcomes], [one.rows for one in outcomes])}",
    )


def _compared(verdicts: list[Verdict], rows: list[int]) -> str:
    total = Verdict()
    for verdict in verdicts:
        total.add(verdict)
    return (
        f"{total.present + total.absent} unacknowledged ({total.present} present, {total.absent} absent), "
        f"{total.replayed} replays and {sum(rows)} rows compared"
    )


FULL_DISK = Part(
    name="full-disk",
    help="let the disk fill up under the real server, and see what it says, keeps and does with room again",
    unit="disks",
    cases_ci=6,
    cases_release=300,
    run=run_full_disk,
    controls=("rollback",),
    bugs=("failed-commit-answered",),
)
LIMITS = Part(
    name="limits",
    help="run the real server within limits of descriptors, memory and file sizes",
    unit="servers",
    cases_ci=10,
    cases_release=300,
    run=run_limits,
    controls=("rollback",),
    bugs=("failed-commit-answered",),
)
PARTS = (FULL_DISK, LIMITS)
