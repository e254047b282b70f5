"""`python -m crash_tests PART`: break the ledger in one way, again and again, and see whether a promise breaks too.

`short` runs every part as far as a change needs it, `long` as far as a release does.

Exits 0 and prints what was compared; or prints the seed, the case and the violation and exits 1; or exits 3 where the
machine lacks what a part needs. 2 is for a command line that can't be right.
"""

from __future__ import annotations

import shutil
import signal
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path
from random import SystemRandom
from types import FrameType

from crash_tests.bugs import BUGS
from crash_tests.leftovers import claimed
from crash_tests.part import Part, Run, Unavailable
from crash_tests.parts import PARTS
from crash_tests.violation import Violation

Tell = Callable[[str], None]

CLEAN, VIOLATED, UNAVAILABLE = 0, 1, 3


def parser() -> ArgumentParser:
    """The command line."""
    made = ArgumentParser(prog="python -m crash_tests", description=__doc__)
    commands = made.add_subparsers(dest="command", required=True, metavar="PART")
    for part in PARTS.values():
        _add_part(commands.add_parser(part.name, help=part.help, description=part.help), part)
    for name, text in (
        ("short", "every part at its size for a change"),
        ("long", "every part at its size for a release"),
    ):
        every = commands.add_parser(name, help=text, description=text)
        every.add_argument("--seed", type=int, help="for all parts (default: a new one, which is printed)")
    return made


def main(arguments: Namespace) -> int:
    """The exit status."""
    seed = SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    if arguments.command in PARTS:
        part = PARTS[arguments.command]
        _tell(f"seed {seed}")
        return _run(part, arguments, seed, _tell)
    return _run_all(seed, short=arguments.command == "short")


def _add_part(command: ArgumentParser, part: Part) -> None:
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


def _run_all(seed: int, *, short: bool) -> int:
    """Every part; the worst exit status. Lines between the summaries are kept for the violation they may lead to."""
    _tell(f"seed {seed}")
    worst = CLEAN
    for part in PARTS.values():
        told = part.short if short else ("--cases", str(part.cases_release))
        arguments = parser().parse_args([part.name, *told])
        worst = max(worst, _run(part, arguments, seed, _keep_quiet), key=(CLEAN, UNAVAILABLE, VIOLATED).index)
    return worst


def _run(part: Part, arguments: Namespace, seed: int, tell: Tell) -> int:
    directory = Path(tempfile.mkdtemp(prefix=f"relatum-{part.name}-"))
    given = Run(
        seed=seed,
        cases=arguments.cases,
        directory=directory,
        tell=tell,
        first_case=arguments.first_case,
        seconds_max=arguments.seconds_max,
        control=getattr(arguments, "control", None),
        bug=arguments.bug,
        options=arguments,
    )
    try:
        with claimed(directory, part.name):
            summary = part.run(given)
    except Violation as violation:
        _tell(f"{part.name}: VIOLATION with seed {seed}: {violation}\nWhat it left is in {directory}")
        return VIOLATED
    except Unavailable as lacking:
        shutil.rmtree(directory)
        _tell(f"{part.name}: not run: {lacking}")
        return UNAVAILABLE
    shutil.rmtree(directory)
    _tell(f"{part.name}: {summary.line} ({given.seconds:.1f} s)")
    return CLEAN


def _tell(line: str) -> None:
    print(line, flush=True)


def _keep_quiet(line: str) -> None:
    """Nothing."""


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what a signal calls is called with both
    """Told to stop, it stops what it has started."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(main(parser().parse_args()))
