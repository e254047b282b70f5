"""uvicorn's HTTP/1.1 protocol with the bounds it lacks (docs/security.md).

Always holds, of one connection:

* of a head no more is kept than `HEAD_BYTES_MAX`; of whatever else surrounds a body, one read of the socket more;
  fields that follow a body are no header fields and are thrown away;
* a request that has begun is complete within `request_seconds`, and where none has begun, one begins within as long;
* what is sent is taken within `answer_seconds`, counted from when the client falls behind;
* no more than `AHEAD_MAX` requests wait for the answer to an earlier one;
* no other protocol is spoken: an offer of one is as if it were not there, its body is read as the body that it is;
* answers come in the order of their requests, the refusal of what is no request after all of them.

How long an answer takes to be made is no concern of this module.
"""

from __future__ import annotations

import asyncio
from collections import deque
from functools import lru_cache, partial
from itertools import chain
from typing import Any, Final, NamedTuple

import httptools
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from relatum.errors import Refusal, invalid, refusal
from relatum.http import errors
from relatum.http.connections import Cause, Connections
from relatum.http.deadline import Deadline
from relatum.http.heads import is_sound, without_offer
from relatum.http.request_id import EXTENSION, HEADER, request_id
from relatum.http.responses import ABORT, WHOLE, Header, Response
from relatum.http.unframed import send_unframed
from relatum.telemetry import Metrics

HEAD_BYTES_MAX: Final = 64 * 1024
AHEAD_MAX: Final = 64
LINGER_SECONDS: Final = 2.0
"""How long a client that is told to go may still send, so that it gets to read why."""

_REASONS: Final = {400: b"Bad Request", 431: b"Request Header Fields Too Large", 503: b"Service Unavailable"}
_NOT_HTTP: Final = invalid("the bytes are not an HTTP/1.1 request")
_TOO_SLOW: Final = invalid("the request did not arrive in time")
_HEAD_TOO_LARGE: Final = Refusal("invalid_request", "the head of the request is too large", 431)
_TOO_FAR_AHEAD: Final = refusal("retrieval_busy", "too many requests wait on this connection; try again")


class Bounds(NamedTuple):
    """What the connections of one server share. `busy` answers requests for which there is no room."""

    connections: Connections
    metrics: Metrics
    busy: ASGIApp
    request_seconds: float
    answer_seconds: float


