"""What the checks read from a request's headers (transport.md, order of checks, 1 and 4).

Always holds: a header that must occur once and doesn't is as bad as a missing one.
"""

from __future__ import annotations

from collections.abc import Iterable

from relatum.http.responses import JSON, Header
from relatum.limits import TOKEN_CHARACTERS_MAX


def bearer_token(headers: Iterable[Header]) -> str | None:
    """The token of the one `Authorization` header; None unless it is `Bearer`, one blank and a sound token."""
    value = _only(headers, b"authorization")
    if value is None or not value.isascii():
        return None
    scheme, _, token = value.partition(b" ")
    if scheme.lower() != b"bearer" or not 1 <= len(token) <= TOKEN_CHARACTERS_MAX or token.split() != [token]:
        return None
    return token.decode()


def last_event_id(headers: Iterable[Header]) -> bytes | None:
    """The token that a stream is to be resumed from; empty where several are given, which none can be."""
    found = [value for each, value in headers if each == b"last-event-id" and value]
    return None if not found else found[0] if len(found) == 1 else b""


def is_json(headers: Iterable[Header]) -> bool:
    """Whether the one `Content-Type` is `application/json`, whatever its parameters."""
    value = _only(headers, b"content-type")
    return value is not None and value.partition(b";")[0].strip().lower() == JSON


def _only(headers: Iterable[Header], name: bytes) -> bytes | None:
    found = [value for each, value in headers if each == name]
    return found[0] if len(found) == 1 else None
