"""Values on the command line: references, times, words of a closed set, JSON, texts and files."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import click
import msgspec

from relatum.core.wire import canonical_uuid
from relatum.limits import I64_MAX, I64_MIN, U64_MAX

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_RFC_3339: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)?", re.ASCII)
_MILLIS: Final = re.compile(r"[+-]?\d{1,19}", re.ASCII)
STANDARD_INPUT: Final = "-"


class RecordAt(NamedTuple):
    """A record or relation, perhaps at a revision: `ID` or `ID@REVISION`."""

    id: str
    revision: int | None


class Identifier(click.ParamType[str]):
    """A UUID in any of its spellings; handed on in lower case with hyphens."""

    name = "ID"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The canonical spelling."""
        try:
            return canonical_uuid(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a UUID", param, ctx)


class Reference(click.ParamType[RecordAt]):
    """`ID` or `ID@REVISION`."""

    name = "ID[@REV]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> RecordAt:
        """The id in canonical spelling, and the revision where one is named."""
        if isinstance(value, RecordAt):
            return value
        name, at, revision = str(value).partition("@")
        try:
            record_id = canonical_uuid(name)
        except ValueError:
            self.fail(f"{name!r} is not a UUID", param, ctx)
        if not at:
            return RecordAt(record_id, None)
        if re.fullmatch(r"\d{1,20}", revision, re.ASCII) is None or int(revision) > U64_MAX:
            self.fail(f"{revision!r} is not a revision", param, ctx)
        return RecordAt(record_id, int(revision))


class Moment(click.ParamType[int]):
    """A time as RFC 3339 with its zone, or as Unix milliseconds; handed on as milliseconds."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Milliseconds; what is finer than that is dropped."""
        if isinstance(value, int):
            return value
        text = str(value)
        if _MILLIS.fullmatch(text) and I64_MIN <= int(text) <= I64_MAX:
            return int(text)
        found = _RFC_3339.fullmatch(text)
        if found is None:
            self.fail(f"{text!r} is neither RFC 3339 (2026-01-31T12:00:00Z) nor milliseconds", param, ctx)
        if found[2] is None:
            self.fail(f"{text!r} has no time zone; add Z or an offset such as +01:00", param, ctx)
        try:
            moment = datetime.fromisoformat(text.upper())
        except ValueError:
            self.fail(f"{text!r} is not a day and time of the calendar", param, ctx)
        return (moment - _EPOCH) // timedelta(milliseconds=1)


class Word(click.Choice[str]):
    """A word of a closed set, spelled as on the wire; another one is refused with the nearest known."""

    def __init__(self, words: Sequence[str], metavar: str | None = None) -> None:
        super().__init__(list(words))
        self.metavar = metavar

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str | None:
        """Short, where the set is long."""
        return self.metavar or super().get_metavar(param, ctx)

    def get_invalid_choice_message(self, value: Any, ctx: click.Context | None) -> str:
        """What click says, and the nearest word."""
        near = get_close_matches(str(value), [str(word) for word in self.choices], n=1, cutoff=0.5)
        message = super().get_invalid_choice_message(value, ctx)
        return f"{message.rstrip('.')}. Did you mean {near[0]!r}?" if near else message


class Document(click.ParamType[Any]):
    """A JSON value."""

    name = "JSON"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value, all digits of its numbers kept."""
        if not isinstance(value, str):
            return value
        try:
            return strict(value.encode("utf-8", "surrogateescape"))
        except ValueError as error:
            self.fail(f"this is not JSON: {error}", param, ctx)


class JsonFile(click.ParamType[Any]):
    """A file with one JSON value; `-` is standard input."""

    name = "FILE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value in the file."""
        if not isinstance(value, str):
            return value
        try:
            return strict(read_bytes(value))
        except OSError as error:
            self.fail(f"{value}: {error.strerror}", param, ctx)
        except ValueError as error:
            self.fail(f"{value} holds no JSON: {error}", param, ctx)


class Text(click.ParamType[str]):
    """A text; `-` is read from standard input, without the line end that closes it."""

    name = "TEXT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The text itself, which must be UTF-8."""
        try:
            if value == STANDARD_INPUT:
                text = read_bytes(value).decode()
                return text.removesuffix("\n").removesuffix("\r")
            str(value).encode()
        except UnicodeError:
            self.fail("this is not UTF-8", param, ctx)
        return str(value)


def strict(body: bytes) -> Any:
    """The JSON value of `body` by the rules of the wire; a `ValueError` says what it breaks."""
    from relatum.http.strict_json import check

    check(body)
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from error


def read_bytes(name: str) -> bytes:
    """The whole of a file, or of standard input where the name is `-`."""
    return standard_input().read() if name == STANDARD_INPUT else Path(name).read_bytes()


def standard_input() -> IO[bytes]:
    """Standard input as bytes."""
    return sys.stdin.buffer


def interactive() -> bool:
    """Whether somebody sits at a terminal and can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


IDENTIFIER: Final = Identifier()
REFERENCE: Final = Reference()
MOMENT: Final = Moment()
DOCUMENT: Final = Document()
JSON_FILE: Final = JsonFile()
TEXT: Final = Text()
