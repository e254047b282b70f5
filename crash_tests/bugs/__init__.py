"""Planted bugs: what one wrong line of the product would do. Each must be noticed by at least one part.

A bug patches the product in the process that plants it, and only there; `planted` puts everything back. They are
listed in docs/testing.md with the parts that notice them.
"""

from __future__ import annotations

from crash_tests.bugs import checks, commits, histories, judgments, projections, writers
from crash_tests.bugs.bug import Bug

BUGS: dict[str, Bug] = {
    bug.name: bug
    for bug in (
        *commits.BUGS,
        *writers.BUGS,
        *projections.BUGS,
        *judgments.BUGS,
        *histories.BUGS,
        *checks.BUGS,
    )
}
