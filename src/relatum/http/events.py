"""Server-sent events: their bytes, and cursors as opaque tokens (feeds.md, stream).

A delivery is an event without a name, so that every client takes it as a message; `checkpoint` and `resync` are named.
The id of an event is the cursor behind it, and what `Last-Event-ID` resumes from.

    token = base64url(version, stream, journal id (16 bytes), sequence (8 bytes), prefix digest (32 bytes))

A token carries no authority: its cursor is held against the journal like any other.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from struct import Struct
from typing import Final

from relatum.core.answers.feeds import Change, Delivery
from relatum.core.ids import uuid_bytes, uuid_text
from relatum.core.streams import RECORDS, RELATIONS, Cursor
from relatum.core.wire import Closed
from relatum.errors import Code
from relatum.http.responses import encoded

MEDIA_TYPE: Final = "text/event-stream"

_TOKEN: Final = Struct(">BB16sQ32s")
_SPELLING: Final = re.compile(rb"[A-Za-z0-9_-]{78}")
_STREAMS: Final[tuple[str, ...]] = (RELATIONS, RECORDS)


class CheckpointData(Closed, frozen=True, kw_only=True):
    """Data of a `checkpoint` event: where the stream stands; null while it is not active."""

    cursor: Cursor | None


class ResyncData(Closed, frozen=True, kw_only=True):
    """Data of a `resync` event: why the stream ends, as the code that the same request would be refused with now."""

    code: Code


def delivered(delivery: Delivery[Change]) -> bytes:
    """One change."""
    return b"id: %s\ndata: %s\n\n" % (token(delivery.cursor), encoded(delivery))


def checkpoint(cursor: Cursor | None) -> bytes:
    """Nothing has happened for a while; this is where we are."""
    identified = b"" if cursor is None else b"id: %s\n" % token(cursor)
    return b"event: checkpoint\n%sdata: %s\n\n" % (identified, encoded(CheckpointData(cursor=cursor)))


def resync(code: Code) -> bytes:
    """The stream ends, and it is no use to resume it from where it was."""
    return b"event: resync\ndata: %s\n\n" % encoded(ResyncData(code=code))


def token(cursor: Cursor) -> bytes:
    """A cursor as an id of events."""
    raw = _TOKEN.pack(
        cursor.version,
        _STREAMS.index(cursor.stream),
        uuid_bytes(cursor.journal_id),
        cursor.sequence,
        bytes.fromhex(cursor.prefix_digest),
    )
    return urlsafe_b64encode(raw).rstrip(b"=")


def cursor_of(given: bytes) -> Cursor | None:
    """The cursor of a token; None for anything else."""
    if not _SPELLING.fullmatch(given):
        return None
    version, stream, journal_id, sequence, digest = _TOKEN.unpack(urlsafe_b64decode(given + b"=="))
    if stream >= len(_STREAMS):
        return None
    cursor = Cursor(
        version=version,
        stream=_STREAMS[stream],
        journal_id=uuid_text(journal_id),
        sequence=sequence,
        prefix_digest=digest.hex(),
    )
    return cursor if token(cursor) == given else None
