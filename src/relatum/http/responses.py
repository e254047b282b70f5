"""Responses as bytes: the headers that every one of them carries, and how one is written.

Always holds: a response that leaves through `write` carries `Cache-Control: no-store` and
`X-Content-Type-Options: nosniff`, and one of status 503 carries `Retry-After: 1` (transport.md).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec.json import Encoder
from starlette.types import Scope, Send

from relatum.errors import Refusal

Header = tuple[bytes, bytes]

JSON: Final = b"application/json"
ALWAYS: Final[tuple[Header, ...]] = ((b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff"))
ABORT: Final = "relatum.abort"
"""The extension of a request's scope that drops the connection at once, with whatever waits to be written."""
WHOLE: Final = "relatum.whole"
"""The extension of a request's scope that writes a complete response as `write` does, with less ado."""
RETRY_AFTER: Final[Header] = (b"retry-after", b"1")

NOT_BUFFERED: Final[Header] = (b"x-accel-buffering", b"no")
"""Tells nginx, and proxies that heed the same, to pass an answer on as it comes."""

_JSON_HEADERS: Final[tuple[Header, ...]] = ((b"content-type", JSON), *ALWAYS)
_ENCODER: Final = Encoder()


class Response(NamedTuple):
    """One complete answer; `headers` lack the length of the body, which `write` adds."""

    status: int
    body: bytes
    headers: tuple[Header, ...] = _JSON_HEADERS
    refusal: Refusal | None = None
    """What it refuses with, of which `problems` makes another form."""


def encoded(answer: object) -> bytes:
    """`answer`, a struct of the contract, as JSON."""
    return _ENCODER.encode(answer)


def text(status: int, body: bytes, content_type: bytes, *more: Header) -> Response:
    """A response of another type than JSON."""
    return Response(status, body, ((b"content-type", content_type), *ALWAYS, *more))


def with_headers(response: Response, *more: Header) -> Response:
    """`response` with further headers."""
    return response._replace(headers=(*response.headers, *more))


async def write(scope: Scope, send: Send, response: Response) -> None:
    """Write `response`; a client that has gone is no error.

    Returns once the client has taken it, but for what the operating system buffers and a few KiB here: the server lets
    nothing more be sent, not even the empty end, while much of what was sent before still waits in this process.
    """
    whole = scope.get("extensions", {}).get(WHOLE)
    if whole is not None:
        await whole["write"](response)
        return
    status, body, headers = response.status, response.body, response.headers
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*headers, (b"content-length", b"%d" % len(body))],
        }
    )
    await send({"type": "http.response.body", "body": body, "more_body": True})
    await send({"type": "http.response.body"})
