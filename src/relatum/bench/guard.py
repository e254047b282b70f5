"""The guard against regressions: a short run whose ratios are held against the targets with a wide margin.

Always holds: only ratios and counts are looked at, never times or rates of this machine, so that a slow or busy one is
no reason to fail; and the margin is wide enough for noise, while what became ten times as slow is noticed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from relatum.bench.targets import Verdict

PARTS: Final = ("engine", "commands", "reads")
"""What a short run can say something about."""
ROUNDS: Final = 2
MARGIN: Final = 2.0
"""A ratio may be half as good as its target."""


def failures(verdicts: Iterable[Verdict], margin: float = MARGIN) -> list[Verdict]:
    """The targets that were missed by more than the margin."""
    return [one for one in verdicts if guarded(one) and not _within(one, margin)]


def guarded(one: Verdict) -> bool:
    """Whether the guard looks at it: it was measured, and what it is about is no time."""
    return one.met is not None and (bool(one.target.floor) or one.unit == "syncs/command")


def _within(one: Verdict, margin: float) -> bool:
    target, found = one.target, one.figure
    assert found is not None, "it was measured"
    return target.reached(found, target.limit / margin if target.bound == "at least" else target.limit * margin)
