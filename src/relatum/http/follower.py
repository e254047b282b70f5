"""One reader that follows one change stream, from its first event to its last (feeds.md, stream).

Always holds: authority and page are read from one view, so that nothing which was committed after a revocation is told.
The cursor moves only over what was handed to the connection. What waits for a slow reader is one chunk and the
connection's own buffer; a chunk that is not taken in time cuts the connection.
"""

from __future__ import annotations

import asyncio
from math import inf
from time import monotonic
from typing import Final, NamedTuple

from starlette.types import Message, Receive, Scope, Send

from relatum.core import digests
from relatum.core.answers.feeds import Change, Page
from relatum.core.feeds import StreamBody, Window
from relatum.core.ids import company_partition
from relatum.core.streams import Stream
from relatum.errors import Failure, Refusal
from relatum.http import events
from relatum.http.authority import refusal_now
from relatum.http.disconnect import cut, end_on_departure
from relatum.http.request_id import identified
from relatum.http.responses import ALWAYS, NOT_BUFFERED
from relatum.http.server_state import Call, partition_of
from relatum.http.slots import Lease
from relatum.http.subscriptions import Watch
from relatum.ledger.reads import changes
from relatum.ledger.view import RequestView

PAGE_DELIVERIES: Final = 64
"""Deliveries in one chunk, at most: some 60 KB."""

_START: Final = {
    "type": "http.response.start",
    "status": 200,
    "headers": [(b"content-type", events.MEDIA_TYPE.encode()), NOT_BUFFERED, *ALWAYS],
}
_END: Final = {"type": "http.response.body", "body": b"", "more_body": False}


class Found(NamedTuple):
    """A page and its events."""

    page: Page[Change]
    chunk: bytes


class SlowReader(Exception):
    """A chunk was not taken in time."""


class Follower:
    """An ASGI application for one request. `lease` holds its place among the streams and is given back at its end."""

    def __init__(self, call: Call[StreamBody], stream: Stream, window: Window, lease: Lease) -> None:
        self._call = call
        self._services = call.services
        self._stream: Stream = stream
        self._partition = partition_of(call)
        self._through = window.through
        self._cursor = window.after
        self._lease = lease
        self._first: Found | Refusal | None = None
        self._idle_at = 0.0
        self._expires_at = inf

    async def look(self) -> Refusal | None:
        """Reads the first page, before anything is answered; why there is none."""
        self._first = await self._services.in_thread(self._page)
        return self._first if isinstance(self._first, Refusal) else None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Tell everything, and go on telling."""
        company = digests.workspace_id(company_partition(self._partition.company_id))
        own = digests.workspace_id(self._partition)
        with self._lease, self._services.watches.watch(own, company) as watch:
            watch.ring()  # something may have moved since the first page was read
            departure = asyncio.create_task(end_on_departure(receive, watch))
            try:
                await self._send(send, _START)
                await self._follow(watch, send)
                await self._send(send, _END)
            except SlowReader:
                self._services.log.warning("a follower was cut that did not take what it was sent", **identified(scope))
                await cut(scope, departure)
            except (Failure, asyncio.CancelledError) as cause:
                self._services.log.failure("a stream was cut", cause, **identified(scope))
                await cut(scope, departure)
            finally:
                departure.cancel()

    async def _follow(self, watch: Watch, send: Send) -> None:
        self._rest()
        found, self._first = self._first, None
        while not watch.ended:
            if isinstance(found, Refusal):
                await self._write(send, events.resync(found.code))
                return
            if found is not None:
                if found.chunk:
                    await self._write(send, found.chunk)
                    self._rest()
                self._cursor = found.page.next_cursor
                if found.page.complete and self._through is not None:
                    return
            elif monotonic() >= self._idle_at:
                await self._write(send, events.checkpoint(self._cursor))
                self._rest()
            if found is None or not found.chunk:
                await watch.moved(self._patience())
            found = await self._news()

    def _rest(self) -> None:
        self._idle_at = monotonic() + self._services.stream_bounds.idle_seconds

    def _patience(self) -> float:
        """Seconds until there is something to say or to check though nothing moves: idleness, expiry."""
        return max(min(self._idle_at, self._expires_at) - monotonic(), 0.0)

    def _refused(self, view: RequestView) -> Refusal | None:
        """Why the caller may read no more; if it may, until when is noted."""
        expiry = self._call.credential.spec.expires_at_millis
        if expiry is not None:
            self._expires_at = monotonic() + (expiry - view.now_millis) / 1000
        return refusal_now(view, self._call.credential, self._call.body.scope, "memory_read")

    async def _news(self) -> Found | Refusal | None:
        """What there is beyond the cursor; None for nothing, which is found out here on the event loop."""
        with self._call.ledger.view() as view:
            refused = self._refused(view)
            tip = view.partition(self._partition).head().streams.get(self._stream)
        if refused is not None:
            return refused
        if tip is None or (self._cursor is not None and tip.sequence <= self._cursor.sequence):
            return None
        return await self._services.in_thread(self._page)

    def _page(self) -> Found | Refusal:
        """In a thread: the next page, unless the caller may read no more."""
        window = Window(after=self._cursor, through=self._through)
        with self._call.ledger.view() as view:
            refused = self._refused(view)
            if refused is not None:
                return refused
            page = changes.page(view.partition(self._partition), self._stream, window, PAGE_DELIVERIES)
        if isinstance(page, Refusal):
            return page
        return Found(page, b"".join(events.delivered(delivery) for delivery in page.changes))

    async def _write(self, send: Send, chunk: bytes) -> None:
        await self._send(send, {"type": "http.response.body", "body": chunk, "more_body": True})

    async def _send(self, send: Send, message: Message) -> None:
        try:
            async with asyncio.timeout(self._services.stream_bounds.write_seconds):
                await send(message)
        except TimeoutError:
            raise SlowReader from None
