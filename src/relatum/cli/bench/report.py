"""A run as tables for people and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from relatum.cli.bench.run import Run
from relatum.cli.bench.samples import Series
from relatum.cli.bench.targets import Target, Verdict, ratio

_NOT_MEASURED: Final = "-"
_MET: Final = {True: "yes", False: "NO", None: "not measured"}
_TOO_SMALL: Final = "too small"

Row = Sequence[str]


def as_json(run: Run) -> bytes:
    """One object; its schema is `json_schema`."""
    return msgspec.json.format(msgspec.json.encode(run)) + b"\n"


def json_schema() -> dict[str, object]:
    """The JSON schema of `as_json`."""
    return msgspec.json.schema(Run)


def as_text(run: Run) -> str:
    """The tables of all series and of all targets."""
    machine = run.machine
    told = f"{machine.processors} processors, load {machine.load_before} before the run, Python {machine.python}"
    return "\n".join([f"{machine.processor}: {told}", "", *series_lines(run.series), "", *target_lines(run.targets)])


def series_lines(found: Sequence[Series]) -> Iterator[str]:
    """A line for each series: median, least and greatest sample, and how many times its floor it is."""
    known = {one.name: one for one in found}
    head = ("series", "median", "unit", "least", "greatest", "of its floor")
    yield from _table(head, [_series_row(one, known.get(one.floor)) for one in found], right={1, 3, 4, 5})


def target_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """A line for each target, measured or not."""
    head = ("target", "bound", "floor", "product", "ratio", "met")
    yield from _table(head, [_target_row(one) for one in verdicts], right={2, 3, 4})


def figure(value: float | None) -> str:
    """A number with as many digits as mean something."""
    if value is None:
        return _NOT_MEASURED
    if value == 0:
        return "0"
    size = abs(value)
    digits = 0 if size >= 100 else 1 if size >= 10 else 2 if size >= 1 else 3 if size >= 0.1 else 4
    return f"{value:,.{digits}f}"


def bound(target: Target) -> str:
    """What a target asks for, in a few words; the stretch in brackets."""
    sign = {"at least": ">=", "at most": "<=", "below": "<"}[target.bound]
    stretch = "" if target.stretch is None else f" ({figure(target.stretch)})"
    return f"{sign} {figure(target.limit)}{stretch}"


def _series_row(one: Series, floor: Series | None) -> Row:
    times = "" if floor is None else figure(ratio(one, floor))
    return (one.name, figure(one.median), one.unit, figure(min(one.samples)), figure(max(one.samples)), times)


def _target_row(one: Verdict) -> Row:
    target = one.target
    what = target.what if one.given is None else f"{target.what} [{one.given:,.0f} relations]"
    floor = figure(one.floor) if target.floor else ""
    times = figure(one.ratio) if target.floor else ""
    product = f"{figure(one.product)} {one.unit}".strip()
    return (what, bound(target), floor, product, times, _TOO_SMALL if one.too_small else _MET[one.met])


def _table(head: Row, rows: Sequence[Row], *, right: set[int]) -> Iterator[str]:
    """Columns as wide as what stands in them; numbers on the right of theirs."""
    widths = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    for row in (head, ["-" * width for width in widths], *rows):
        cells = (
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        yield "  ".join(cells).rstrip()
