"""A part: one way to break the ledger, with what it needs to be run, counted, and run again.

What always holds: case `k` of seed `s` is the same case whatever the cases before it did, so that a seed and a number
are all it takes to meet a violation again.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from time import monotonic

from msgspec import Struct, field


class Unavailable(Exception):
    """The machine lacks what a part needs; the message says what."""


class Run(Struct, kw_only=True):
    """What a part is given: how much to do, under which seed, with which lie, and where.

    `control` is damage from outside that must be noticed, `bug` a planted bug of the product (crash_tests/bugs). The
    directory exists and is the part's own; whoever gave it removes it, unless something was violated.
    """

    seed: int
    cases: int
    directory: Path
    tell: Callable[[str], None]
    first_case: int = 1
    seconds_max: float = float("inf")
    control: str | None = None
    bug: str | None = None
    options: Namespace = field(default_factory=Namespace)
    started: float = field(default_factory=monotonic)

    def numbers(self) -> Iterator[int]:
        """The numbers of the cases to try, until there were enough or the time is over."""
        for number in range(self.first_case, self.first_case + self.cases):
            if self.seconds >= self.seconds_max:
                self.tell(f"stopped after {number - self.first_case} of {self.cases}: the time is over")
                return
            yield number

    def random(self, case: int) -> Random:
        """The dice of a case."""
        return Random(f"{self.seed}/{case}")

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return monotonic() - self.started


class Summary(Struct, frozen=True):
    """What a part came to when nothing was violated: how many cases there were, and the figures in one line."""

    cases: int
    line: str


def no_options(parser: ArgumentParser) -> None:
    """A part without options of its own."""


class Part(Struct, frozen=True, kw_only=True):
    """A harness. `run` raises `Violation` at the first thing that does not hold, and `Unavailable`.

    `unit` is what its cases are called. `cases_ci` and `cases_release` are how many belong to a short and a long run;
    where other cases belong to a short run, `short` is what the command line says then. `controls` and `bugs` are those
    it notices within `cases_ci`.
    """

    name: str
    help: str
    unit: str
    cases_ci: int
    cases_release: int
    short: tuple[str, ...] = ()
    run: Callable[[Run], Summary]
    controls: tuple[str, ...] = ()
    bugs: tuple[str, ...] = ()
    add_options: Callable[[ArgumentParser], None] = no_options
