"""Whether each part notices what it is said to notice: a run at its size for a change, for each bug or control.

What always holds: who is said to notice what stands in `Part.bugs` and `Part.controls`, and nowhere else; the table of
docs/testing.md is compared with it.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from typing import Literal, NamedTuple

from crash_tests.part import Part, Summary, Unavailable
from crash_tests.part_run import CLEAN, UNAVAILABLE, VIOLATED, Tell, keep_quiet, options_of, run, worst

Kind = Literal["bug", "control"]

_PLACE = re.compile(r"(?:case|store) \d+(?:, round \d+)?")
"""How a violation says where it was met."""
_SHOWN_CHARACTERS_MAX = 300


class Pair(NamedTuple):
    """A part, and a bug or a control that it is said to notice."""

    part: Part
    kind: Kind
    name: str

    def __str__(self) -> str:
        return f"{self.name}, {self.part.name}"


def pairs(parts: Iterable[Part], kind: Kind, name: str | None = None, part: str | None = None) -> list[Pair]:
    """All of a kind, or those with that name or of that part."""
    return [
        Pair(one, kind, planted)
        for one in parts
        if part in (None, one.name)
        for planted in (one.bugs if kind == "bug" else one.controls)
        if name in (None, planted)
    ]


def notice_all(chosen: list[Pair], seed: int, tell: Tell) -> int:
    """Tries the pairs one after the other and tells a line about each. The exit status: 1 if one was not noticed."""
    statuses = []
    for pair in chosen:
        status, line = _noticed(pair, seed)
        tell(f"{pair}: {line}")
        statuses.append(status)
    tell(f"{statuses.count(CLEAN)} of {len(chosen)} pairs were found with seed {seed}")
    return worst(statuses)


def _noticed(pair: Pair, seed: int) -> tuple[int, str]:
    options = options_of(pair.part, *pair.part.short, f"--{pair.kind}", pair.name)
    try:
        ended = run(pair.part, options, seed, keep_quiet)
    except Exception as error:  # noqa: BLE001 - a part that breaks down says nothing of the pairs behind it
        return VIOLATED, f"not tried, the part broke down: {error!r}"
    match ended.outcome:
        case Unavailable() as lacking:
            return UNAVAILABLE, f"not run: {lacking}"
        case Summary() as summary:
            tried = f"{summary.cases} {pair.part.unit}"
            return VIOLATED, f"NOT FOUND in {tried} of seed {seed} ({ended.seconds:.1f} s)"
        case violation:
            shutil.rmtree(ended.directory)
            place, line = _place(str(violation)), _first_line(str(violation))
            return CLEAN, f"found in {place} of seed {seed} ({ended.seconds:.1f} s): {line}"


def _place(violation: str) -> str:
    found = _PLACE.search(violation)
    return found[0] if found else "what comes before the cases"


def _first_line(violation: str) -> str:
    line = violation.partition("\n")[0]
    return line if len(line) <= _SHOWN_CHARACTERS_MAX else f"{line[:_SHOWN_CHARACTERS_MAX]}…"
