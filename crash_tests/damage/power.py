"""What a plain power cut leaves of the last group, which nobody was told of: no damage, and no reason to refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Final

from crash_tests.damage.damages import Case, Done
from relatum.store.database import ENGINE_NAME

SECTOR = 512


def cut(tail: bytes, at: int, random: Random) -> bytes:  # noqa: ARG001 - one of several manners
    """The rest was never written."""
    return tail[:at]


def blank(tail: bytes, at: int, random: Random) -> bytes:  # noqa: ARG001 - one of several manners
    """The rest reads as zeros: the file had grown, and its content had not come."""
    return tail[:at] + bytes(len(tail) - at)


def littered(tail: bytes, at: int, random: Random) -> bytes:
    """The rest reads as what lay there before."""
    return tail[:at] + random.randbytes(len(tail) - at)


def shuffled(tail: bytes, at: int, random: Random) -> bytes:
    """Some sectors came and some did not, in no order."""
    sectors = [tail[start : start + SECTOR] for start in range(0, len(tail), SECTOR)]
    missing = at // SECTOR
    came = [index != missing and random.random() < 0.5 for index in range(len(sectors))]
    return b"".join(one if there else bytes(len(one)) for one, there in zip(sectors, came, strict=True))


MANNERS: Final[dict[str, Callable[[bytes, int, Random], bytes]]] = {
    "cut": cut,
    "blank": blank,
    "littered": littered,
    "shuffled": shuffled,
}


def kinds() -> Iterator[tuple[str, str]]:
    """Every manner in which a power cut tears the last group."""
    return (("power cut", manner) for manner in MANNERS)


def damage(case: Case, kind: str, manner: str) -> Done:  # noqa: ARG001 - one of several kinds
    """The log with a group at its end of which not everything has come to the disk."""
    (log,) = (path for path in (case.store / ENGINE_NAME).glob("*.log") if path.stat().st_size)
    whole = log.stat().st_size
    tail = (case.place / "doubtful").read_bytes()[whole:]
    at = case.random.randrange(len(tail))
    left = MANNERS[manner](tail, at, case.random)
    _append(log, left)
    return Done(f"{log.name}: the last {len(tail)} bytes {manner} at {at}", harmless=True)


def _append(log: Path, tail: bytes) -> None:
    with log.open("ab") as file:
        file.write(tail)
