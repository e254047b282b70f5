"""One case: a copy of the store is damaged, verified, opened, and asked everything; what came of it is judged.

Runs in a process of its own, which may hang or die of it.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Final, Literal, NamedTuple

from msgspec import Struct

from crash_tests.damage import files, power, rows
from crash_tests.damage.damages import Case, Done
from crash_tests.damage.question import Failed, Question, answer
from crash_tests.damage.scene import Scene, load, silent
from crash_tests.violation import Violation, require
from relatum.clock import ManualClock
from relatum.errors import StoreUnavailable
from relatum.ledger import Ledger
from relatum.store.verify.directory import verify_directory
from relatum.store.verify.report import Report

Noticed = Literal["refused", "at a door", "by verify", "without effect"]
NOTICED: Final[tuple[Noticed, ...]] = ("refused", "at a door", "by verify", "without effect")
"""Who notices a damage first. One without effect has changed nothing that anybody could ask for, nor any row."""

Damage = Callable[[Case, str, str], Done]


def _catalogue() -> Iterator[tuple[Damage, str, str]]:
    for module in (files, rows, power):
        yield from ((module.damage, *kind) for kind in module.kinds())


CATALOGUE: Final = tuple(_catalogue())
"""Every kind of damage. Cases take them in turn, so that a run of so many cases meets each."""


CONTROLS: Final = ("rollback",)
"""The whole store is an earlier one, watermark and all: nothing in it can tell, so that answers are wrong."""


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of a case."""

    kind: str
    manner: str
    noticed: Noticed
    reason: str = ""
    """Why the store was not opened."""


class _Told(NamedTuple):
    """What a store said once it was open."""

    wrong: list[tuple[Question, bytes, bytes]]
    failed: list[Question]
    unneeded: list[Question]
    """Answered, though a row that the answer needs can't be read."""


def try_case(place: Path, scratch: Path, seed: int, number: int, control: str | None = None) -> Outcome:
    """Case `number` of a seed, on the store in `place`, in the directory `scratch`. Raises Violation."""
    apply, kind, manner = CATALOGUE[(number - 1) % len(CATALOGUE)]
    store = scratch / f"case-{number}"
    shutil.copytree(place / ("store" if control is None else "older/0"), store)
    case = Case(place, store, load(place), Random(f"{seed}/{number}"))
    done = apply(case, kind, manner)
    try:
        noticed, reason = _judge(case, done)
    except Violation as violation:
        raise Violation(f"case {number}, {kind} {manner} ({done.what}): {violation}") from violation
    shutil.rmtree(store)
    return Outcome(kind=kind, manner=manner, noticed=noticed, reason=reason)


def _judge(case: Case, done: Done) -> tuple[Noticed, str]:
    verified = _verified(case.store)
    told = _opened(case, done)
    if isinstance(told, str):
        require(not done.harmless, f"a store that only lost power was refused: {told}")
        _require_refused_again(case, done, told)
        return "refused", told
    _require_sound(told, "")
    whole = verified is not None and verified.clean and _same_rows(verified, case.scene.report)
    if done.harmless:
        require(whole and not told.failed, "a store that only lost power has lost more than the last group")
    if told.failed:
        require(not whole, f"verify finds nothing, and there is no answer to: {told.failed[0]}")
        return "at a door", ""
    if whole:
        require(not done.in_rows, "verify does not notice that a row was changed")
        return "without effect", ""
    clean = verified is not None and verified.clean
    require(not clean, "verify finds nothing in rows that are not what they were")
    return "by verify", ""


def _require_refused_again(case: Case, done: Done, reason: str) -> None:
    """A store does not forget why it was refused; or it has come to be whole, and then it is."""
    told = _opened(case, done)
    if not isinstance(told, str):
        _require_sound(told, f"refused ({reason}), and opened the next time: ")


def _verified(store: Path) -> Report | None:
    """What verify finds; None where it can't read the store."""
    try:
        return verify_directory(store)
    except StoreUnavailable:
        return None


def _same_rows(one: Report, other: Report) -> bool:
    return (one.position, one.digest, one.families) == (other.position, other.digest, other.families)


def _opened(case: Case, done: Done) -> _Told | str:
    """What the store said once it was open, or why it was refused."""
    try:
        ledger = Ledger.open(case.store, clock=ManualClock(case.scene.asked_at_millis), log=silent())
    except StoreUnavailable as error:
        require(bool(str(error)), "the store was refused without a reason")
        return str(error)
    return _asked(ledger, case.scene, done)  # and never closed: closing may meet the damage again


def _asked(ledger: Ledger, scene: Scene, done: Done) -> _Told:
    told = _Told([], [], [])
    with ledger.view() as view:
        for question, expected in scene.answers:
            found = answer(ledger, view, question)
            if isinstance(found, Failed):
                told.failed.append(question)
            elif found != expected:
                told.wrong.append((question, expected, found))
            elif not done.unreadable.isdisjoint(question.needs):
                told.unneeded.append(question)
    return told


def _require_sound(told: _Told, when: str) -> None:
    for question, expected, found in told.wrong:
        raise Violation(f"{when}{len(told.wrong)} wrong answers, to: {question}: {_difference(expected, found)}")
    for question in told.unneeded:
        raise Violation(f"{when}{len(told.unneeded)} answers without rows that they need, to: {question}")


def _difference(expected: bytes, found: bytes) -> str:
    same = next((at for at, pair in enumerate(zip(expected, found, strict=False)) if pair[0] != pair[1]), 0)
    start = max(0, same - 60)
    return f"expected …{expected[start : same + 120]!r}, found …{found[start : same + 120]!r}"
