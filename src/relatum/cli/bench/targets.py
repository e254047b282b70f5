"""What was set out to be reached, each in one line, and what a run says of it.

Here: the targets as data, and the judgement. Most are ratios between two series that were measured in turn; such a
ratio is the median of those of the single rounds, so that a round in which the machine was busy weighs on both sides
alike.

Always holds: a target whose series were not measured, or in a run that was too small for it, is told as such, never as
met.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from relatum.cli.bench.samples import Series

Bound = Literal["at least", "at most", "below"]
Of = Literal["median", "greatest"]


class Target(Struct, frozen=True, kw_only=True):
    """One line. Without a `floor` the bound is on the product's own figure, in its unit."""

    what: str
    product: str
    floor: str = ""
    bound: Bound
    limit: float
    stretch: float | None = None
    of: Of = "median"
    given: str = ""
    """The series that tells under which circumstances, such as how many relations there were."""
    given_least: float = 0.0
    """What that one must come to: the target speaks of so many."""
    guarded: float | None = None
    """What the guard holds a run against while the limit is missed: what was last found on a quiet machine."""

    def reached(self, figure: float, limit: float) -> bool:
        """Whether a figure is as good as it should be."""
        match self.bound:
            case "at least":
                return figure >= limit
            case "at most":
                return figure <= limit
            case "below":
                return figure < limit


class Verdict(Struct, frozen=True, kw_only=True):
    """A target, what was found, and whether that is enough. None stands for what was not measured.

    `met` is None too where the run was too small for the target, whatever was found.
    """

    target: Target
    unit: str = ""
    floor: float | None = None
    product: float | None = None
    ratio: float | None = None
    given: float | None = None
    met: bool | None = None

    @property
    def figure(self) -> float | None:
        """What the bound is on."""
        return self.ratio if self.target.floor else self.product

    @property
    def too_small(self) -> bool:
        """Whether the target speaks of more than there was."""
        return self.given is not None and self.given < self.target.given_least


def judged(found: Iterable[Series]) -> list[Verdict]:
    """A verdict on every target, in the order of the targets."""
    series = {one.name: one for one in found}
    return [_judged(target, series) for target in TARGETS]


def ratio(product: Series, floor: Series) -> float:
    """How many times the floor a series is: the median over the rounds, or of the medians where rounds differ."""
    pairs = list(zip(product.samples, floor.samples, strict=False))
    if len(product.samples) == len(floor.samples) and all(below for _, below in pairs):
        return median(above / below for above, below in pairs)
    return product.median / floor.median if floor.median else float("nan")


def _judged(target: Target, series: Mapping[str, Series]) -> Verdict:
    product, floor, given = (series.get(name) for name in (target.product, target.floor, target.given))
    if product is None or (target.floor and floor is None) or (target.given and given is None):
        return Verdict(target=target)
    own = product.median if target.of == "median" else max(product.samples)
    times = None if floor is None else ratio(product, floor)
    found = Verdict(
        target=target,
        unit=product.unit,
        floor=None if floor is None else floor.median,
        product=own,
        ratio=times,
        given=None if given is None else given.median,
    )
    if found.too_small:
        return found
    return replace(found, met=target.reached(own if times is None else times, target.limit))


def _peers() -> Iterable[Target]:
    """Against other stores that do the same work; the series are those of the part `peers`.

    In process a client of theirs commits by itself, which is how they come. How they do behind a committer is measured
    in the same run (`peers/postgresql-committer/64/rate`), and told with its ratio to the product, without a bound.
    """
    for clients, guarded in ((16, 1.40), (64, 2.17)):
        yield Target(
            what=f"without HTTP, {clients} clients with a transaction each, of SQLite with the same rows",
            product=f"peers/relatum/{clients}/rate",
            floor=f"peers/sqlite/{clients}/rate",
            bound="at least",
            limit=2.5,
            stretch=4.0,
            guarded=guarded,
        )
    for clients, limit in ((16, 1.2), (64, 1.5)):
        yield Target(
            what=f"without HTTP, {clients} clients with a transaction each, of PostgreSQL, all rows in one statement",
            product=f"peers/relatum/{clients}/rate",
            floor=f"peers/postgresql/{clients}/rate",
            bound="at least",
            limit=limit,
            stretch=2.0,
        )
    for peer, name, guarded in (("sqlite", "SQLite", 1.00), ("postgresql", "PostgreSQL", 0.801)):
        yield Target(
            what=f"over HTTP, 64 connections, of {name} behind the same route",
            product="peers/http/relatum/64/rate",
            floor=f"peers/http/{peer}/64/rate",
            bound="at least",
            limit=2.0,
            stretch=3.0,
            guarded=guarded,
        )


