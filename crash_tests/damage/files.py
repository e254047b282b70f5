"""Damage to one file of the store, or to two that change places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Final

from crash_tests.damage.damages import Case, Done
from relatum.store.database import ENGINE_NAME

SECTORS = (512, 4096)
JUNK_BYTES_MAX = 5_000
FOOTER_BYTES = 53
META_BYTES = 3_000
"""The end of a table file holds its filter, index and properties; as small as they are here, within so many bytes."""

PATTERNS: Final[dict[str, str]] = {
    "log": f"{ENGINE_NAME}/*.log",
    "table": f"{ENGINE_NAME}/*.sst",
    "manifest": f"{ENGINE_NAME}/MANIFEST-*",
    "current": f"{ENGINE_NAME}/CURRENT",
    "options": f"{ENGINE_NAME}/OPTIONS-*",
    "identity": f"{ENGINE_NAME}/IDENTITY",
    "config": f"{ENGINE_NAME}/rocksdict-config.json",
    "diary": f"{ENGINE_NAME}/LOG",
    "lock": f"{ENGINE_NAME}/relatum.lock",
    "watermark": "watermark",
}
"""The kinds of files, and where they lie."""

WITHOUT_ROWS = ("options", "identity", "config", "diary", "lock")
FEW = ("flipped", "randomised", "emptied", "deleted", "swapped")
"""How files are damaged that say nothing of rows."""

Place = tuple[int, int]
"""The first byte, and the byte behind the last one, of the part of a file that is damaged."""


def flipped(content: bytes, place: Place, random: Random) -> bytes:
    """One bit is another one."""
    at = random.randrange(*place)
    return content[:at] + bytes([content[at] ^ 1 << random.randrange(8)]) + content[at + 1 :]


def zeroed(content: bytes, place: Place, random: Random) -> bytes:
    """A sector reads as zeros."""
    start, stop = _sector(content, place, random)
    return content[:start] + bytes(stop - start) + content[stop:]


def randomised(content: bytes, place: Place, random: Random) -> bytes:
    """A sector reads as anything."""
    start, stop = _sector(content, place, random)
    return content[:start] + random.randbytes(stop - start) + content[stop:]


def lost(content: bytes, place: Place, random: Random) -> bytes:
    """A sector is left out, and the rest moves up."""
    start, stop = _sector(content, place, random)
    return content[:start] + content[stop:]


def cut(content: bytes, place: Place, random: Random) -> bytes:
    """The end is missing."""
    return content[: random.randrange(*place)]


def emptied(content: bytes, place: Place, random: Random) -> bytes:  # noqa: ARG001 - one of several manners
    """Nothing is left but the name."""
    return b""


def lengthened(content: bytes, place: Place, random: Random) -> bytes:  # noqa: ARG001 - one of several manners
    """Something follows that was never written."""
    size = random.randrange(1, JUNK_BYTES_MAX)
    return content + random.choice((random.randbytes(size), bytes(size)))


Change = Callable[[bytes, Place, Random], bytes]
CHANGES: Final[dict[str, Change]] = {
    "flipped": flipped,
    "zeroed": zeroed,
    "randomised": randomised,
    "lost": lost,
    "cut": cut,
    "emptied": emptied,
    "lengthened": lengthened,
}
WITHIN = ("flipped", "zeroed", "randomised", "lost")
"""The changes that a part of a file can suffer by itself."""
PARTS: Final[dict[str, Callable[[int], Place]]] = {
    "table data": lambda size: (0, max(1, size - META_BYTES)),
    "table index": lambda size: (max(0, size - META_BYTES), size - FOOTER_BYTES),
    "table footer": lambda size: (size - FOOTER_BYTES, size),
}


def kinds() -> Iterator[tuple[str, str]]:
    """Every kind of file, or part of one, with every manner in which it can be damaged."""
    for kind in PATTERNS:
        manners = FEW if kind in WITHOUT_ROWS else (*CHANGES, "deleted", "old", "swapped")
        yield from ((kind, manner) for manner in manners)
    for part in PARTS:
        yield from ((part, manner) for manner in WITHIN)
    yield from (("table data", manner) for _ in range(2) for manner in WITHIN)  # of which there is most


def damage(case: Case, kind: str, manner: str) -> Done:
    """Damages one file of a kind."""
    path = chosen(case, kind.split(maxsplit=1)[0])
    match manner:
        case "deleted":
            path.unlink()
            return Done(f"{path.name} deleted")
        case "old":
            return _put_back(case, path)
        case "swapped":
            return _swap(case, path)
    content = path.read_bytes()
    place = PARTS[kind](len(content)) if kind in PARTS else (0, max(1, len(content)))
    changed = CHANGES[manner](content, place, case.random) if content else case.random.randbytes(100)
    path.write_bytes(changed)
    return Done(f"{path.name} {manner}{_where(content, changed)}")


def chosen(case: Case, kind: str) -> Path:
    """One of the files of a kind, an empty one only where there is no other."""
    found = sorted(case.store.glob(PATTERNS[kind]))
    return case.random.choice([path for path in found if path.stat().st_size] or found)


def _sector(content: bytes, place: Place, random: Random) -> Place:
    size = random.choice(SECTORS)
    start = random.randrange(*place) // size * size
    return start, min(start + size, len(content))


def _put_back(case: Case, path: Path) -> Done:
    """An earlier content of the file; where it has never been another one, that of an earlier file of its kind."""
    content = path.read_bytes()
    name = path.relative_to(case.store)
    moments = sorted((case.place / "older").iterdir(), key=lambda moment: int(moment.name))
    earlier = [moment / name for moment in moments if (moment / name).is_file()]
    alike = [one for moment in moments for one in moment.glob(_pattern_of(case, path))]
    found = [one for one in earlier if one.read_bytes() != content] or [
        one for one in alike if one.read_bytes() != content
    ]
    if not found:
        path.write_bytes(case.random.randbytes(len(content) or 100))
        return Done(f"{path.name} replaced by anything, having never been another")
    old = case.random.choice(found)
    path.write_bytes(old.read_bytes())
    return Done(f"{path.name} replaced by {old.relative_to(case.place)}")


def _swap(case: Case, path: Path) -> Done:
    """The file and another one of its kind, or of any other where it is the only one."""
    alike = [one for one in sorted(case.store.glob(_pattern_of(case, path))) if one != path]
    others = [one for kind in PATTERNS for one in sorted(case.store.glob(PATTERNS[kind])) if one != path]
    other = case.random.choice(alike or others)
    mine, its = path.read_bytes(), other.read_bytes()
    path.write_bytes(its)
    other.write_bytes(mine)
    return Done(f"{path.name} and {other.name} swapped")


def _pattern_of(case: Case, path: Path) -> str:
    return next(pattern for pattern in PATTERNS.values() if path in case.store.glob(pattern))


def _where(before: bytes, after: bytes) -> str:
    """From which byte on the content is another one."""
    same = next((at for at, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]), None)
    at = min(len(before), len(after)) if same is None else same
    return f" at byte {at} of {len(before)}"
