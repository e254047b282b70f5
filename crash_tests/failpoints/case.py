"""At which places a case kills: drawn from the seed and the case's number, before anything is carried out.

What always holds: each round of `len(NAMES)` cases meets every name once, in the phase to which it belongs; what the
other phases of a case meet is drawn besides.
"""

from __future__ import annotations

from random import Random

from msgspec import Struct

from crash_tests.random_draws import seeded
from relatum.store.failpoints import NAMES, Name

MADE = tuple(name for name in NAMES if name.startswith("make."))
OPENED = tuple(name for name in NAMES if name.startswith("open."))
REPAIRED = tuple(name for name in NAMES if name.startswith("repair."))
EXAMINED = tuple(name for name in NAMES if name.startswith("examine."))
STARTED = EXAMINED + OPENED + REPAIRED
WORKED = tuple(name for name in NAMES if name.startswith(("group.", "commit.")))
CLOSED = tuple(name for name in NAMES if name.startswith("close."))
COPIED = tuple(name for name in NAMES if name.startswith(("image.", "restore.")))

MET_AGAIN = ("make.directory", *OPENED)
"""By a `relatum init` on a directory in which one was killed before."""
BEFORE_A_STORE = ("make.directory", "open.locked", "open.scanned")
"""Killed there, a `relatum init` has left no store, and the next one makes the directory for it again."""

REACHED_MAX = 60
ACCEPTED_MAX = 40
MAKING_SHARE = 0.2
"""How often a name that `relatum init` meets too is tried there."""


class Case(Struct, frozen=True, kw_only=True):
    """What is killed where. `reached` is at which reach of `work` the server dies, `accepted` when it is told to stop.

    `copies` are places of a backup of the store and of its restoring, met before the last start.

    A case that kills no making works on a copy of a store.
    """

    making: tuple[Name, ...] = ()
    work: Name
    reached: int = 1
    accepted: int = 0
    starts: tuple[Name, ...] = ()
    copies: tuple[Name, ...] = ()

    @property
    def kills(self) -> int:
        """How many that makes."""
        return len(self.making) + 1 + len(self.starts) + len(self.copies)

    def __str__(self) -> str:
        """For messages."""
        making = f"init at {', '.join(self.making)}; " if self.making else ""
        work = f"{self.work} reached {self.reached} times" if self.work in WORKED else self.work
        starts = f"; starts at {', '.join(self.starts)}" if self.starts else ""
        copies = f"; copies at {', '.join(self.copies)}" if self.copies else ""
        return f"{making}{work}{starts}{copies}"


def draw_case(seed: int, number: int) -> Case:
    """The case with a number."""
    turn, place = divmod(number - 1, len(NAMES))
    names = list(NAMES)
    seeded(seed, "round", turn).shuffle(names)
    random = seeded(seed, number)
    name = names[place]
    making: tuple[Name, ...] = ()
    if name in MADE or (name not in EXAMINED + REPAIRED + COPIED and random.random() < MAKING_SHARE):
        making = _met((name, *_some(MET_AGAIN, random)))
    work = name if name in WORKED + CLOSED and not making else random.choice(WORKED + CLOSED)
    starts = _some(STARTED, random)
    if name in STARTED and not making:
        starts = (name, *starts[:2])
    return Case(
        making=making,
        work=work,
        reached=1 + int(REACHED_MAX * random.random() ** 2) if work in WORKED else 1,
        accepted=random.randrange(ACCEPTED_MAX),
        starts=starts,
        copies=(name,) if name in COPIED else (),
    )


def _met(names: tuple[Name, ...]) -> tuple[Name, ...]:
    """Those that are met if each is where one `relatum init` after the other is killed."""
    met: list[Name] = []
    for name in names:
        if name != "make.directory" or set(met) <= set(BEFORE_A_STORE):
            met.append(name)
    return tuple(met)


def _some(names: tuple[Name, ...], random: Random) -> tuple[Name, ...]:
    """Mostly none or one, three at most."""
    return tuple(random.choices(names, k=random.choice((0, 0, 0, 1, 1, 1, 2, 3))))
