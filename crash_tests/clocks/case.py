"""How a case's clock goes: drawn from the seed and the case's number, before anything is carried out."""

from __future__ import annotations

from random import Random

from msgspec import Struct

from crash_tests.random_draws import seeded

SERVED = 2
"""How many servers of a case have clients at work; one more is judged."""
JUMPS_MAX = 4
ACCEPTED_MAX = 30
OFFSET_EXPONENT_MAX = 11.2
"""Of ten, in milliseconds: five years."""
RIGHT_SHARE = 0.15
"""How often a clock is right."""


class Jump(Struct, frozen=True):
    """The clock is put off by `offset_millis` after so many more commands were acknowledged."""

    accepted: int
    offset_millis: int


class Life(Struct, frozen=True, kw_only=True):
    """One server: where its clock starts, how it jumps, and how it ends, by a kill or in order."""

    offset_millis: int
    jumps: tuple[Jump, ...]
    killed: bool

    def __str__(self) -> str:
        """For messages."""
        offsets = self.offset_millis, *(jump.offset_millis for jump in self.jumps)
        return f"{' '.join(map(_shown, offsets))} {'killed' if self.killed else 'drained'}"


class Case(Struct, frozen=True, kw_only=True):
    """The servers of one store, and where the clock of the last one starts, which is judged and does nothing else."""

    lives: tuple[Life, ...]
    offset_millis: int

    def __str__(self) -> str:
        """For messages."""
        return f"clocks off by {', '.join(map(str, self.lives))}; {_shown(self.offset_millis)} s"


def draw_case(seed: int, number: int) -> Case:
    """The case with a number."""
    random = seeded(seed, number)
    lives = tuple(_draw_life(random) for _ in range(SERVED))
    return Case(lives=lives, offset_millis=_draw_offset(random))


def _draw_life(random: Random) -> Life:
    """At least one jump goes back."""
    start = _draw_offset(random)
    jumps = [Jump(random.randrange(ACCEPTED_MAX), _draw_offset(random)) for _ in range(random.randrange(JUMPS_MAX))]
    last = jumps[-1].offset_millis if jumps else start
    jumps.append(Jump(random.randrange(ACCEPTED_MAX), last - abs(_draw_offset(random)) - 1))
    return Life(offset_millis=start, jumps=tuple(jumps), killed=random.random() < 0.6)


def _draw_offset(random: Random) -> int:
    """Milliseconds or years, before or after."""
    if random.random() < RIGHT_SHARE:
        return 0
    return random.choice((-1, 1)) * int(10 ** random.uniform(0, OFFSET_EXPONENT_MAX))


def _shown(offset_millis: int) -> str:
    return f"{offset_millis / 1000:+.0f}"
