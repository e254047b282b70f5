"""One run of a part: what it can be told on a command line, a directory of its own, and how it ended."""

from __future__ import annotations

import shutil
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable
from pathlib import Path

from msgspec import Struct

from crash_tests.bugs import BUGS
from crash_tests.leftovers import claimed
from crash_tests.part import Part, Run, Summary, Unavailable
from crash_tests.violation import Violation

Tell = Callable[[str], None]

CLEAN, VIOLATED, UNAVAILABLE = 0, 1, 3
"""Exit statuses."""


class Ended(Struct, frozen=True, kw_only=True):
    """How a run ended, and after how long. The directory is there no more unless something was violated."""

    outcome: Summary | Violation | Unavailable
    seconds: float
    directory: Path


def add_options(command: ArgumentParser, part: Part) -> None:
    """What a part can be told."""
    command.add_argument(
        "--cases",
        type=int,
        default=part.cases_ci,
        help=f"so many {part.unit} (default %(default)s; {part.cases_release:,} before a release)",
    )
    command.add_argument("--first-case", type=int, default=1, help="the number of the first (default %(default)s)")
    command.add_argument(
        "--seed", type=int, help="draw everything from this seed (default: a new one, which is printed)"
    )
    command.add_argument("--seconds-max", type=float, default=float("inf"), help="begin nothing after so long")
    if part.controls:
        command.add_argument("--control", choices=part.controls, help="a lie or damage that must be noticed")
    command.add_argument("--bug", choices=sorted(BUGS), help="plant this bug in the product; it should be noticed")
    part.add_options(command)


def options_of(part: Part, *told: str) -> Namespace:
    """What a command line of a part says."""
    command = ArgumentParser(prog=part.name)
    add_options(command, part)
    return command.parse_args(told)


def run(part: Part, options: Namespace, seed: int, tell: Tell) -> Ended:
    """Runs a part in a directory that is made for it."""
    directory = Path(tempfile.mkdtemp(prefix=f"relatum-{part.name}-"))
    given = Run(
        seed=seed,
        cases=options.cases,
        directory=directory,
        tell=tell,
        first_case=options.first_case,
        seconds_max=options.seconds_max,
        control=getattr(options, "control", None),
        bug=options.bug,
        options=options,
    )
    outcome: Summary | Violation | Unavailable
    try:
        with claimed(directory, part.name):
            outcome = part.run(given)
    except (Violation, Unavailable) as error:
        outcome = error
    if not isinstance(outcome, Violation):
        shutil.rmtree(directory)
    return Ended(outcome=outcome, seconds=given.seconds, directory=directory)


def worst(statuses: Iterable[int]) -> int:
    """The exit status of several runs."""
    return max(statuses, key=(CLEAN, UNAVAILABLE, VIOLATED).index, default=CLEAN)


def keep_quiet(line: str) -> None:
    """Nothing: the lines between the first and the last are kept from whoever asked for many runs."""
