"""When to kill: drawn from the seed, before anything is carried out."""

from __future__ import annotations

from random import Random
from typing import Literal

from msgspec import Struct

ACCEPTED_MAX = 150
DELAY_SECONDS_MAX = 0.02
DRAIN_SECONDS_MAX = 0.08
OPENING_SECONDS_MAX = 0.1
"""About how long a program has the store's lock before it is ready."""
START_PARTS_MAX = 1.1
"""Of what a start took before: a kill meets every part of it, and some come just after."""
MAKING_KILLED = 0.3
"""How often the making of a store is killed."""

Place = tuple[object, ...]
"""A place in a campaign: its seed, then the numbers of the store, the round, the client."""
Moment = Literal["at work", "draining"]


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


def seeded(*place: object) -> Random:
    """The random numbers of a place."""
    return Random("/".join(map(str, place)))


def draw_plan(random: Random) -> Plan:
    """The next plan."""
    draining = random.random() < 0.2
    return Plan(
        moment="draining" if draining else "at work",
        accepted=random.randrange(ACCEPTED_MAX),
        delay_seconds=random.uniform(0.0, DRAIN_SECONDS_MAX if draining else DELAY_SECONDS_MAX),
        starts=tuple(_draw_early_kill(random) for _ in range(random.choice((0, 0, 0, 1, 2)))),
    )


def draw_making(random: Random) -> EarlyKill | None:
    """Whether and when the making of a store is killed."""
    return _draw_early_kill(random) if random.random() < MAKING_KILLED else None


def _draw_early_kill(random: Random) -> EarlyKill:
    opening = random.random() < 0.6
    return EarlyKill(opening=opening, part=random.uniform(0.0, 1.0 if opening else START_PARTS_MAX))
