"""`python -m tests.doors`: the fuzzing of the doors at any size.

Bends bodies for the scan of strict JSON and for every route, and rows of every table, until something is answered that
should not be. Prints a line for each part; a failed assertion ends it, and the same seed finds the same again.
"""

from __future__ import annotations

import asyncio
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Callable
from time import monotonic

from tests.doors.bodies import post_paths
from tests.doors.json_fuzzing import fuzz_route, fuzz_scan
from tests.doors.mutating import bounded
from tests.doors.row_fuzzing import TABLES, fuzz_bodies, fuzz_rows

SCANS_A_CASE = 100
SECONDS_A_PART = 7_200


def routes(cases: int, seed: int) -> str:
    statuses: Counter[int] = Counter()
    for path in sorted(post_paths()):
        statuses += asyncio.run(fuzz_route(path, cases, seed))
    return f"{cases * len(post_paths())} bodies, answers by status {dict(sorted(statuses.items()))}"


def scan(cases: int, seed: int) -> str:
    number = cases * SCANS_A_CASE
    return f"{number} bodies, {fuzz_scan(number, seed)} of them strict JSON"


def stored(cases: int, seed: int) -> str:
    for table in TABLES:
        fuzz_rows(table, cases, seed)
        fuzz_bodies(table, cases, seed)
    return f"{2 * cases * len(TABLES)} rows of {len(TABLES)} tables"


PARTS: dict[str, Callable[[int, int], str]] = {"scan": scan, "routes": routes, "rows": stored}


def main() -> None:
    parser = ArgumentParser(prog="python -m tests.doors", description=__doc__)
    parser.add_argument("--cases", type=int, default=2_000, help="for each route and each table")
    parser.add_argument("--seed", type=int, default=0, help="other cases for another number")
    asked = parser.parse_args()
    for name, part in PARTS.items():
        started = monotonic()
        with bounded(SECONDS_A_PART):
            told = part(asked.cases, asked.seed)
        print(f"{name}: {told}, {monotonic() - started:.0f} s")  # noqa: T201


if __name__ == "__main__":
    main()
