"""`python -m crash_tests`: kill the real server at random moments and see whether anything promised was lost.

Exits 0 and prints what was compared, or prints the seed and the violation and exits 1.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path
from random import SystemRandom

from crash_tests.campaign import Campaign
from crash_tests.controls import CONTROLS
from crash_tests.plan import MOMENTS
from crash_tests.stage import Rig
from crash_tests.violation import Violation
from relatum.limits import SLOTS_DEFAULT


def parser() -> ArgumentParser:
    """The command line."""
    made = ArgumentParser(prog="python -m crash_tests", description=__doc__)
    made.add_argument("--kills", type=int, default=25, help="at least so many (default %(default)s)")
    made.add_argument("--seed", type=int, help="draw the plans from this seed (default: a new one, which is printed)")
    made.add_argument("--seconds-max", type=float, default=float("inf"), help="begin no round after so long")
    made.add_argument("--slots", type=int, default=SLOTS_DEFAULT, help="the server's slots (default %(default)s)")
    made.add_argument("--clients", type=int, default=4, help="clients at work at once (default %(default)s)")
    made.add_argument(
        "--consumers",
        type=int,
        default=6,
        choices=range(2, 17),
        metavar="N",
        help="consumers at once (default %(default)s)",
    )
    made.add_argument(
        "--aim", choices=sorted(MOMENTS), default="everything", help="what the kills are to meet (default %(default)s)"
    )
    made.add_argument(
        "--control", choices=sorted(CONTROLS), help="do this damage after each kill; the run must then fail"
    )
    return made


def main(arguments: Namespace) -> int:
    """The exit status."""
    seed = SystemRandom().randrange(2**32) if arguments.seed is None else arguments.seed
    _tell(f"seed {seed}")
    directory = Path(tempfile.mkdtemp(prefix="relatum-crash-"))
    rig = Rig(
        directory=directory,
        slots=arguments.slots,
        clients=arguments.clients,
        consumers=arguments.consumers,
        control=arguments.control,
    )
    try:
        summary = Campaign(rig, seed, arguments.aim, _tell).run(arguments.kills, arguments.seconds_max)
    except Violation as violation:
        _tell(f"VIOLATION with seed {seed}: {violation}\nThe store and the server's log are in {directory}")
        return 1
    shutil.rmtree(directory)
    _tell(str(summary))
    return 0


def _tell(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    sys.exit(main(parser().parse_args()))
