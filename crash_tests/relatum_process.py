"""The relatum program in a process of its own, with a bug planted, a failpoint armed, or its clock put wrong.

    python -m crash_tests.relatum_process [--bug NAME] [--failpoint NAME[:N]] [--clock FILE] -- serve DIRECTORY …

The process kills itself with SIGKILL when it comes to the failpoint for the Nth time (the first, if nothing is said).
Its time of day is off by the milliseconds that the file holds, which may be rewritten while it runs.
"""

from __future__ import annotations

import os
import signal
import sys
from argparse import ArgumentParser
from itertools import count
from pathlib import Path

from crash_tests.bugs import BUGS
from relatum import clock
from relatum.cli import main
from relatum.store import failpoints


def arm(name: str, number: int) -> None:
    """SIGKILL of this process when it comes to a failpoint for the `number`th time."""
    if name not in failpoints.NAMES:
        raise SystemExit(f"no failpoint is called {name}; there are: {', '.join(failpoints.NAMES)}")
    reached = count(1)

    def hook(place: failpoints.Name) -> None:
        if place == name and next(reached) == number:
            os.kill(os.getpid(), signal.SIGKILL)

    failpoints.arm(hook)


def put_clock_wrong(offset: Path) -> None:
    """The time of day is off by the milliseconds in a file, which is read whenever somebody asks for the time."""
    right = clock.SystemClock.millis

    def wrong(self: clock.SystemClock) -> int:
        now = right(self)  # IMPORTANT: first; an offset that is replaced meanwhile was in force then
        return now + int(offset.read_text())

    clock.SystemClock.millis = wrong  # type: ignore[method-assign]


def launch(arguments: list[str]) -> None:
    """Prepares this process as told, then runs the program."""
    parser = ArgumentParser(prog="python -m crash_tests.relatum_process", description=__doc__)
    parser.add_argument("--bug", choices=sorted(BUGS))
    parser.add_argument("--failpoint", metavar="NAME[:N]")
    parser.add_argument("--clock", type=Path, metavar="FILE")
    parser.add_argument("program", nargs="+", help="what `relatum` is called with")
    told = parser.parse_args(arguments)
    if told.bug is not None:
        BUGS[told.bug].plant()
    if told.failpoint is not None:
        name, _, number = told.failpoint.partition(":")
        arm(name, int(number or 1))
    if told.clock is not None:
        put_clock_wrong(told.clock)
    main(told.program, prog_name="relatum")


if __name__ == "__main__":
    launch(sys.argv[1:])
