"""The opaque cursor of a page: the last id looked at, authenticated (records.md, filter).

    cursor = base64url(version byte, id (16 bytes), tag (16 bytes)): 44 characters, one spelling each

The tag binds workspace, route, predicates and order, not the limits: so a cursor is good for the query that it came
from, with other limits if the client likes, and for nothing else. It is a bookmark, not an authority: a partition is
entered by the credential alone.
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode

from msgspec.structs import replace

from relatum.core import digests
from relatum.core.ids import uuid_bytes, uuid_text
from relatum.core.queries import PageFilter
from relatum.errors import Refused, invalid

_VERSION = b"\1"
_SPELLING = re.compile(r"[A-Za-z0-9_-]{44}")


class Cursors:
    """Makes and reads the cursors of one query."""

    def __init__(self, store_key: bytes, workspace_id: str, route: str, wanted: PageFilter) -> None:
        self._store_key = store_key
        self._given = wanted.cursor
        self._binding: dict[str, object] = {
            "workspace_id": workspace_id,
            "route": route,
            "filter": replace(wanted, limit=None, scan_limit=None, cursor=None),
        }

    def after(self) -> str | None:
        """The id after which the page begins; None for a first page. Raises Refused (400) for a foreign cursor."""
        if self._given is None:
            return None
        if _SPELLING.fullmatch(self._given):
            raw = urlsafe_b64decode(self._given)
            last_id = uuid_text(raw[1:17])
            if raw[:1] == _VERSION and digests.same(raw[17:], self._tag(last_id)):
                return last_id
        raise Refused(invalid("the cursor does not belong to this query"))

    def at(self, last_id: str) -> str:
        """The cursor of the page that follows `last_id`."""
        return urlsafe_b64encode(_VERSION + uuid_bytes(last_id) + self._tag(last_id)).decode()

    def _tag(self, last_id: str) -> bytes:
        return digests.cursor_tag(self._store_key, {**self._binding, "last_id": last_id})
