"""The part `simulation`."""

from __future__ import annotations

import gc
from argparse import ArgumentParser
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import nullcontext
from itertools import islice
from multiprocessing import get_context

from msgspec import Struct

from crash_tests.bugs import BUGS
from crash_tests.kernel import die_with_parent
from crash_tests.part import Part, Run, Summary
from crash_tests.random_draws import seeded
from crash_tests.simulation.case import simulate
from crash_tests.simulation.controls import CONTROLS
from crash_tests.simulation.disk import Disk
from crash_tests.violation import Violation

_CASES_PER_BATCH = 25
_BATCHES_AHEAD = 2

NOTICED = (
    "unsynced-commit",
    "publish-before-sync",
    "receipt-before-sync",
    "split-command",
    "watermark-ahead",
    "watermark-forgotten",
    "watermark-left-behind",
    "failed-sync-ignored",
    "wrong-overlay-read",
    "clock-backwards",
    "failed-commit-answered",
    "queue-dropped-on-close",
    "missing-index-row",
    "lost-header-update",
    "missing-dependent",
    "missing-leaf",
    "log-not-grown",
    "index-by-pinned-revision",
    "lost-tally-update",
    "missing-journal-entry",
    "missing-receipt-witness",
    "missing-revision",
    "topic-slot-kept",
    "payload-kept",
    "missing-candidate",
    "missing-standing",
    "promotion-not-counted",
    "related-overlooked",
    "missing-judgment-receipt",
    "link-at-one-end",
    "words-kept",
    "standing-without-cause",
    "replay-without-history-check",
    "replay-by-key-alone",
    "replay-forgotten",
    "watermark-not-checked",
)
"""The planted bugs that it finds, most of them within a hundred seeds."""

Tell = Callable[[str], None]


class Batch(Struct, frozen=True, kw_only=True):
    """Some cases for one process."""

    seed: int
    numbers: tuple[int, ...]
    bug: str | None
    control: str | None


class Figures(Struct, kw_only=True):
    """What cases came to, all together."""

    cases: int = 0
    commands: int = 0
    accepted: int = 0
    ends: int = 0
    steps: int = 0

    def add(self, other: Figures) -> None:
        """More of them."""
        for name in self.__struct_fields__:
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def __str__(self) -> str:
        return (
            f"{self.cases:,} seeds, {self.commands:,} commands of which {self.accepted:,} were accepted, "
            f"{self.ends:,} ends of a ledger, {self.steps:,} steps"
        )


def add_options(parser: ArgumentParser) -> None:
    """What a run can be told besides."""
    parser.add_argument("--processes", type=int, default=2, help="so many at once (default %(default)s)")
    parser.add_argument("--trace", action="store_true", help="print everything that happens; for a few seeds")


def run(given: Run) -> Summary:
    """So many cases; the first one in the order of their numbers that fails ends it."""
    figures = Figures()
    if getattr(given.options, "trace", False):
        for number in given.numbers():
            figures.add(run_case(given.seed, number, given.bug, given.control, given.tell))
    else:
        for some in _in_processes(given, getattr(given.options, "processes", 1)):
            figures.add(some)
    per_case = given.seconds * 1000 / max(1, figures.cases)
    return Summary(figures.cases, f"{figures}; {per_case:.1f} ms a seed")


def run_case(
    seed: int, number: int, bug: str | None = None, control: str | None = None, tell: Tell | None = None
) -> Figures:
    """One case, in this process. Raises `Violation`."""
    with BUGS[bug].planted() if bug else nullcontext():
        try:
            outcome = simulate(seeded(seed, number), tell, CONTROLS[control] if control else Disk)
        except Violation as violation:
            raise Violation(f"case {number}: {violation}") from violation
    return Figures(
        cases=1, commands=outcome.commands, accepted=outcome.accepted, ends=outcome.ends, steps=outcome.steps
    )


def run_batch(batch: Batch) -> Figures:
    """Some cases, in this process."""
    figures = Figures()
    for number in batch.numbers:
        figures.add(run_case(batch.seed, number, batch.bug, batch.control))
    return figures


def _in_processes(given: Run, processes: int) -> Iterator[Figures]:
    """The figures of batches of cases, in order."""
    batches = _batches(given)
    if processes == 1:
        yield from map(run_batch, batches)
        return
    running: deque[Future[Figures]] = deque()
    with ProcessPoolExecutor(processes, get_context("spawn"), initializer=_get_ready) as pool:
        try:
            for batch in batches:
                running.append(pool.submit(run_batch, batch))
                if len(running) == _BATCHES_AHEAD * processes:
                    yield running.popleft().result()
            while running:
                yield running.popleft().result()
        finally:
            for future in running:
                future.cancel()


def _get_ready() -> None:
    """A process of the pool waits for work for ever, and keeps what the pool shares, if nobody ends it."""
    die_with_parent()
    gc.freeze()


def _batches(given: Run) -> Iterator[Batch]:
    numbers = given.numbers()
    while some := tuple(islice(numbers, _CASES_PER_BATCH)):
        yield Batch(seed=given.seed, numbers=some, bug=given.bug, control=given.control)


PART = Part(
    name="simulation",
    help="run the ledger on a simulated machine that fails in every way, in virtual time, with every step from a seed",
    unit="seeds",
    cases_ci=5_000,
    cases_release=1_000_000,
    run=run,
    controls=tuple(CONTROLS),
    bugs=NOTICED,
    add_options=add_options,
)