TARGETS: Final[tuple[Target, ...]] = (
    Target(
        what="single commands over HTTP, 64 connections, of the echo",
        product="commands/single/64/rate",
        floor="commands/floor/echo/rate",
        bound="at least",
        limit=0.40,
        stretch=0.55,
        guarded=0.178,
    ),
    Target(
        what="single commands over HTTP, 64 connections: p99",
        product="commands/single/64/p99",
        bound="below",
        limit=30.0,
    ),
    Target(
        what="single commands over HTTP, 64 connections, of the raw single synced write",
        product="commands/single/64/rate",
        floor="commands/floor/write/1/rate",
        bound="at least",
        limit=1.8,
        stretch=3.0,
        guarded=0.628,
    ),
    Target(
        what="single commands over HTTP, 64 connections: syncs per command",
        product="commands/single/64/syncs",
        bound="at most",
        limit=1 / 8,
        stretch=1 / 16,
    ),
    Target(
        what="batches of 64 over HTTP, of the raw grouped write",
        product="commands/batch/64/rate",
        floor="commands/floor/write/64/rate",
        bound="at least",
        limit=0.35,
        stretch=0.5,
        guarded=0.0881,
    ),
    Target(
        what="the ledger without HTTP, 64 a group, of the raw grouped write",
        product="engine/grouped/64/rate",
        floor="engine/floor/write/64/rate",
        bound="at least",
        limit=0.40,
        stretch=0.5,
        guarded=0.122,
    ),
    Target(
        what="one client, one command at a time over HTTP: p50, of the raw single synced write",
        product="commands/single/1/p50",
        floor="commands/floor/write/1/p50",
        bound="at most",
        limit=3.0,
        stretch=2.0,
        guarded=6.43,
    ),
    Target(
        what="replay of a known key, 64 connections, of the echo",
        product="commands/replay/rate",
        floor="commands/floor/echo/rate",
        bound="at least",
        limit=0.7,
        stretch=0.85,
        guarded=0.29,
    ),
    Target(
        what="replay of a known key: syncs per command",
        product="commands/replay/syncs",
        bound="at most",
        limit=0.0,
        of="greatest",
    ),
    Target(
        what="eligible read over HTTP, 32 connections, of the echo of a read body",
        product="reads/read/rate",
        floor="reads/floor/echo/rate",
        bound="at least",
        limit=0.6,
        stretch=0.8,
        guarded=0.352,
    ),
    Target(
        what="neighbourhood of two hops and 50 edges over HTTP: p50",
        product="graph/two-hop/http/p50",
        bound="below",
        limit=3.0,
        stretch=1.0,
    ),
    Target(
        what="walk of the larger hub at default limits, of the smaller one's",
        product="graph/hub/large/p50",
        floor="graph/hub/small/p50",
        bound="at most",
        limit=1.2,
        given="graph/hub/large/relations",
        given_least=100_000,
    ),
    Target(
        what="growth: single commands with all relations loaded, of those with the fewer",
        product="growth/rate",
        floor="growth/base/rate",
        bound="at least",
        limit=0.7,
        stretch=0.9,
        given="growth/relations",
        given_least=5_000_000,
    ),
    Target(
        what="start after a kill: to ready",
        product="upkeep/start",
        bound="below",
        limit=3.0,
        stretch=1.0,
        given="upkeep/start/relations",
        given_least=1_000_000,
    ),
    Target(
        what="memory: the greatest resident set while loading",
        product="growth/loading/resident/peak",
        bound="below",
        limit=400.0,
        stretch=250.0,
        given="growth/relations",
        given_least=1_000_000,
    ),
    Target(
        what="memory, flat: the resident set at the end of loading, of halfway",
        product="growth/loading/resident/end",
        floor="growth/loading/resident/half",
        bound="at most",
        limit=1.1,
        given="growth/relations",
        given_least=1_000_000,
    ),
    *_peers(),
    Target(
        what="longest stall of the event loop under a mixed load, 64 connections",
        product="mixed/64/stall",
        bound="below",
        limit=20.0,
        stretch=5.0,
    ),
)
"""Every target, in the order in which they are told."""
