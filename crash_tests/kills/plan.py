"""When to kill: drawn from the seed, before anything is carried out."""

from __future__ import annotations

from random import Random
from typing import Literal

from msgspec import Struct

ACCEPTED_MAX = 150
AIMED_ACCEPTED_MAX = 60
OPENING_SECONDS_MAX = 0.1
"""About how long a program has the store's lock before it is ready."""
START_PARTS_MAX = 1.1
"""Of what a start took before: a kill meets every part of it, and some come just after."""
MAKING_KILLED = 0.3
"""How often the making of a store is killed."""

LAGS = (0, 0, 0, 1)
"""By how many groups the watermark lags, of four stores."""

Moment = Literal["at work", "draining", "saving", "following"]
"""While commands are carried out, after it was told to stop, as a checkpoint is sent, as a stream tells a change."""
Aim = Literal["everything", "feeds"]

DELAY_SECONDS_MAX: dict[Moment, float] = {"at work": 0.02, "draining": 0.08, "saving": 0.004, "following": 0.01}
MOMENTS: dict[Aim, dict[Moment, int]] = {
    "everything": {"at work": 50, "draining": 20, "saving": 18, "following": 12},
    "feeds": {"saving": 55, "following": 35, "draining": 10},
}
"""How often which moment is drawn, of a hundred times."""


class EarlyKill(Struct, frozen=True, kw_only=True):
    """A kill of a program that is starting: anywhere on its way, or from when it has locked the store."""

    opening: bool
    part: float
    """Of the time that the way, or the opening, is likely to take."""


class Plan(Struct, frozen=True, kw_only=True):
    """One kill, and those that meet the restarts after it."""

    moment: Moment
    accepted: int
    """So many commands are acknowledged first."""
    delay_seconds: float
    """And so much later, or so long after it was told to stop, the server is killed."""
    starts: tuple[EarlyKill, ...] = ()
    """Kills of one restart after the other, before one is let be."""

    @property
    def kills(self) -> int:
        """How many kills that makes."""
        return 1 + len(self.starts)

    def __str__(self) -> str:
        """For the line of progress."""
        return f"{self.moment} and {len(self.starts)} starting" if self.starts else self.moment


def draw_plan(random: Random, aim: Aim) -> Plan:
    """The next plan. One that is aimed at the feeds lets the restart be."""
    moments = MOMENTS[aim]
    moment = random.choices(list(moments), list(moments.values()))[0]
    starts = random.choice((0, 0, 0, 1, 2)) if aim == "everything" else 0
    return Plan(
        moment=moment,
        accepted=random.randrange(ACCEPTED_MAX if aim == "everything" else AIMED_ACCEPTED_MAX),
        delay_seconds=random.uniform(0.0, DELAY_SECONDS_MAX[moment]),
        starts=tuple(_draw_early_kill(random) for _ in range(starts)),
    )


def draw_making(random: Random) -> EarlyKill | None:
    """Whether and when the making of a store is killed."""
    return _draw_early_kill(random) if random.random() < MAKING_KILLED else None


def _draw_early_kill(random: Random) -> EarlyKill:
    opening = random.random() < 0.6
    return EarlyKill(opening=opening, part=random.uniform(0.0, 1.0 if opening else START_PARTS_MAX))
