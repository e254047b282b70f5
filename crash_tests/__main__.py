"""`python -m crash_tests PART`: break the ledger in one way, again and again, and see whether a promise breaks too.

`short` runs every part as far as a change needs it, `long` as far as a release does. `bugs` and `controls` see whether
the parts notice what they are said to.

Exits 0 and prints what was compared; or prints the seed, the case and the violation and exits 1; or exits 3 where the
machine lacks what a part needs. 2 is for a command line that can't be right.
"""

from __future__ import annotations

import signal
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterable
from random import SystemRandom
from types import FrameType

from crash_tests.bug_campaign import Kind, notice_all, pairs
from crash_tests.bugs import BUGS
from crash_tests.part import Part, Unavailable
from crash_tests.part_run import CLEAN, UNAVAILABLE, VIOLATED, Tell, add_options, keep_quiet, options_of, run, worst
from crash_tests.parts import PARTS
from crash_tests.violation import Violation


def parser() -> ArgumentParser:
    """The command line."""
    made = ArgumentParser(prog="python -m crash_tests", description=__doc__)
    commands = made.add_subparsers(dest="command", required=True, metavar="PART")
    for part in PARTS.values():
        add_options(commands.add_parser(part.name, help=part.help, description=part.help), part)
    for name, text in (
        ("short", "every part at its size for a change"),
        ("long", "every part at its size for a release"),
    ):
        _add_seed(commands.add_parser(name, help=text, description=text))
    controls = {control for part in PARTS.values() for control in part.controls}
    _add_noticing(commands.add_parser("bugs", help="whether the planted bugs are found"), "bug", BUGS)
    _add_noticing(commands.add_parser("controls", help="whether lies and damages are noticed"), "control", controls)
    return made


def _add_noticing(command: ArgumentParser, kind: Kind, names: Iterable[str]) -> None:
    command.description = f"Whether each part notices each {kind} that it is said to, at its size for a change."
    command.set_defaults(kind=kind)
    command.add_argument(f"--{kind}", choices=sorted(names), dest="name", help="this one alone")
    command.add_argument("--part", choices=PARTS, help="this part alone")
    _add_seed(command)


def _add_seed(command: ArgumentParser) -> None:
    command.add_argument("--seed", type=int, help="for all parts (default: a new one, which is printed)")


def main(arguments: Namespace) -> int:
    """The exit status."""
    seed = SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    _tell(f"seed {seed}")
    match arguments.command:
        case "bugs" | "controls":
            return _notice(arguments.kind, arguments.name, arguments.part, seed)
        case "short" | "long" as size:
            return _run_all(seed, short=size == "short")
        case name:
            return _run(PARTS[name], arguments, seed, _tell)


def _notice(kind: Kind, name: str | None, part: str | None, seed: int) -> int:
    chosen = pairs(PARTS.values(), kind, name, part)
    if not chosen:
        parser().error(f"{part} is not said to notice {name or f'any {kind}'}")
    return notice_all(chosen, seed, _tell)


def _run_all(seed: int, *, short: bool) -> int:
    """Every part; the worst exit status. Lines between the summaries are kept for the violation they may lead to."""
    return worst(_run(part, options_of(part, *_size(part, short=short)), seed, keep_quiet) for part in PARTS.values())


def _size(part: Part, *, short: bool) -> tuple[str, ...]:
    return part.short if short else ("--cases", str(part.cases_release))


def _run(part: Part, arguments: Namespace, seed: int, tell: Tell) -> int:
    ended = run(part, arguments, seed, tell)
    match ended.outcome:
        case Violation() as violation:
            _tell(f"{part.name}: VIOLATION with seed {seed}: {violation}\nWhat it left is in {ended.directory}")
            return VIOLATED
        case Unavailable() as lacking:
            _tell(f"{part.name}: not run: {lacking}")
            return UNAVAILABLE
        case summary:
            _tell(f"{part.name}: {summary.line} ({ended.seconds:.1f} s)")
            return CLEAN


def _tell(line: str) -> None:
    print(line, flush=True)


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - what a signal calls is called with both
    """Told to stop, it stops what it has started."""
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    sys.exit(main(parser().parse_args()))
