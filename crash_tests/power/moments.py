"""When a life is interrupted: after so many lines and a drawn while, or at a failpoint where it stops itself."""

from __future__ import annotations

from random import Random
from typing import Final

from msgspec import Struct

from crash_tests.embedded import Plan
from crash_tests.power.forked import Forked
from relatum.store import failpoints
from relatum.store.rocks import WRITE_BUFFER_BYTES

LINES_MEAN: Final = 40
LINES_MAX: Final = 500
REACHED_MAX: Final = 25
"""How often a place that every group comes by may be reached first."""
DELAY_SECONDS_MAX: Final = 0.004
OPENING_SECONDS_MAX: Final = 0.05
COMMANDS_MAX: Final = 600
FEW_COMMANDS: Final = 25
SMALL_BUFFER_BYTES: Final = 64 * 1024


def _places(*phases: str) -> tuple[str, ...]:
    return tuple(name for name in failpoints.NAMES if name.partition(".")[0] in phases)


PLACES: Final = _places("open", "group", "commit", "close")
"""Where every life comes by."""
_OPENING, _WORKING = _places("open"), _places("group", "commit", "close")
_WORKING_WEIGHTS: Final = tuple(3 if name.startswith("commit") else 1 for name in _WORKING)
"""Between the places of a commit promises are kept or broken, so they come more often than those around it."""
_MAKING, _RECOVERING = _places("make", "open"), _places("open", "repair")
_WORKING_SHARE: Final = 0.7
_WORKING_SHARE_SOON: Final = 0.3


class Moment(Struct, frozen=True, kw_only=True):
    """At a failpoint, the so-manieth time; or after so many lines were told, and so much later."""

    place: str | None = None
    number: int = 1
    lines: int = 0
    delay_seconds: float = 0.0

    def wait_for(self, child: Forked) -> None:
        """Until it has come, or the child has ended."""
        if self.place is not None:
            child.wait_until_stopped()
            return
        child.wait_for_lines(self.lines)
        child.wait(self.delay_seconds)

    def __str__(self) -> str:
        if self.place is not None:
            return f"at {self.place}, number {self.number}"
        return f"{self.delay_seconds * 1000:.1f} ms after {self.lines} lines"


def draw_moment(dice: Random, place: str | None = None, *, new: bool = False, soon: bool = False) -> Moment:
    """Some moment, or one at a place; with `soon` one while the store is opened, or right afterwards.

    With `new` there is no store yet, and its making is interrupted now and then.
    """
    chosen = dice.random()
    if place or chosen < 0.5:
        place = place or _draw_place(dice, new=new, soon=soon)
        return Moment(place=place, number=_draw_number(dice, place, soon=soon))
    if chosen < 0.6 or (soon and chosen < 0.75):
        return Moment(delay_seconds=dice.uniform(0.0, OPENING_SECONDS_MAX))
    lines = 1 + min(LINES_MAX, int(dice.expovariate(1 / (4 if soon else LINES_MEAN))))
    return Moment(lines=lines, delay_seconds=dice.choice((0.0, dice.uniform(0.0, DELAY_SECONDS_MAX))))


def draw_plan(dice: Random, seed: str, moment: Moment, bug: str | None) -> Plan:
    """A life that lasts until the moment, unless that never comes."""
    soon_over = moment.place is not None and moment.place.startswith(("close", "repair"))  # there may be no repair
    return Plan(
        seed=seed,
        commands=FEW_COMMANDS if soon_over else COMMANDS_MAX,
        threads=dice.choice((1, 2, 3, 3, 4)),
        readers=dice.choice((0, 1, 1)),
        bug=bug,
        stop_at=moment.place,
        stop_number=moment.number,
        watermark_lag=dice.choice((0, 0, 0, 1)),
        write_buffer_bytes=dice.choice((SMALL_BUFFER_BYTES, WRITE_BUFFER_BYTES)),
    )


def _draw_place(dice: Random, *, new: bool, soon: bool) -> str:
    if dice.random() < (_WORKING_SHARE_SOON if soon else _WORKING_SHARE):
        return dice.choices(_WORKING, _WORKING_WEIGHTS)[0]
    return dice.choice(_RECOVERING if soon else _MAKING if new else _OPENING)


def _draw_number(dice: Random, place: str, *, soon: bool) -> int:
    """The so-manieth time that a group comes by; of all else there is one in a life."""
    return dice.randint(1, 2 if soon else REACHED_MAX) if place.startswith(("group", "commit")) else 1
