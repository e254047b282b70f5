"""Arguments as hosts send them, read by a tool's fields (mcp.md, input).

Hosts send texts where arrays, objects, booleans or numbers are wanted, and null where a member is omitted: such a text
is decoded once, null is taken for omitted. Always holds: every place that is wrong is named, and nothing that was sent
is quoted, but for the name of an unknown member.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from relatum.limits import I64_MAX, I64_MIN, U64_MAX
from relatum.mcp.fields import Field
from relatum.mcp.numbers import EXACT_MAX, millis_of
from relatum.mcp.refusals import invalid

_DEPTH_MAX: Final = 60
"""Below what the server takes, since free JSON lies within the body of a request."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,63}")
_DIGITS: Final = re.compile(r"[0-9]{1,20}")
_WANTED: Final = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "a list",
    "digits": "a text of decimal digits up to 18446744073709551615",
    "time": "a time as in 2026-01-31T12:00:00.000Z, or decimal milliseconds",
}
_MISSING: Final = object()


def read(members: Mapping[str, Field], arguments: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments by name, with defaults, without what was omitted. Raises ToolRefused naming each wrong place."""
    problems: list[str] = []
    found = _object(members, {} if arguments is None else arguments, "", problems)
    if problems:
        raise invalid("; ".join(problems))
    return found


def _object(members: Mapping[str, Field], given: Mapping[str, Any], at: str, problems: list[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name in given:
        if name not in members:
            told = name if _NAME.fullmatch(name) else "(a name that no member has)"
            problems.append(f"{at}{told}: no such member; permitted are {', '.join(members)}")
    for name, field in members.items():
        value = given.get(name)
        if value is None:
            if field.required:
                problems.append(f"{at}{name}: must be given")
            elif field.default is not None:
                found[name] = field.default
            continue
        taken = _value(field, value, f"{at}{name}", problems)
        if taken is not _MISSING:
            found[name] = taken
    return found


def _value(field: Field, value: Any, at: str, problems: list[str]) -> Any:
    if field.kind not in ("string", "digits", "time") and isinstance(value, str):
        value = _decoded(value)
    if field.kind == "array":
        return _array(field, value, at, problems)
    if field.members is not None and isinstance(value, Mapping):
        return _object(field.members, value, f"{at}.", problems)
    taken = _TAKEN[field.kind](value)
    if taken is _MISSING:
        problems.append(f"{at}: must be {_WANTED[field.kind]}")
        return _MISSING
    return _within(field, taken, at, problems)


def _within(field: Field, taken: Any, at: str, problems: list[str]) -> Any:
    if field.among and taken not in field.among:
        problems.append(f"{at}: must be one of {', '.join(field.among)}")
        return _MISSING
    low = field.least is not None and taken < field.least
    high = field.most is not None and taken > field.most
    if low or high:
        problems.append(f"{at}: must lie between {field.least} and {field.most}")
        return _MISSING
    if field.required and field.kind == "string" and not taken.strip():
        problems.append(f"{at}: must not be blank")
        return _MISSING
    return taken


def _array(field: Field, value: Any, at: str, problems: list[str]) -> Any:
    if not isinstance(value, list):
        problems.append(f"{at}: must be a list")
        return _MISSING
    least, most = field.items_min or 0, field.items_max
    if len(value) < least or (most is not None and len(value) > most):
        problems.append(f"{at}: must have {least} to {most} entries")
        return _MISSING
    assert field.items is not None, "a list says what it holds"
    before = len(problems)
    found = [_value(field.items, one, f"{at}[{index}]", problems) for index, one in enumerate(value)]
    return found if len(problems) == before else _MISSING


def _decoded(value: str) -> Any:
    """A text that stands for something else, decoded once; itself where it is no JSON."""
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _whole(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _MISSING
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else _MISSING
    return value


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _MISSING
    sound = abs(value) <= EXACT_MAX if isinstance(value, int) else math.isfinite(value)
    return value if sound else _MISSING


def _text(value: Any) -> Any:
    return value if isinstance(value, str) and _is_unicode(value) else _MISSING


def _truth(value: Any) -> Any:
    return value if isinstance(value, bool) else _MISSING


def _free(value: Any) -> Any:
    return value if isinstance(value, Mapping) and _is_sound(value) else _MISSING


def _digits(value: Any) -> Any:
    if isinstance(value, str) and _DIGITS.fullmatch(value):
        number = int(value)
    elif isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= EXACT_MAX:
        number = value
    else:
        return _MISSING
    return number if number <= U64_MAX else _MISSING


def _instant(value: Any) -> Any:
    if isinstance(value, int) and not isinstance(value, bool):
        return value if abs(value) <= EXACT_MAX else _MISSING
    found = millis_of(value) if isinstance(value, str) else None
    return _MISSING if found is None or not I64_MIN <= found <= I64_MAX else found


def _is_unicode(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # a surrogate that stands alone
        return False
    return True


def _is_sound(value: Any, depth: int = 0) -> bool:
    """Whether free JSON can be sent on as it is: finite, of Unicode text, not too deep, integers of 64 bits."""
    if depth > _DEPTH_MAX:
        return False
    match value:
        case str():
            return _is_unicode(value)
        case bool() | None:
            return True
        case int():
            return I64_MIN <= value <= U64_MAX
        case float():
            return math.isfinite(value)
        case list():
            return all(_is_sound(one, depth + 1) for one in value)
        case dict():
            return all(_is_unicode(name) and _is_sound(one, depth + 1) for name, one in value.items())
        case _:
            return False


_TAKEN: Final[Mapping[str, Callable[[Any], Any]]] = {
    "string": _text,
    "digits": _digits,
    "time": _instant,
    "boolean": _truth,
    "integer": _whole,
    "number": _number,
    "object": _free,
}
"""What becomes of a value where such a one is wanted; `_MISSING` where it is none."""
