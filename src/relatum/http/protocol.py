"""uvicorn's HTTP/1.1 protocol with the bounds it lacks: on the size of a request's head, on the time a request takes.

Always holds: of a head that is not complete no more than `HEAD_BYTES_MAX` and one read of the socket are kept. A
connection is closed on which a request has begun and is not complete within `request_seconds`, and one on which none
begins for as long. How long an answer takes is no concern of this module.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from relatum.errors import Refusal, invalid
from relatum.http import errors
from relatum.http.responses import ABORT

HEAD_BYTES_MAX: Final = 64 * 1024

_REASONS: Final = {400: b"Bad Request", 431: b"Request Header Fields Too Large"}
_NOT_HTTP: Final = invalid("the bytes are not an HTTP/1.1 request")
_TOO_SLOW: Final = invalid("the request did not arrive in time")
_HEAD_TOO_LARGE: Final = Refusal("invalid_request", "the head of the request is too large", 431)


class BoundedProtocol(HttpToolsProtocol):
    """One connection: one request is arriving at most, so there is one deadline at most."""

    request_seconds: float = 30.0

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._deadline: asyncio.TimerHandle | None = None
        self._arriving = False  # a request has begun and is not complete
        self._in_head = False  # nor is its head
        self._head_bytes = 0
        self._fault = _NOT_HTTP  # what to answer if the parser gives up

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn narrows it too
        """A client is there and has so long for its first request."""
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._unwatch()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, then see whether there is more to wait for."""
        was_in_head = self._in_head
        super().data_received(data)
        if self.transport.is_closing():
            return
        if was_in_head and self._in_head:
            # A head that began within `data` counts from the next read on: what lay before it is unknown.
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self._refuse(_HEAD_TOO_LARGE)
                return
        if self._arriving or (self.timeout_keep_alive_task is None and not self._answering()):
            self._watch()

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        self.scope["extensions"] = {ABORT: {"now": self.transport.abort}}
        self._arriving = self._in_head = True
        self._head_bytes = 0

    def on_headers_complete(self) -> None:
        """The head is complete; if it is too large, the parser is told to give up."""
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > HEAD_BYTES_MAX:
            self._fault = _HEAD_TOO_LARGE
            raise ValueError(_HEAD_TOO_LARGE.message)
        self._in_head = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The last byte of a request."""
        self._arriving = False
        self._unwatch()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP request, and close."""
        self._refuse(self._fault)

    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle  # None before the first request, whatever uvicorn declares
        return cycle is not None and not cycle.response_complete

    def _watch(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.request_seconds, self._expire)

    def _unwatch(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _expire(self) -> None:
        self._deadline = None
        if self.pipeline or (self._in_head and self._answering()):
            self._watch()  # an earlier request is being answered, and this one could not be read on
        elif self._arriving and (self._in_head or not self.cycle.response_started):
            self._refuse(_TOO_SLOW)
        else:
            self.transport.close()

    def _refuse(self, refusal: Refusal) -> None:
        self.transport.write(_response(refusal))
        self.transport.close()


def _response(refusal: Refusal) -> bytes:
    response = errors.refused(refusal)
    status = b"HTTP/1.1 %d %s" % (refusal.status, _REASONS[refusal.status])
    ending = ((b"content-length", b"%d" % len(response.body)), (b"connection", b"close"))
    lines = [status, *(name + b": " + value for name, value in (*response.headers, *ending))]
    return b"\r\n".join([*lines, b"", response.body])
