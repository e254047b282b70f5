"""What a child does while a fault strikes it: short, and yet a store is made, opened, read, written, closed, recovered.

A child tells what it does as lives do (crash_tests/embedded/messages.py), and whatever it meets becomes a message too:
`Unable` where the ledger failed as it may, `Broken` where it did not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from msgspec import Struct

from crash_tests.company import ADMINISTRATOR, COMPANY
from crash_tests.embedded import Reporter
from crash_tests.embedded.messages import Broken, Ended, Opened, Unable
from crash_tests.embedded.seeded_environment import AGES, CountingClock, SeededEntropy
from crash_tests.system_calls.questions import Answers, Subjects, ask, require_answers, subjects_of
from crash_tests.system_calls.session import BRIEF, LONG, SHORT, Idea, Session, WatchfulReporter
from crash_tests.violation import Violation
from relatum.cli import main as program
from relatum.entropy import SystemEntropy
from relatum.errors import Failure
from relatum.ledger import Ledger

STORE_NAME = "ledger"


class Known(Struct, frozen=True):
    """A store before a child comes to it: what its lives told, and the right answers to questions about it."""

    told: bytes = b""
    subjects: list[Subjects] = []
    answers: Answers = {}


class Stage(NamedTuple):
    """Where a child works, under which seed, and whom it tells."""

    root: Path
    seed: str
    reporter: WatchfulReporter

    def opened(self, life: str, *, create: bool = False) -> Ledger:
        """The ledger of the store, for one more life, which is the same at each call."""
        entropy = SeededEntropy(f"{self.seed} {life}")
        with mock.patch.object(SystemEntropy, "draw", lambda _, size: entropy.draw(size)):  # what a new store draws
            return Ledger.open(self.root / STORE_NAME, create=create, clock=CountingClock(), entropy=entropy, ages=AGES)


class Workload(NamedTuple):
    """What to do on the store that a template made, or where there is none. It answers an exit status."""

    name: str
    run: Callable[[Stage, Known], int]
    template: str | None = None


# Templates: made where nothing fails


def make_closed(stage: Stage) -> Known:
    """A store whose rows are in table files, closed in peace."""
    with stage.opened("first", create=True) as ledger:
        stage.reporter.tell(Opened())
        Session(ledger, stage.reporter, f"{stage.seed}-first").work(LONG)
    with stage.opened("second") as ledger:
        return _known(ledger)


def make_killed(stage: Stage) -> Known:
    """The same, and behind it a log that nobody has recovered: whoever calls this has to end its process."""
    make_closed(stage)
    ledger = stage.opened("third")
    Session(ledger, stage.reporter, f"{stage.seed}-third").work(LONG)
    return _known(ledger)


def _known(ledger: Ledger) -> Known:
    subjects = subjects_of(ledger)
    return Known(subjects=subjects, answers=ask(ledger, subjects))


TEMPLATES = {"closed": make_closed, "killed": make_killed}


# Workloads: while a fault strikes


def initialise(stage: Stage, known: Known) -> int:
    """`relatum init` where nothing is known yet, with its standard output where messages go."""
    assert known == Known()
    os.dup2(stage.reporter.descriptor, sys.stdout.fileno())
    try:
        program(["init", str(stage.root / STORE_NAME), "--company", COMPANY, "--subject", ADMINISTRATOR])
    except SystemExit as ended:
        sys.stdout.flush()
        return int(ended.code or 0)
    raise AssertionError("the program ends by itself")


def brief(stage: Stage, known: Known) -> int:
    """Make a store, commit a few commands to it, and close it."""
    assert known == Known()
    with _failures_told(stage.reporter), stage.opened("struck", create=True) as ledger:
        stage.reporter.tell(Opened())
        with _violations_told(stage.reporter):
            Session(ledger, stage.reporter, f"{stage.seed}-struck").work(BRIEF)
    return 0


def work(stage: Stage, known: Known, ideas: Sequence[Idea]) -> int:
    """Open, ask what is known, work, and close; and again, to be answered from wherever the rows are then."""
    reporter = stage.reporter
    with _failures_told(reporter):
        with stage.opened("struck", create=not known.told) as ledger, _violations_told(reporter):
            reporter.tell(Opened())
            require_answers(known.answers, ask(ledger, known.subjects))
            session = Session(ledger, reporter, f"{stage.seed}-struck")
            session.work(ideas)
        with stage.opened("after") as ledger, _violations_told(reporter):
            session.ask_again(ledger)
    return 0


@contextmanager
def _failures_told(reporter: Reporter) -> Iterator[None]:
    """Tells how a life ended."""
    try:
        yield
    except Violation:
        pass  # it was told
    except Failure as failure:
        reporter.tell(Unable(text=f"{type(failure).__name__}: {failure}"))
    else:
        reporter.tell(Ended())


@contextmanager
def _violations_told(reporter: Reporter) -> Iterator[None]:
    """Tells of a violation at once: a ledger that is closed because of it may fail, and hide it."""
    try:
        yield
    except Violation as broken:
        reporter.tell(Broken(text=str(broken)))
        raise


SWEPT_WHOLLY = "brief"
"""The one that is short enough to be swept wholly for every change."""

WORKLOADS: tuple[Workload, ...] = (
    Workload("init", initialise),
    Workload("make", partial(work, ideas=SHORT)),
    Workload("work", partial(work, ideas=LONG), "closed"),
    Workload("recover", partial(work, ideas=SHORT), "killed"),
    Workload(SWEPT_WHOLLY, brief),
)
"""Every one that is swept."""
