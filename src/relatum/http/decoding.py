"""From the bytes of a request to the types of a route (transport.md, schema and strict JSON).

Here: a bounded read of the body, and one typed decode of it or of the query string. Not here: static rules.

Always holds: of a body no more than its limit is kept. A refusal names the place by member names of the contract and
array positions; nothing else of what was sent is repeated. It names a missing member, and what would be permitted.
"""

from __future__ import annotations

import re
from typing import Final, Generic, TypeVar
from urllib.parse import parse_qsl

import msgspec
from starlette.types import Receive

from relatum.errors import Refusal, invalid
from relatum.http import strict_json
from relatum.http.errors import TOO_LARGE
from relatum.http.expectations import Expectations, json_type

Decoded = TypeVar("Decoded")

_PLACE: Final = re.compile(r" - at `\$((?:\.\w+|\[[0-9]+\])+)`$", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_UNKNOWN: Final = "Object contains unknown field"
_MISSING: Final = re.compile(r"Object missing required field `(\w+)`", re.ASCII)
_EXPECTED: Final = re.compile(r"Expected `([a-z]+(?: \| [a-z]+)*)`", re.ASCII)
_FAULTS: Final = (
    (_UNKNOWN, "has an unknown member"),
    ("Object missing required field", "lacks a required member"),
    ("Expected", "has a member of the wrong type"),
    ("Invalid", "has a value that is none of the permitted ones"),
    ("not a UUID", "has an id that is no UUID"),
    ("", "has a value out of range"),
)


class ClientGone(Exception):
    """The client closed its connection before the request was complete."""


async def read_body(receive: Receive, bytes_max: int) -> bytes | Refusal:
    """The body as it arrives; 413 as soon as it is longer than `bytes_max`, whatever its `Content-Length` said."""
    chunks: list[bytes] = []
    length = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise ClientGone
        chunk: bytes = message.get("body", b"")
        length += len(chunk)
        if length > bytes_max:
            return TOO_LARGE
        if not message.get("more_body", False):
            return b"".join([*chunks, chunk]) if chunks else chunk
        chunks.append(chunk)


class BodyDecoder(Generic[Decoded]):
    """Decodes the bodies of one type."""

    def __init__(self, kind: type[Decoded]) -> None:
        self._decoder = msgspec.json.Decoder(kind)
        self._expected = Expectations(kind)

    def decode(self, body: bytes) -> Decoded | Refusal:
        """The typed body, or 400."""
        try:
            strict_json.check(body)
            return self._decoder.decode(body)
        except strict_json.StrictJsonError as error:
            return invalid(str(error))
        except msgspec.ValidationError as error:
            return invalid(f"the body {_described(str(error), self._expected, msgspec.json.decode(body))}")
        except msgspec.DecodeError:
            return invalid("the body is not well-formed JSON")


class QueryDecoder(Generic[Decoded]):
    """Decodes the query strings of one type: no unknown names, none twice, integers in plain decimal digits."""

    def __init__(self, kind: type[Decoded]) -> None:
        self._kind = kind
        self._expected = Expectations(kind)

    def decode(self, query: bytes) -> Decoded | Refusal:
        """The typed parameters, or 400."""
        try:
            pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, errors="strict")
        except ValueError:
            return invalid("the query string is not UTF-8")
        given = dict(pairs)
        if len(given) != len(pairs):
            return invalid("the query string repeats a name")
        try:
            decoded = msgspec.convert(given, self._kind, strict=False)
        except msgspec.ValidationError as error:
            return invalid(f"the query string {_described(str(error), self._expected, given)}")
        for name, text in given.items():
            value = getattr(decoded, name)
            if value is None:
                return invalid("the query string has the word null where it is to leave a name out")
            if isinstance(value, int) and str(value) != text:
                return invalid("the query string has an integer in another form than decimal digits")
        return decoded


def _described(fault: str, expected: Expectations, sent: object) -> str:
    """A decoder's message in words of ours: it may quote what was sent, an unknown member's name for one.

    It says which member is missing, and what is permitted where something is not.
    """
    beginning, words = next(one for one in _FAULTS if fault.startswith(one[0]))
    missing = _MISSING.match(fault)
    if missing is not None:
        words = f"lacks the required member {missing[1]}"
    found = _PLACE.search(fault)
    path = "" if found is None else found[1]
    if not expected.names.issuperset(_NAME.findall(path)):
        return words
    where = f"{words} at {path.removeprefix('.')}" if path else words
    if beginning == _UNKNOWN:
        return _permitting(where, "members", expected.members_at(path, sent))
    if beginning == "Invalid":
        return _permitting(where, "values", expected.values_at(path, sent))
    wanted = _EXPECTED.match(fault)
    return where if wanted is None else f"{where}: expected {json_type(wanted[1])}"


def _permitting(words: str, what: str, permitted: tuple[str, ...]) -> str:
    return f"{words}; permitted {what}: {', '.join(permitted)}" if permitted else words
