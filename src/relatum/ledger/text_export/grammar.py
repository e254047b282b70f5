"""The grammar of every file of an export: entries, one a line, some with a block of text or with entries of their own.

    name: value
    name:
    |a line of a block
    |another
    name: value
      name: value

What always holds: `written` and `read` are inverse, and a file has one form only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from relatum.ledger.text_export.escapes import NOTHING, as_it_was, on_one_line
from relatum.ledger.text_export.export_errors import TextUnusable

LINE_BYTES_MAX: Final = 1024 * 1024
"""No line that is written comes near it: the longest is a content of one line, each character escaped."""

_ENTRY: Final = re.compile(r"([a-z][a-z0-9-]*):(?: (.+))?")
_INDENT: Final = "  "
_BLOCK: Final = "|"


class Entry(NamedTuple):
    """A line: its name, its value, the lines of its block, its own entries."""

    name: str
    value: str | None = None
    block: tuple[str, ...] = ()
    members: tuple[Entry, ...] = ()


def written(entries: Iterable[Entry]) -> bytes:
    """The bytes of a file."""
    return "".join(f"{line}\n" for line in _lines(entries, "")).encode()


def _lines(entries: Iterable[Entry], indent: str) -> Iterator[str]:
    for name, value, block, members in entries:
        if value is None:
            yield f"{indent}{name}:"
        else:
            yield f"{indent}{name}: {on_one_line(value) or NOTHING}"
        yield from (f"{indent}{_BLOCK}{line}" for line in block)
        yield from _lines(members, indent + _INDENT)


def read(data: bytes) -> list[Entry]:
    """The entries of a file. Raises TextUnusable with the number of the line that is wrong."""
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise TextUnusable(f"line {line} is not UTF-8") from error
    lines = text.split("\n")
    if lines.pop():
        raise TextUnusable("the last line has no end")
    entries, stopped = _read(lines, 0, "")
    if stopped != len(lines):
        raise TextUnusable(f"line {stopped + 1} can't be understood")
    return entries


def _read(lines: Sequence[str], start: int, indent: str) -> tuple[list[Entry], int]:
    """The entries under one indent from a line on, and the line where they end."""
    entries: list[Entry] = []
    at = start
    while at < len(lines) and lines[at].startswith(indent):
        found = _ENTRY.fullmatch(lines[at], len(indent)) if len(lines[at]) <= LINE_BYTES_MAX else None
        if found is None:
            break
        value = None if found[2] is None else _value(found[2], at)
        block: list[str] = []
        at += 1
        while at < len(lines) and len(lines[at]) <= LINE_BYTES_MAX and lines[at].startswith(indent + _BLOCK):
            block.append(lines[at].removeprefix(indent + _BLOCK))
            at += 1
        members: list[Entry] = []
        if not indent:
            members, at = _read(lines, at, _INDENT)
        entries.append(Entry(found[1], value, tuple(block), tuple(members)))
    return entries, at


def _value(escaped: str, at: int) -> str:
    try:
        return as_it_was(escaped)
    except (ValueError, OverflowError) as error:
        raise TextUnusable(f"line {at + 1} has an escape that means nothing") from error


class Fields:
    """The entries of one thing by their names, each asked for once; `require_nothing_else` at the end."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._left: dict[str, list[Entry]] = {}
        for entry in entries:
            self._left.setdefault(entry.name, []).append(entry)

    def all(self, name: str) -> list[Entry]:
        """Every entry of a name, in their order."""
        return self._left.pop(name, [])

    def one(self, name: str) -> Entry | None:
        """The entry of a name that may be there once."""
        found = self.all(name)
        if len(found) > 1:
            raise TextUnusable(f"{name} is there more than once")
        return found[0] if found else None

    def optional(self, name: str) -> str | None:
        """The value of an entry, if it is there."""
        found = self.one(name)
        if found is None:
            return None
        if found.value is None or found.block or found.members:
            raise TextUnusable(f"{name} must have a value, and nothing else")
        return found.value

    def required(self, name: str) -> str:
        """The value of an entry that must be there."""
        found = self.optional(name)
        if found is None:
            raise TextUnusable(f"{name} is missing")
        return found

    def block(self, name: str) -> tuple[str, ...] | None:
        """The lines of a block, if it is there."""
        found = self.one(name)
        if found is None:
            return None
        if found.value is not None or not found.block or found.members:
            raise TextUnusable(f"{name} must have a block of lines, and nothing else")
        return found.block

    def values(self, name: str) -> tuple[str, ...]:
        """The values of every entry of a name."""
        found = self.all(name)
        if any(entry.value is None or entry.block or entry.members for entry in found):
            raise TextUnusable(f"{name} must have a value, and nothing else")
        return tuple(entry.value or "" for entry in found)

    def flag(self, name: str) -> bool:
        """Whether an entry says yes."""
        found = self.optional(name)
        if found not in (None, "yes"):
            raise TextUnusable(f"{name} can only be yes")
        return found is not None

    def integer(self, name: str) -> int | None:
        """The value of an entry as a whole number."""
        found = self.optional(name)
        return None if found is None else whole(name, found)

    def number(self, name: str) -> float | None:
        """The value of an entry as a number."""
        found = self.optional(name)
        return None if found is None else fraction(name, found)

    def require_nothing_else(self) -> None:
        """Raises TextUnusable where an entry was not asked for."""
        if self._left:
            raise TextUnusable(f"{next(iter(self._left))} has no meaning here")


def whole(name: str, value: str) -> int:
    """A whole number. Raises TextUnusable for anything else."""
    if not re.fullmatch(r"-?[0-9]{1,20}", value):
        raise TextUnusable(f"{name} must be a whole number")
    return int(value)


def fraction(name: str, value: str) -> float:
    """A number as Python writes it. Raises TextUnusable for anything else."""
    try:
        return float(value)
    except ValueError as error:
        raise TextUnusable(f"{name} must be a number") from error
