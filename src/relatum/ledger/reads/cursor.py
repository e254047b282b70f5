"""The opaque cursors of pages: the last place looked at, authenticated (records.md, filter).

    cursor = base64url(version byte, zeros that make it a multiple of three bytes, place, tag (16 bytes))

The tag binds the partition or company, route, predicates and order, not the limits: so a cursor is good for the query
that it came from, with other limits if the client likes, and for nothing else. It is a bookmark, not an authority: a
partition is entered by the credential alone. Each has one spelling.
"""

from __future__ import annotations

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping

from msgspec.structs import replace

from relatum.core import digests
from relatum.core.ids import uuid_bytes, uuid_text
from relatum.core.queries import PageFilter
from relatum.errors import Refused, invalid

_VERSION = b"\1"
_TAG_BYTES = 16


class OpaqueCursors:
    """Makes and reads the cursors of one query, whose places have `place_bytes` bytes each."""

    def __init__(self, store_key: bytes, binding: Mapping[str, object], place_bytes: int) -> None:
        self._store_key = store_key
        self._binding = binding
        self._head = _VERSION + bytes(-(1 + place_bytes + _TAG_BYTES) % 3)
        self._bytes = len(self._head) + place_bytes + _TAG_BYTES

    def at(self, place: bytes) -> str:
        """The cursor of the page that follows `place`."""
        return urlsafe_b64encode(self._head + place + self._tag(place)).decode()

    def read(self, cursor: str) -> bytes:
        """The place after which a page begins. Raises Refused (400) for a cursor that this query did not give."""
        try:
            raw = urlsafe_b64decode(cursor.encode("ascii"))
        except (UnicodeEncodeError, binascii.Error):
            raw = b""
        place = raw[len(self._head) : -_TAG_BYTES]
        if len(raw) == self._bytes and digests.same(self.at(place).encode(), cursor.encode()):
            return place
        raise Refused(invalid("the cursor does not belong to this query"))

    def _tag(self, place: bytes) -> bytes:
        return digests.cursor_tag(self._store_key, {**self._binding, "place": place.hex()})


class Cursors:
    """Makes and reads the cursors of a query by a filter: a place is the id of a record or a relation."""

    def __init__(self, store_key: bytes, workspace_id: str, route: str, wanted: PageFilter) -> None:
        self._given = wanted.cursor
        binding = {
            "workspace_id": workspace_id,
            "route": route,
            "filter": replace(wanted, limit=None, scan_limit=None, cursor=None),
        }
        self._cursors = OpaqueCursors(store_key, binding, 16)

    def after(self) -> str | None:
        """The id after which the page begins; None for a first page. Raises Refused (400) for a foreign cursor."""
        return None if self._given is None else uuid_text(self._cursors.read(self._given))

    def at(self, last_id: str) -> str:
        """The cursor of the page that follows `last_id`."""
        return self._cursors.at(uuid_bytes(last_id))
