"""`python -m tests.fuzz`: the long form of the campaign, against a server of its own.

Exits 0 if nothing is wrong. Prints what each operation answered, the seed, and whatever is wrong.
"""

from __future__ import annotations

import sys
import tempfile
from argparse import ArgumentParser, Namespace
from pathlib import Path

from tests.fuzz import campaign
from tests.fuzz.seeding import running


def parser() -> ArgumentParser:
    made = ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    made.add_argument("--cases", type=int, default=5_000, help="about so many, evenly over all operations")
    made.add_argument("--seed", type=int, default=0, help="other cases for another number")
    return made


def main(arguments: Namespace) -> int:
    with tempfile.TemporaryDirectory(prefix="relatum-fuzz-") as directory, running(Path(directory) / "store") as world:
        report = campaign.run(world, arguments.cases, arguments.seed)
        print(report)  # noqa: T201
    return 1 if report.faults else 0


if __name__ == "__main__":
    sys.exit(main(parser().parse_args()))
