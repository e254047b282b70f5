"""`python -m crash_tests.embedded DIRECTORY --seed S --commands N`: one life; see crash_tests/embedded/__init__.py.

Exits 0 when all commands are done, 3 where the ledger said that it can't, or something broke; the messages say which.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

from crash_tests.bugs import BUGS
from crash_tests.embedded.life import live
from crash_tests.embedded.messages import Reporter
from crash_tests.embedded.plan import Plan
from relatum.store import failpoints
from relatum.store.rocks import WRITE_BUFFER_BYTES


def main(arguments: list[str]) -> int:
    """The exit status."""
    parser = ArgumentParser(prog="python -m crash_tests.embedded", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--seed", required=True, help="another one for each life on the same store")
    parser.add_argument("--commands", type=int, required=True)
    parser.add_argument("--fd", type=int, default=1, help="where messages go (default: standard output)")
    parser.add_argument("--threads", type=int, default=3)
    parser.add_argument("--readers", type=int, default=1)
    parser.add_argument("--bug", choices=sorted(BUGS))
    parser.add_argument("--stop-at", metavar="NAME[:N]", help="SIGSTOP at the Nth time at this failpoint")
    parser.add_argument("--no-close", action="store_true", help="end without closing the ledger")
    parser.add_argument("--watermark-lag", type=int, choices=(0, 1), default=0)
    parser.add_argument("--write-buffer-bytes", type=int, default=WRITE_BUFFER_BYTES)
    told = parser.parse_args(arguments)
    place, _, number = (told.stop_at or "").partition(":")
    if place and place not in failpoints.NAMES:
        parser.error(f"no failpoint is called {place}; there are: {', '.join(failpoints.NAMES)}")
    plan = Plan(
        seed=told.seed,
        commands=told.commands,
        threads=told.threads,
        readers=told.readers,
        close=not told.no_close,
        bug=told.bug,
        stop_at=place or None,
        stop_number=int(number or 1),
        watermark_lag=told.watermark_lag,
        write_buffer_bytes=told.write_buffer_bytes,
    )
    return 0 if live(told.directory, plan, Reporter(told.fd)) else 3


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
