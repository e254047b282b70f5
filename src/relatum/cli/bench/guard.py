"""The guard against regressions: a short run that fails where it is worse by far than it should be, or than it was.

A ratio is held against its target where that is met, and else against what was last found on a quiet machine, which
stands beside the target.

Always holds: only ratios and counts are looked at, never times or rates of this machine, so that a slow or busy one is
no reason to fail; and the margin is wide enough for noise, while what became ten times as slow is noticed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from relatum.cli.bench.targets import Target, Verdict

PARTS: Final = ("engine", "commands", "reads")
"""What a short run can say something about."""
ROUNDS: Final = 2
MARGIN: Final = 2.0
"""A run may be half as good as what it is held against."""


def failures(verdicts: Iterable[Verdict], margin: float = MARGIN) -> list[Verdict]:
    """What is worse by more than the margin."""
    return [one for one in verdicts if guarded(one) and not _within(one, margin)]


def guarded(one: Verdict) -> bool:
    """Whether the guard looks at it: it was measured, and what it is about is no time."""
    return one.met is not None and (bool(one.target.floor) or one.unit == "syncs/command")


def held_against(target: Target) -> float:
    """The figure that a run is held against."""
    return target.limit if target.guarded is None else target.guarded


def _within(one: Verdict, margin: float) -> bool:
    target, found, held = one.target, one.figure, held_against(one.target)
    assert found is not None, "it was measured"
    return target.reached(found, held / margin if target.bound == "at least" else held * margin)
