"""What a verb shows: JSON lines for programs, tables for people.

Both are written as they come, so that a pipe may end early. A table is cut to the width of a terminal, but ids never;
text of records is shown without control characters, which a terminal would obey.
"""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Literal, NamedTuple

import click
import msgspec

Form = Literal["table", "json"]
Json = dict[str, Any]

ID_CELLS: Final = 36
TIME_CELLS: Final = 26
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_GAP: Final = "  "


class PipeClosed(Exception):
    """Whoever read standard output has gone: nothing is left to do, and nothing to tell."""


class Column(NamedTuple):
    """A column of a table: its head, how many cells wide it is (the last takes what is left), and what stands in it."""

    head: str
    cells: int
    of: Callable[[Json], object]


class Output:
    """Standard output in one of its forms."""

    def __init__(self, form: Form | None) -> None:
        self.terminal = sys.stdout.isatty()
        self.form: Form = form or ("table" if self.terminal else "json")
        self.cells = shutil.get_terminal_size().columns if self.terminal else None

    @property
    def is_json(self) -> bool:
        """Whether programs read it."""
        return self.form == "json"

    def json(self, item: object) -> None:
        """One document, on a line of its own."""
        self.raw(msgspec.json.encode(item) + b"\n")

    def text(self, text: str) -> None:
        """Lines for people."""
        self.raw((text + "\n").encode(sys.stdout.encoding or "utf-8", "replace"))

    def raw(self, content: bytes) -> None:
        """Bytes as they are, flushed."""
        try:
            click.echo(content, nl=False)
        except BrokenPipeError:
            raise PipeClosed from None

    def one(self, item: Json, table: Callable[[Json], Iterable[str]] | None = None) -> None:
        """A single answer; as a table its members a line each, or what `table` makes of it."""
        if self.is_json:
            self.json(item)
            return
        for line in (table or members)(item):
            self.text(self.cut(line))

    def many(self, items: Iterable[Json], columns: Sequence[Column]) -> int:
        """A list, an item a line; how many there were."""
        count = 0
        for count, item in enumerate(items, 1):
            if self.is_json:
                self.json(item)
                continue
            if count == 1:
                self.text(self.bold(self.cut(row(columns, [column.head for column in columns]))))
            self.text(self.cut(row(columns, [shown(column.of(item)) for column in columns])))
        return count

    def cut(self, line: str) -> str:
        """`line` without what the terminal has no room for; whole where there is no terminal."""
        return line if self.cells is None else clipped(line, max(self.cells, ID_CELLS))

    def bold(self, line: str) -> str:
        """`line` set off, to a terminal whose user takes no offence."""
        return click.style(line, bold=True) if self.terminal and not os.environ.get("NO_COLOR") else line


def row(columns: Sequence[Column], values: Sequence[str]) -> str:
    """One line of a table."""
    last = len(columns) - 1
    fitted = (
        value if n == last or column.cells == ID_CELLS else padded(clipped(value, column.cells), column.cells)
        for n, (column, value) in enumerate(zip(columns, values, strict=True))
    )
    return _GAP.join(
        padded(cell, column.cells) if n < last else cell
        for n, (column, cell) in enumerate(zip(columns, fitted, strict=True))
    ).rstrip()


def members(item: Mapping[str, Any], indent: str = "") -> Iterable[str]:
    """The members of an object, one a line, those of its objects below it."""
    wide = max((len(name) for name in item), default=0)
    for name, value in item.items():
        if isinstance(value, Mapping) and value:
            yield f"{indent}{name}:"
            yield from members(value, indent + "  ")
        elif isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
            yield f"{indent}{name}:"
            for one in value:
                lines = list(members(one, indent + "    "))
                yield f"{indent}  - {lines[0].strip()}"
                yield from lines[1:]
        else:
            yield f"{indent}{name + ':':<{wide + 1}} {moment_or_text(name, value)}"


def moment_or_text(name: str, value: Any) -> str:
    """A member's value; times in local time."""
    is_time = name.endswith("_millis") and not name.endswith("_age_millis") and isinstance(value, int)
    return local(value) if is_time else shown(value)


def shown(value: object) -> str:
    """A value in words, on one line."""
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case str():
            return visible(value)
        case list() | tuple():
            return ", ".join(shown(one) for one in value) or "-"
        case dict():
            return visible(msgspec.json.encode(value).decode())
        case _:
            return str(value)


def visible(text: str) -> str:
    """`text` on one line, every control character replaced."""
    return "".join(
        char if char.isprintable() else " " if char in "\n\t\r" else "\N{REPLACEMENT CHARACTER}" for char in text
    )


def block(text: str) -> str:
    """`text` with its lines, every other control character replaced."""
    return "\n".join(visible(line) for line in text.split("\n"))


def local(millis: int) -> str:
    """A time as local time with its zone; one that no calendar reaches as milliseconds."""
    try:
        moment = (_EPOCH + timedelta(milliseconds=millis)).astimezone()
    except (OverflowError, ValueError, OSError):
        return f"{millis} ms"
    return moment.isoformat(sep=" ", timespec="seconds")


def cells(text: str) -> int:
    """How many cells of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def _cells_of(char: str) -> int:
    if unicodedata.combining(char):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def clipped(text: str, room: int) -> str:
    """`text` within `room` cells; an ellipsis says that something is missing."""
    if cells(text) <= room:
        return text
    used, kept = 1, []
    for char in text:
        used += _cells_of(char)
        if used > room:
            break
        kept.append(char)
    return "".join(kept).rstrip() + "…"


def padded(text: str, room: int) -> str:
    """`text` filled up to `room` cells."""
    return text + " " * (room - cells(text))
