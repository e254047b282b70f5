r"""What a request body must satisfy before it is decoded into the types of a route.

Here: the rules of strict JSON that a typed decode with msgspec does not enforce. msgspec lets the last of several
equal member names win, lets any integer through into an untyped member, answers deep nesting with `RecursionError`
and does not look at the bytes of a member that it skips. Not here: types, unknown members and ranges of single
members, which the typed decode that follows checks; lone surrogates (`"\ud800"`) neither, which msgspec refuses
wherever they stand, in a skipped member as well.

Always holds: a body that passes is UTF-8, well-formed, at most 64 levels deep, without a repeated member name, and
each of its numbers fits 64 bits or a finite double. The time taken grows linearly with the body, whatever it holds.

Most bodies are proved strict by a quick look: where there is no escape, a string is what lies between two quotes, so
that a decoder which keeps the last of equal names has kept all of them if as many quotes come out of it as went in.
Whatever the quick look does not prove is left to the scan, which alone refuses. There the standard library's scanner
does the reading: it is written in C, undoes escapes in names by itself (so `"a\u0062"` is `"ab"`), and hands over each
object's members as pairs. It is faster here than a regular expression over tokens.
"""

from __future__ import annotations

import json
import re
from itertools import accumulate
from math import isinf
from typing import Final, NoReturn

import msgspec

from relatum.limits import I64_MIN, JSON_DEPTH_MAX, U64_MAX

_INTEGER_CHARS_SAFE: Final = 18  # any integer this short fits 64 bits
_INTEGER_CHARS_MAX: Final = max(len(str(I64_MIN)), len(str(U64_MAX)))  # JSON has no leading zeros

_DIGITS_AS_ZEROS: Final = bytes.maketrans(b"123456789", b"000000000")
_MANY_DIGITS: Final = b"0" * (_INTEGER_CHARS_SAFE + 1)

_STRING: Final = re.compile(rb'"(?:[^"\\]++|\\.)*+"')
_NOT_BRACKETS: Final = bytes(set(range(256)) - set(b"{}[]"))
_STEP: Final = {ord("{"): 1, ord("["): 1, ord("}"): -1, ord("]"): -1}


class StrictJsonError(ValueError):
    """The body breaks a rule of strict JSON; the text is static and names the rule, never what was found."""


def check(body: bytes) -> None:
    """Raise `StrictJsonError` unless `body` is strict JSON (contract: "Strict JSON"); the module lists the rules.

    A negative zero passes: `-0` is the integer 0 for the decoder, `-0.0` a float that digests take as 0.0.
    """
    if not is_evident(body):
        scan(body)


def is_evident(body: bytes) -> bool:
    """Whether a quick look proves that `scan` finds nothing; False proves nothing."""
    if b"\\" in body or _MANY_DIGITS in body.translate(_DIGITS_AS_ZEROS):
        return False
    try:
        kept = _ENCODE(_DECODE(body))
    except (msgspec.DecodeError, RecursionError):
        return False
    if kept.count(b'"') != body.count(b'"'):
        return False
    if body.count(b"{") + body.count(b"[") <= JSON_DEPTH_MAX:
        return True
    return _deepest(b"".join(body.split(b'"')[::2])) <= JSON_DEPTH_MAX


def scan(body: bytes) -> None:
    """`check`, by reading every token."""
    try:
        text = body.decode()
    except UnicodeDecodeError:
        raise StrictJsonError("the body is not UTF-8") from None
    try:
        _DECODER.decode(text)
    except json.JSONDecodeError:
        raise StrictJsonError("the body is not well-formed JSON") from None
    except RecursionError:
        raise _too_deep() from None
    if text.count("{") + text.count("[") > JSON_DEPTH_MAX and _deepest(_STRING.sub(b"", body)) > JSON_DEPTH_MAX:
        raise _too_deep()


def _deepest(body: bytes) -> int:
    """The number of brackets that are open at once, at most, in a well-formed body without its strings."""
    brackets = body.translate(None, delete=_NOT_BRACKETS)
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0)


def _too_deep() -> StrictJsonError:
    return StrictJsonError("the body is nested deeper than 64 levels")


def _check_names(members: list[tuple[str, object]]) -> None:
    if len(dict(members)) != len(members):
        raise StrictJsonError("an object repeats a member name")


def _check_integer(digits: str) -> None:
    if len(digits) <= _INTEGER_CHARS_SAFE:
        return
    if len(digits) > _INTEGER_CHARS_MAX or not I64_MIN <= int(digits) <= U64_MAX:
        raise StrictJsonError("an integer does not fit 64 bits")


def _check_float(digits: str) -> None:
    if isinf(float(digits)):
        raise StrictJsonError("a number does not fit a finite double")


def _refuse_constant(_name: str) -> NoReturn:
    raise StrictJsonError("NaN and Infinity are not JSON")


_DECODE: Final = msgspec.json.Decoder().decode
_ENCODE: Final = msgspec.json.Encoder().encode

# The hooks answer None: nothing of the document is kept, the typed decode reads it again.
_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_check_names,
    parse_int=_check_integer,
    parse_float=_check_float,
    parse_constant=_refuse_constant,
)
