"""Refusals as problem details (RFC 9457), for whoever asks for them (client.md, conventions at the HTTP edge).

Always holds: status, headers and the order of checks are those of the envelope; what is told is the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from starlette.types import Scope

from relatum.core.answers.errors import Problem
from relatum.errors import RETRYABLE, Refusal
from relatum.http.responses import Header, Response, encoded
from relatum.limits import CONTRACT_VERSION

MEDIA_TYPE: Final = "application/problem+json"

_NAME: Final = MEDIA_TYPE.encode()


def negotiated(scope: Scope, response: Response) -> Response:
    """`response`, as problem details where it refuses and they are asked for."""
    if response.refusal is None or not wanted(scope["headers"]):
        return response
    headers = tuple(
        (b"content-type", _NAME) if name == b"content-type" else (name, value) for name, value in response.headers
    )
    return response._replace(body=encoded(problem(response.refusal)), headers=headers)


def wanted(headers: Iterable[Header]) -> bool:
    """Whether an `Accept` header names the media type, and does not rule it out. Wildcards don't count."""
    ranges = (one for name, value in headers if name == b"accept" for one in value.split(b","))
    return any(_names(one) for one in ranges)


def problem(refusal: Refusal) -> Problem:
    """A refusal as problem details."""
    return Problem(
        type=f"urn:relatum:problem:{refusal.code}",
        title=refusal.code.replace("_", " ").capitalize(),
        status=refusal.status,
        detail=refusal.message,
        code=refusal.code,
        retryable=RETRYABLE[refusal.code],
        contract_version=CONTRACT_VERSION,
    )


def _names(media_range: bytes) -> bool:
    name, *parameters = (part.strip().lower() for part in media_range.split(b";"))
    if name != _NAME:
        return False
    weights = [part[2:] for part in parameters if part.startswith(b"q=")]
    return not (weights and weights[0].rstrip(b"0").rstrip(b".") in (b"", b"0"))
