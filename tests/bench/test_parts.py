"""Each part measures everything it is there for, at a size at which its figures mean nothing."""

from __future__ import annotations

from math import isfinite
from pathlib import Path
from typing import NamedTuple

import pytest

from relatum.cli.bench.run import PARTS, run
from relatum.cli.bench.samples import Series
from relatum.cli.bench.targets import TARGETS

pytestmark = pytest.mark.slow

OWN_PARTS = tuple(name for name in PARTS if name != "peers")

ROWS = {
    "floors": [
        *(f"floors/write/{group}/{what}" for what in ("rows", "bytes") for group in (1, 16, 64, 256)),
        *(f"floors/write/{group}/{what}" for group in (1, 16, 64, 256) for what in ("rate", "p50")),
        *(f"floors/echo/{kind}/{what}" for kind in ("command/64", "read/32") for what in ("rate", "p50", "load")),
    ],
    "engine": [
        *(f"engine/floor/write/{group}/{what}" for group in (1, 64) for what in ("rate", "cost")),
        "engine/grouped/64/rate",
        "engine/grouped/64/cost",
        *(f"engine/{kind}/{clients}/rate" for kind in ("threads", "tasks") for clients in (1, 16, 64)),
    ],
    "commands": [
        *(f"commands/floor/write/{group}/rate" for group in (1, 16, 64, 256)),
        "commands/floor/write/1/p50",
        *(f"commands/floor/echo/{what}" for what in ("rate", "p99", "cost", "load")),
        *(
            f"commands/single/{connections}/{what}"
            for connections in (1, 16, 64, 256)
            for what in ("rate", "p50", "p99", "syncs", "cost", "server", "load")
        ),
        *(f"commands/lagging/1/{what}" for what in ("rate", "p50", "p99", "load")),
        *(f"commands/replay/{what}" for what in ("rate", "p99", "cost", "syncs", "load")),
        *(f"commands/batch/{size}/{what}" for size in (1, 16, 64, 256) for what in ("rate", "cost", "p99", "load")),
    ],
    "reads": [
        *(f"reads/floor/echo/{what}" for what in ("rate", "p50", "cost", "load")),
        *(
            f"reads/{kind}/{what}"
            for kind in ("read", "inspect", "revision")
            for what in ("rate", "p50", "p99", "cost", "load")
        ),
    ],
    "graph": [
        "graph/hub/large/relations",
        *(f"graph/{walk}/p50" for walk in ("chain", "two-hop", "hub/small", "hub/large", "two-hop/http")),
        *(f"graph/two-hop/http/{what}" for what in ("p99", "load")),
        *(f"graph/hub/http/{what}" for what in ("rate", "load", "stall")),
        "graph/idle/stall",
    ],
    "feed": [
        *(f"feed/{pages}/{what}" for pages in ("floor/echo", "paging") for what in ("rate", "load")),
        *(f"feed/stream/{what}" for what in ("p50", "p99")),
    ],
    "upkeep": [
        "upkeep/relations",
        "upkeep/start/relations",
        *(f"upkeep/{what}" for what in ("floor/scan", "verify", "floor/copy", "backup", "floor/start", "start")),
    ],
    "mixed": [*(f"mixed/64/{what}" for what in ("rate", "p50", "p99", "load", "stall")), "mixed/idle/stall"],
    "neighbours": [
        "neighbours/alone/longest",
        *(f"neighbours/{name}/{what}" for name in ("first-command", "first-search") for what in ("longest", "own")),
    ],
    "growth": [
        *(
            f"{store}/{what}"
            for store in ("growth/base", "growth")
            for what in ("relations", "disk", "rate", "p50", "p99", "load")
        ),
        *(
            f"{store}/loading/{what}"
            for store in ("growth/base", "growth")
            for what in ("rate", "load", "resident", "resident/peak")
        ),
        *(f"growth/loading/resident/{when}" for when in ("half", "end")),
    ],
}


LOADED = {"graph": 258, "upkeep": 200}
"""How many relations parts make that tell of it step by step."""


class Done(NamedTuple):
    """A part's name, what it found, and what it told whoever watches."""

    name: str
    found: list[Series]
    told: list[str]


@pytest.fixture(scope="module", params=OWN_PARTS)
def part(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Done:
    """A part that has run. Nothing of it is left in its scratch directory."""
    scratch: Path = tmp_path_factory.mktemp("scratch")
    told: list[str] = []
    made = run([request.param], "tiny", progress=told.append, scratch=scratch)
    assert [] == list(scratch.iterdir())
    return Done(request.param, made.series, told)


def test_a_part_yields_all_its_rows(part: Done) -> None:
    assert sorted(ROWS[part.name]) == sorted(one.name for one in part.found)


def test_whoever_watches_is_told_how_far_it_has_come(part: Done) -> None:
    assert [line for line in part.told if "round 1 of 1" in line]
    if part.name in LOADED:
        assert f"{part.name}: {LOADED[part.name]:,} of {LOADED[part.name]:,} relations" in part.told


def test_every_sample_is_a_number_with_a_unit(part: Done) -> None:
    for one in part.found:
        assert one.samples, one.name
        assert all(map(isfinite, one.samples)), one.name
        assert one.unit, one.name


def test_the_floor_of_a_series_is_a_series_of_the_same_part_and_unit(part: Done) -> None:
    units = {one.name: one.unit.removeprefix("commands").removeprefix("requests") for one in part.found}
    for one in part.found:
        if one.floor:
            assert units[one.name] == units[one.floor], one.name


def test_what_the_targets_name_is_measured(part: Done) -> None:
    names = {one.name for one in part.found}
    for target in TARGETS:
        if target.product.startswith(f"{part.name}/"):
            assert {one for one in (target.product, target.floor, target.given) if one} <= names, target.what


def test_every_target_belongs_to_a_part() -> None:
    assert {target.product.partition("/")[0] for target in TARGETS} <= {*ROWS, "peers"}
