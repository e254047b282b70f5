"""What a benchmark gives: series of samples, one for each round.

Here: the interface between whatever measures and whatever runs it. A *part* is a module with a function `measure`,
which takes a `Setting` and yields its `Series` at the end. Not here: what is measured, and what it is held against.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import Final, Literal, Protocol, Self

from msgspec import Struct

Scale = Literal["tiny", "small", "full"]
"""How much is done. Tiny shows that everything works, and its figures mean nothing."""

TINY: Final = 20
"""How many times less than small it is."""


class Series(Struct, frozen=True):
    """Samples of one quantity in the order of the rounds.

    The name of a series says where it comes from: its part, what was done, how many at once, as in
    `commands/single/64/rate`. `floor` is the name of the series that this one is compared with, of the same part and of
    the same rounds; empty where there is none.
    """

    name: str
    unit: str
    samples: tuple[float, ...]
    floor: str = ""

    @property
    def median(self) -> float:
        """The middle of the samples."""
        return median(self.samples)


class Setting(Struct, frozen=True, kw_only=True):
    """How to measure: how often, how much, where, and who is told how far it has come."""

    rounds: int
    scale: Scale
    scratch: Path
    """An empty directory for stores; it goes away after the run."""
    progress: Callable[[str], None]
    """Told what is being done, in a few words, at every step."""
    relations: int = 0
    """How many relations the parts that grow a store load; 0 leaves it to the scale."""

    def sized(self, small: int, full: int) -> int:
        """A number that depends on the scale."""
        match self.scale:
            case "tiny":
                return max(1, small // TINY)
            case "small":
                return small
            case "full":
                return full

    def each_round(self, what: str) -> Iterator[int]:
        """The numbers of the rounds; whoever watches is told of each."""
        for number in range(self.rounds):
            self.progress(f"{what}: round {number + 1} of {self.rounds}")
            yield number

    def directory(self, name: str) -> Path:
        """A place for one store, which does not exist yet."""
        path = self.scratch / name
        assert not path.exists(), "each store of a run has a place of its own"
        return path


class Samples:
    """Gathers samples by name while a part goes through its rounds."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[str, str, list[float]]] = {}

    def add(self, name: str, unit: str, value: float, *, floor: str = "") -> Self:
        """One sample more of a series, which begins with its first."""
        self._found.setdefault(name, (unit, floor, []))[2].append(value)
        return self

    def of(self, name: str) -> Sequence[float]:
        """The samples of a series so far."""
        return self._found[name][2]

    def series(self) -> Iterator[Series]:
        """All of them, in the order in which they began."""
        for name, (unit, floor, samples) in self._found.items():
            yield Series(name, unit, tuple(samples), floor)


class Part(Protocol):
    """A module that measures."""

    def measure(self, setting: Setting, /) -> Iterator[Series]:
        """Everything this part has to say. Leaves nothing running and nothing open."""
        ...
