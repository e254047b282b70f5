"""The trace that a request belongs to, as its `traceparent` says (W3C Trace Context, level 1)."""

from __future__ import annotations

import re
from typing import Final

from starlette.types import Scope

from relatum.http.responses import Header

_TRACEPARENT: Final = re.compile(rb"(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?", re.ASCII)


def traceparent(scope: Scope) -> str | None:
    """The one sound `traceparent` of a request; None where there is none, or several."""
    headers: list[Header] = scope["headers"]
    found = [value for name, value in headers if name == b"traceparent"]
    match = _TRACEPARENT.fullmatch(found[0]) if len(found) == 1 else None
    if match is None or not match[1].strip(b"0") or not match[2].strip(b"0"):
        return None
    if match[3] is not None and found[0].startswith(b"00"):
        return None  # version 00 has no more than four parts
    return found[0].decode()


def traced(scope: Scope) -> dict[str, str]:
    """What a log line about a request says of its trace."""
    parent = traceparent(scope)
    return {} if parent is None else {"trace_id": parent.split("-")[1]}
