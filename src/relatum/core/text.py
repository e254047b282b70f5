"""String classes of transport.md, as plain checks: each returns True when the text belongs to the class.

Regular expressions are kept to one search for control characters; lengths are in UTF-8 bytes.
"""

from __future__ import annotations

import re
from functools import lru_cache

from relatum import limits

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")  # Unicode Cc, whole
_WHITE_SPACE = (
    "\t\n\v\f\r \x85\xa0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's property White_Space. What Python strips of itself has U+001C to U+001F besides."""

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DIGEST = re.compile(r"[0-9a-f]{64}")


def is_date(text: str) -> bool:
    """A day of the calendar as `YYYY-MM-DD`."""
    if _DATE.fullmatch(text) is None:
        return False
    year, month, day = int(text[:4]), int(text[5:7]), int(text[8:])
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return year >= 1 and 1 <= month <= 12 and 1 <= day <= days[month - 1]


def utf8_length(text: str) -> int:
    """Length in UTF-8 bytes."""
    return len(text) if text.isascii() else len(text.encode())


def is_blank(text: str) -> bool:
    """Empty once Unicode white space is stripped."""
    return not text.strip(_WHITE_SPACE)


def is_name(text: str, bytes_max: int) -> bool:
    """1 to `bytes_max` bytes, not blank, no control characters: the rule all string classes share."""
    if text.isascii() and text.isprintable():  # nearly always; what is printable in ASCII is a blank or can be seen
        return len(text) <= bytes_max and text.strip(" ") != ""
    return utf8_length(text) <= bytes_max and not is_blank(text) and _CONTROL.search(text) is None


def is_identifier(text: str) -> bool:
    """Company, subject, project, agent, mission, and the keys and categories of records."""
    return is_name(text, limits.IDENTIFIER_BYTES_MAX)


def is_idempotency_key(text: str) -> bool:
    """The client's name for one command."""
    return is_name(text, limits.KEY_BYTES_MAX)


def is_consumer_id(text: str) -> bool:
    """The name of a consumer of a change feed."""
    return is_name(text, limits.CONSUMER_BYTES_MAX)


def is_method(text: str) -> bool:
    """Method, method revision, provider, model, model revision."""
    return len(text) <= limits.METHOD_BYTES_MAX and _is_short_method(text)


@lru_cache(maxsize=1024)
def _is_short_method(text: str) -> bool:
    """Remembered: each command of a worker names the same five."""
    return is_name(text, limits.METHOD_BYTES_MAX)


def is_evidence_ref(text: str) -> bool:
    """An identifier of evidence; never fetched."""
    return is_name(text, limits.EVIDENCE_REF_BYTES_MAX)


def is_digest(text: str) -> bool:
    """64 lower-case hex digits."""
    return _DIGEST.fullmatch(text) is not None
