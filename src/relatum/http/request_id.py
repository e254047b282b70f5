"""What a request is called in logs: by its client or a proxy in `X-Request-Id`, or else by the server.

Every answer repeats the name, and every log line about a failed request has it. It means nothing to the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from starlette.types import Scope

from relatum.entropy import SystemEntropy
from relatum.http.responses import Header
from relatum.http.trace_context import traced
from relatum.telemetry import Scalar

HEADER: Final = b"x-request-id"

EXTENSION: Final = "relatum.request_id"
"""The extension of a request's scope that tells the name."""
_GIVEN: Final = re.compile(rb"[!-~]{1,128}")
_MADE_BYTES: Final = 8
_ENTROPY: Final = SystemEntropy()


def request_id(headers: Iterable[Header]) -> bytes:
    """The one that is given, if there is one of 1 to 128 visible ASCII characters, or a new one."""
    given = [value for name, value in headers if name == HEADER]
    if len(given) == 1 and _GIVEN.fullmatch(given[0]):
        return given[0]
    return _ENTROPY.draw(_MADE_BYTES).hex().encode()


def identified(scope: Scope) -> dict[str, Scalar]:
    """The attributes by which a log line tells which request it is about, and of which trace."""
    named = scope.get("extensions", {}).get(EXTENSION)
    return {**({} if named is None else {"request_id": named["id"]}), **traced(scope)}
