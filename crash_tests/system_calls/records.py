"""What the recorder (recorder.c) wrote down: every call that changed files or made them durable, in one order."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from struct import Struct
from typing import NamedTuple


class Kind(Enum):
    """What was called. The values are those of the recorder."""

    OPENED = b"O"
    MADE = b"M"
    WRITTEN = b"W"
    RESIZED = b"T"
    SYNCED = b"S"
    RENAMED = b"R"
    LINKED = b"L"
    LINKED_SYMBOLICALLY = b"Y"
    UNLINKED = b"U"
    REMOVED = b"D"
    MARK = b"A"


class Record(NamedTuple):
    """One call. Paths are absolute; of two, the first is where a name was, or what a symbolic link names.

    The second is where the name is now.
    """

    kind: Kind
    inode: int
    offset: int
    data: bytes

    @property
    def paths(self) -> tuple[Path, ...]:
        """The paths that were named."""
        return tuple(Path(part.decode()) for part in self.data.split(b"\0"))

    def told(self, root: Path) -> str:
        """In words."""
        match self.kind:
            case Kind.WRITTEN:
                return f"{len(self.data)} bytes written at {self.offset}"
            case Kind.RESIZED:
                return f"resized to {self.offset}"
            case Kind.SYNCED:
                return "synced"
            case Kind.MARK:
                return "something was told"
            case _:
                return " ".join((self.kind.name.lower(), *(_shown(path, root) for path in self.paths)))


_HEAD = Struct("<cQqI")


def _shown(path: Path, root: Path) -> str:
    return str(path.relative_to(root) if path.is_relative_to(root) else path)


def read_records(log: Path) -> list[Record]:
    """Every record of a log."""
    told = log.read_bytes()
    records: list[Record] = []
    at = 0
    while at < len(told):
        kind, inode, offset, size = _HEAD.unpack_from(told, at)
        at += _HEAD.size
        records.append(Record(Kind(kind), inode, offset, told[at : at + size]))
        at += size
    return records
