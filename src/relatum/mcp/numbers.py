"""Integers and times as agents get them: texts, since many hosts hold every number as a double (mcp.md, numbers)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any, Final

EXACT_MAX: Final = 2**53 - 1
"""The greatest integer up to which a double tells all apart."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MILLI: Final = timedelta(milliseconds=1)
_FIRST: Final = (datetime(1, 1, 1, tzinfo=UTC) - _EPOCH) // _MILLI
_LAST: Final = (datetime(9999, 12, 31, 23, 59, 59, 999_000, tzinfo=UTC) - _EPOCH) // _MILLI
_MILLIS: Final = re.compile(r"-?[0-9]{1,19}")
_RFC3339: Final = re.compile(r"\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})", re.ASCII)


def time_of(millis: int) -> str:
    """RFC 3339 in UTC with milliseconds; decimal milliseconds outside the years 1 to 9999."""
    if not _FIRST <= millis <= _LAST:
        return str(millis)
    moment = (_EPOCH + millis * _MILLI).replace(tzinfo=None)
    return moment.isoformat(timespec="milliseconds") + "Z"


def millis_of(text: str) -> int | None:
    """The milliseconds of such a text, whatever its offset; None where it is none. Parts of them are dropped."""
    if _MILLIS.fullmatch(text):
        return int(text)
    if not _RFC3339.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    return (moment - _EPOCH) // _MILLI


def exact(value: Any) -> Any:
    """Free JSON in which integers that a double can't hold are texts."""
    match value:
        case bool():
            return value
        case int():
            return value if -EXACT_MAX <= value <= EXACT_MAX else str(value)
        case list() | tuple():
            return [exact(one) for one in value]
        case dict():
            return {name: exact(one) for name, one in value.items()}
        case _:
            return value
