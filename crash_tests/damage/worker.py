"""A process that has everything imported and opens no store: it forks for each task.

    python -m crash_tests.damage.worker [--bug NAME]

A damaged store may hang or kill whoever opens it, a new interpreter for each would cost more than the case itself, and
a process that has opened a store must not fork. Hence this one in between.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from crash_tests.bugs import BUGS
from crash_tests.damage import damage_case, scene
from crash_tests.forks import forked
from crash_tests.pool import Message, say
from crash_tests.violation import Violation

CASE_SECONDS_MAX: Final = 60.0
"""Most take a fraction of a second; a machine that has other things to do is no violation."""
ANSWERED, VIOLATED = 0, 1
"""How a child ends that has something to tell; whatever else it ends with, it broke."""


class Prepare(Struct, frozen=True, tag=True):
    """A store is to be made in a place."""

    place: str
    seed: str


class Attempt(Struct, frozen=True, tag=True):
    """A case is to be tried."""

    place: str
    scratch: str
    seed: int
    number: int


_DECODER: Final = msgspec.json.Decoder(Prepare | Attempt)


def work(errors: Path, control: str | None) -> None:
    """Tasks from standard input, one after another, until it is closed."""
    for line in sys.stdin.buffer:
        match _DECODER.decode(line):
            case Prepare(place, seed):
                say(_prepared(Path(place), seed, errors))
            case Attempt(place, scratch, seed, number):
                say(Message(kind="case", case=number))
                act = _trying(Path(place), Path(scratch), seed, number, control)
                say(_message(f"case {number}", act, errors, number))


def _prepared(place: Path, seed: str, errors: Path) -> Message:
    place.mkdir(parents=True)
    made = _message(f"making the store of {seed!r}", _telling(lambda: scene.Scenery(place, seed).make()), errors)
    if made.kind == "violation":
        return made
    return _message(f"the undamaged store of {seed!r}", _telling(lambda: b"%d" % scene.judge(place)), errors)


def _trying(place: Path, scratch: Path, seed: int, number: int, control: str | None) -> Callable[[int], int]:
    return _telling(lambda: msgspec.json.encode(damage_case.try_case(place, scratch, seed, number, control)))


def _telling(act: Callable[[], bytes | None]) -> Callable[[int], int]:
    """What a child does: it acts, and tells what came of it."""

    def tell(descriptor: int) -> int:
        try:
            told, status = act() or b"", ANSWERED
        except Violation as violation:
            told, status = str(violation).encode(), VIOLATED
        while told:
            told = told[os.write(descriptor, told) :]
        return status

    return tell


def _message(name: str, act: Callable[[int], int], errors: Path, case: int = 0) -> Message:
    ended = forked(act, errors, seconds_max=CASE_SECONDS_MAX)
    if ended.hung:
        return Message(kind="violation", case=case, text=f"{name} hung for {CASE_SECONDS_MAX:g} s")
    if ended.status == ANSWERED:
        return Message(kind="done", case=case, text=ended.told.decode())
    if ended.status == VIOLATED:
        return Message(kind="violation", case=case, text=ended.told.decode())
    reason = errors.read_text(errors="replace").strip()[-2_000:]
    return Message(kind="violation", case=case, text=f"{name} ended with {ended.status}: {reason}")


def main(arguments: list[str]) -> None:
    """Plants the bug, if one is named, and works."""
    parser = ArgumentParser(prog="python -m crash_tests.damage.worker", description=__doc__)
    parser.add_argument("--bug", choices=sorted(BUGS))
    parser.add_argument("--control", choices=damage_case.CONTROLS)
    parser.add_argument("errors", type=Path, help="a directory for what children write to standard error")
    told = parser.parse_args(arguments)
    if told.bug is not None:
        BUGS[told.bug].plant()
    work(told.errors / f"child-of-{os.getpid()}.log", told.control)


if __name__ == "__main__":
    main(sys.argv[1:])