class BoundedProtocol(HttpToolsProtocol):
    """One connection. Whoever serves makes a subclass with its `bounds`."""

    bounds: Bounds

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._offering = False  # the head that was read last offers another protocol and is to be read again without
        self._arriving = False  # a request has begun and is not complete
        self._in_head = False  # nor is its head
        self._unanswered: deque[RequestResponseCycle] = deque()  # requests with a complete head, the first of them runs
        self._surroundings_bytes = 0  # of a head, or around a body, since it began or since the last byte of the body
        self._counted_anew = 0  # how often, within the present read
        self._fault = _NOT_HTTP  # what to answer if the parser gives up
        self._parting = False  # nothing more is read
        self._last_words: Refusal | None = None
        self._request = Deadline(self.loop, self.bounds.request_seconds, self._not_sent)
        self._answer = Deadline(self.loop, self.bounds.answer_seconds, self._not_taken)
        self._linger = Deadline(self.loop, LINGER_SECONDS, self._abort)
        self._next = Deadline(self.loop, self.timeout_keep_alive, self.timeout_keep_alive_handler)

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # uvicorn narrows it too
        """A client is there and has so long for its first request."""
        super().connection_made(transport)
        self._request.start()
        self.bounds.connections.take(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone, and all its requests learn of it: uvicorn tells the one that came last alone."""
        self.bounds.connections.let_go(self)
        for cycle in self._unanswered:
            cycle.disconnected = True
            cycle.message_event.set()
        for deadline in (self._request, self._answer, self._linger, self._next):
            deadline.end()
        super().connection_lost(exc)

    def eof_received(self) -> None:
        """A client that closes its side has gone: the other side follows."""
        self._answer.start()

    def drop(self, cause: Cause) -> None:
        """End at once; what was not taken is lost."""
        self.bounds.metrics.connections_dropped(cause).inc()
        self._abort()

    def pause_writing(self) -> None:
        """The client falls behind in taking what is sent."""
        super().pause_writing()
        self._answer.start()
        self.bounds.connections.waits(self)

    def resume_writing(self) -> None:
        """It has caught up."""
        super().resume_writing()
        if not self.transport.is_closing():
            self._answer.stop()
        if self._unanswered:
            self.bounds.connections.works(self)

    def timeout_keep_alive_handler(self) -> None:
        """No further request came in time."""
        self._close()

    def shutdown(self) -> None:
        """The server stops: what runs is finished."""
        super().shutdown()
        if self.transport.is_closing():
            self._close()

    # Reading

    def data_received(self, data: bytes) -> None:
        """Parse what arrived, then see whether there is more to wait for."""
        was_arriving = self._arriving
        if self._parting or not self._parsed(data):
            return
        if self._arriving and (self._counted_anew == 0 or self._is_one_head(was_arriving)):
            # What else began within `data` counts from the next read on: what lay before it is unknown.
            self._surroundings_bytes += len(data)
            if self._surroundings_bytes > HEAD_BYTES_MAX:
                self._refuse(_HEAD_TOO_LARGE)
                return
        if self._arriving or not (self._next.runs or self._unanswered):
            self._request.start()

    def _parsed(self, data: bytes) -> bool:
        """Whether the connection goes on behind `data`."""
        self._next.stop()
        self._counted_anew = 0
        try:
            while (offered := self._offered_within(data)) is not None:
                data = data[offered:]
                self._read_again()
        except httptools.HttpParserError:
            self._refuse(self._fault)
        return not self._parting and not self.transport.is_closing()

    def _offered_within(self, data: bytes) -> int | None:
        """Parse up to the end of a head that offers another protocol; where that is, None where there is none."""
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as offer:
            end: int = offer.args[0]
            return end
        return None

    def _read_again(self) -> None:
        """Take the offer out of the head.

        IMPORTANT: the parser ends such a request behind its head and would take its body for the next one.
        """
        self._offering = False
        head = without_offer(self.parser.get_method(), self.url, self.parser.get_http_version(), self.headers)
        self.parser = httptools.HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)  # as uvicorn's own
        self.parser.feed_data(head)

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        super().on_message_begin()
        self.scope["extensions"] = {ABORT: {"now": self.transport.abort}}
        self._arriving = self._in_head = True
        self._count_anew()

    def on_headers_complete(self) -> None:
        """The head is complete; if it asks for too much or is none of HTTP/1, the parser is told to give up."""
        method, version = self.parser.get_method(), self.parser.get_http_version()
        if not is_sound(method, version, self.headers):
            raise ValueError(self._fault.message)
        if self.parser.should_upgrade():
            self._offering = True
            return
        if len(self.url) + sum(map(len, chain.from_iterable(self.headers))) > HEAD_BYTES_MAX:
            self._fault = _HEAD_TOO_LARGE
            raise ValueError(_HEAD_TOO_LARGE.message)
        if len(self.pipeline) >= AHEAD_MAX:
            self._fault = _TOO_FAR_AHEAD
            raise ValueError(_TOO_FAR_AHEAD.message)
        self.app = self.bounds.busy if self.bounds.connections.busy else self.config.loaded_app
        self.expect_100_continue &= version != "1.0"
        name = request_id(self.headers)
        self.scope["extensions"][EXTENSION] = {"id": name.decode()}
        super().on_headers_complete()
        self.cycle.default_headers = [*self.cycle.default_headers, (HEADER, name)]
        if version == "1.0":
            self.cycle.send = partial(send_unframed, self.cycle)  # type: ignore[method-assign] # no other way in
        self._in_head = False
        self._unanswered.append(self.cycle)
        if len(self.pipeline) == 1:
            self.flow.resume_reading()  # else it would not be noticed that the client goes while its answer is made
        self.scope["extensions"][WHOLE] = {"write": partial(self._write_whole, self.cycle)}
        self.headers = []  # IMPORTANT: fields that follow the body must not get among those of the request

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._count_anew()
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The last byte of a request."""
        if self._offering:
            return
        self._arriving = False
        self._request.stop()
        if self._unanswered:
            self.bounds.connections.works(self)
        super().on_message_complete()

    def _is_one_head(self, was_arriving: bool) -> bool:
        """Whether all that was read is the beginning of one request's head."""
        return self._in_head and not was_arriving and self._counted_anew == 1

    def _count_anew(self) -> None:
        self._surroundings_bytes = 0
        self._counted_anew += 1

    # Answering

    def on_response_complete(self) -> None:
        """An answer was given in whole to the connection."""
        self._unanswered.popleft()
        self.server_state.total_requests += 1
        if not self.transport.is_closing():
            self.flow.resume_reading()
            if self.pipeline:
                self._start_asgi_task(*self.pipeline.pop())
            else:
                self._next.start()
        if not self._unanswered:
            self.bounds.connections.waits(self)
            if self._parting:
                self._take_leave()
        if self.transport.is_closing():
            self._close()

    async def _write_whole(self, cycle: RequestResponseCycle, response: Response) -> None:
        """`write` for this server: head and body at once, and the end once most of that is on its way."""
        if not await self._is_taken(cycle):
            return
        cycle.response_started = True
        cycle.waiting_for_100_continue = False
        date, name = cycle.default_headers[:-1], cycle.default_headers[-1]
        head = [STATUS_LINE[response.status], _lines(*date), b"%b: %b\r\n" % name, _lines(*response.headers)]
        if not cycle.keep_alive:
            head.append(b"connection: close\r\n")
        head.append(b"content-length: %d\r\n\r\n" % len(response.body))
        if cycle.scope["method"] != "HEAD":
            head.append(response.body)
        self.transport.write(b"".join(head))
        if not await self._is_taken(cycle):
            return
        cycle.response_complete = True
        cycle.message_event.set()
        if not cycle.keep_alive:
            self.transport.close()
        cycle.on_response()

    async def _is_taken(self, cycle: RequestResponseCycle) -> bool:
        """Whether the client is there still, once it has taken most of what was sent."""
        if self.flow.write_paused and not cycle.disconnected:
            await self.flow.drain()
        return not cycle.disconnected

    def _refuse(self, refusal: Refusal) -> None:
        """Read nothing more; refuse what is arriving as soon as every request before it is answered, then close."""
        self._parting = True
        self._request.stop()
        if not self._arriving or self._in_head or self._withdrawn():
            self._last_words = refusal
        if not self._unanswered:
            self._take_leave()

    def _withdrawn(self) -> bool:
        """Take back the request whose body is arriving; whether it is not being answered yet."""
        cycle = self.cycle
        if cycle.response_started:
            return False
        if self.pipeline:
            self.pipeline.popleft()
        cycle.disconnected = True
        cycle.message_event.set()
        self._unanswered.pop()
        return True

    def _take_leave(self) -> None:
        if self.transport.is_closing():
            return
        if self._last_words is None:
            self._close()
            return
        self.bounds.metrics.refusals(self._last_words.code).inc()
        self.transport.write(_response(self._last_words))
        self.transport.write_eof()
        self.flow.resume_reading()
        self._linger.start()

    def _close(self) -> None:
        """Close once the client has taken what was sent, but don't wait for ever."""
        self.transport.close()
        self._answer.start()

    # Time

    def _not_sent(self) -> None:
        own = 1 if self._arriving and not self._in_head else 0
        if len(self._unanswered) > own:
            self._request.start()  # an earlier request is being answered, and this one could not be read on
        elif self._arriving:
            self._refuse(_TOO_SLOW)
        else:
            self._close()

    def _not_taken(self) -> None:
        self.drop("unread")

    def _abort(self) -> None:
        self.transport.abort()


def _response(refusal: Refusal) -> bytes:
    response = errors.refused(refusal)
    ending = ((b"content-length", b"%d" % len(response.body)), (b"connection", b"close"))
    status = b"HTTP/1.1 %d %s\r\n" % (refusal.status, _REASONS[refusal.status])
    return b"".join([status, _lines(*response.headers, *ending), b"\r\n", response.body])


@lru_cache(maxsize=64)
def _lines(*headers: Header) -> bytes:
    """Headers as they are sent. Remembered: there are a handful of sets, and the date."""
    return b"".join(b"%b: %b\r\n" % header for header in headers)
