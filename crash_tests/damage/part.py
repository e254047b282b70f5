"""The part `damage`."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import msgspec

from crash_tests.damage.damage_case import CATALOGUE, CONTROLS, NOTICED, Noticed, Outcome
from crash_tests.damage.worker import CASE_SECONDS_MAX, Attempt, Prepare
from crash_tests.leftovers import in_memory
from crash_tests.part import Part, Run, Summary
from crash_tests.pool import work_off
from crash_tests.server import ROOT
from crash_tests.violation import Violation

CASES_PER_STORE: Final = 1_000
TOLD_EVERY: Final = 500


class Tally:
    """Who noticed what."""

    def __init__(self) -> None:
        self._noticed: dict[str, Counter[Noticed]] = defaultdict(Counter)
        self._power_cuts = 0

    @property
    def cases(self) -> int:
        """How many there were."""
        return self._power_cuts + sum(map(Counter.total, self._noticed.values()))

    def add(self, outcome: Outcome) -> None:
        """One more case."""
        if outcome.kind == "power cut":
            self._power_cuts += 1
        else:
            self._noticed[outcome.kind][outcome.noticed] += 1

    def lines(self) -> Iterator[str]:
        """A line for each kind of file and row."""
        for kind, noticed in self._noticed.items():
            told = ", ".join(f"{noticed[one]} {one}" for one in NOTICED if noticed[one])
            yield f"{kind}: {noticed.total()} damages: {told}"

    def __str__(self) -> str:
        """All together."""
        total = sum(self._noticed.values(), Counter[Noticed]())
        effective = total.total() - total["without effect"]
        return (
            f"{effective} of {effective} damages noticed ({total['refused']} refused when opened, "
            f"{total['at a door']} at a door, {total['by verify']} by verify), {total['without effect']} without "
            f"effect, {self._power_cuts} torn ends of power cuts opened"
        )


def run(given: Run) -> Summary:
    """So many damages, one to a store."""
    tally = Tally()
    with _scratch(given) as scratch:
        for _ in done(given, _preparations(given, scratch)):
            pass
        for text in done(given, _attempts(given, scratch)):
            tally.add(msgspec.json.decode(text, type=Outcome))
            if tally.cases % TOLD_EVERY == 0:
                given.tell(f"{tally.cases} cases, {given.seconds:.0f} s")
    for line in tally.lines():
        given.tell(line)
    return Summary(tally.cases, str(tally))


def done(given: Run, tasks: Iterator[Prepare | Attempt]) -> Iterator[str]:
    """What came of each task. Raises Violation."""
    bug = () if given.bug is None else ("--bug", given.bug)
    control = () if given.control is None else ("--control", given.control)
    command = [sys.executable, "-m", "crash_tests.damage.worker", *bug, *control, str(given.directory)]
    paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    environment = {**os.environ, "PYTHONPATH": paths}
    messages = work_off(tasks, command, environment, given.directory, silence_seconds_max=3 * CASE_SECONDS_MAX)
    return (message.text for message in messages)


def _preparations(given: Run, scratch: Path) -> Iterator[Prepare]:
    """A store for each thousand cases."""
    last = given.first_case + given.cases - 1
    for block in range(_block(given.first_case), _block(last) + 1):
        yield Prepare(str(_place(scratch, block)), f"{given.seed}/{block}")


def _attempts(given: Run, scratch: Path) -> Iterator[Attempt]:
    for number in given.numbers():
        yield Attempt(str(_place(scratch, _block(number))), str(scratch), given.seed, number)


def _block(number: int) -> int:
    """The number of the store that a case damages."""
    return (number - 1) // CASES_PER_STORE


def _place(scratch: Path, block: int) -> Path:
    return scratch / f"store-{block}"


@contextmanager
def _scratch(given: Run) -> Iterator[Path]:
    """A directory for the stores, in memory: nothing here is about disks.

    A store that is left over is that of a violation, and is kept with the run.
    """
    with in_memory("damage") as scratch:
        try:
            yield scratch
        except Violation:
            for case in scratch.glob("case-*"):
                shutil.copytree(case, given.directory / case.name)
            raise


PART = Part(
    name="damage",
    help="damage one file or row of a store at rest, in every way, and see whether anybody is told anything wrong",
    unit="damages",
    cases_ci=420,
    cases_release=5_600,  # some damages are without effect, and 5,000 with one are to be met
    run=run,
    controls=CONTROLS,
    bugs=(
        "checksum-not-checked",
        "preflight-skipped",
        "manifest-not-checked",
        "scan-status-ignored",
        "digest-not-checked",
        "witness-not-checked",
        "index-not-counted",
        "rows-not-counted",
        "missing-row-not-missed",
        "newest-not-compared",
        "trace-overlooked",
        "old-credential-believed",
        "journal-link-not-checked",
        "lists-not-checked",
        "tips-not-checked",
        "watermark-not-checked",
        "watermark-forgotten",
        "replay-without-history-check",
    ),
)

assert len(CATALOGUE) < PART.cases_ci, "a short run meets every kind of damage"
