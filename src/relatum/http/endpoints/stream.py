"""The change streams as server-sent events (feeds.md, stream)."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Final

from msgspec.structs import replace

from relatum.core.feeds import StreamBody, Window
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.errors import Refusal, invalid
from relatum.http import errors
from relatum.http.endpoints.changes import PATHS
from relatum.http.events import MEDIA_TYPE, cursor_of
from relatum.http.follower import Follower
from relatum.http.headers import last_event_id
from relatum.http.routes import Handler, Route, needing
from relatum.http.server_state import Call
from relatum.ledger.reads.changes import OFF_THE_JOURNAL

NO_TOKEN: Final = invalid("Last-Event-ID is not the id of an event of this stream")


def following(stream: Stream) -> Handler[StreamBody]:
    """The handler of `changes/stream`.

    A request is refused like one for a page, but for a resumption from a cursor that is lost: an event says so, since
    that is where a client which reconnects by itself looks for it.
    """

    async def handle(call: Call[StreamBody]) -> Follower | Refusal:
        with ExitStack() as stack:
            lease = stack.enter_context(call.services.streams.lease())
            if not lease.take():
                return errors.BUSY
            given = last_event_id(call.headers)
            window = _window(call.body.query or Window(), given)
            if isinstance(window, Refusal):
                return window
            follower = Follower(call, stream, window, lease)
            refused = await follower.look()
            if refused is not None and (given is None or refused != OFF_THE_JOURNAL):
                return refused
            stack.pop_all()  # the follower gives the lease back
            return follower

    return handle


def _window(asked: Window, token: bytes | None) -> Window | Refusal:
    """What is asked for, from where a client has come if it resumes."""
    if token is None:
        return asked
    cursor = cursor_of(token)
    return NO_TOKEN if cursor is None else replace(asked, after=cursor)


def _route(stream: Stream, noun: str) -> Route[StreamBody]:
    return Route(
        path=f"{PATHS[stream]}/changes/stream",
        tag="feeds",
        summary=f"Follow changes of {noun} as server-sent events",
        access=needing("memory_read"),
        takes=StreamBody,
        answers=MEDIA_TYPE,
        handle=following(stream),
        refuses=("invalid_request", "journal_history_conflict", "retrieval_busy"),
    )


ROUTES: Final = (_route(RELATIONS, "relations"), _route(RECORDS, "records"))
