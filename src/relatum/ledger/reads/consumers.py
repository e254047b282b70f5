"""The consumers of a stream in all workspaces of a company, and how far each is behind (company.md).

A page runs through the workspaces in the order of their ids, and through the checkpoints of each in the order of their
keys. It looks into a bounded number of workspaces, most of which may have no consumer; so a page may be short, or even
empty, and still have a cursor. What always holds: following cursors meets each consumer once and comes to an end.

    cursor = base64url(version (2 bytes), workspace id (32), consumer key (16), tag (16)): 88 characters
"""

from __future__ import annotations

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from typing import NamedTuple

from relatum import limits
from relatum.core import digests
from relatum.core.answers.company import Consumer, ConsumerPage
from relatum.core.company import ConsumersQuery
from relatum.core.cursors import Checkpoint
from relatum.core.ids import Partition
from relatum.core.streams import Stream
from relatum.errors import Refusal, Refused, StorageInconsistency, invalid
from relatum.ledger.reads.company import Entered, entered
from relatum.store import checkpoints, latest, rows
from relatum.store.journal import Journal
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView

WORKSPACES_VISITED_MAX = 256

_VERSION = b"\0\1"
_SPELLING = re.compile(r"[A-Za-z0-9_-]{88}")
_LAST_KEY = b"\xff" * 16


class _Place(NamedTuple):
    """Up to where a page has come: a workspace, and a consumer's key within it."""

    workspace_id: str
    key: bytes


def page(view: LedgerView, company_id: str, query: ConsumersQuery) -> ConsumerPage | Refusal:
    """At most `limit` (1 to 50, default 25) consumers from the cursor on. 400 for a cursor of another query."""
    cursors = _Cursors(view.store_key, company_id, query.stream)
    try:
        place = None if query.cursor is None else cursors.read(query.cursor)
    except Refused as refused:
        return refused.refusal
    entries_max = query.limit or limits.CONSUMERS_PAGE_DEFAULT
    found: list[Consumer] = []
    for visited, (workspace_id, partition) in enumerate(_workspaces(view, company_id, place)):
        if visited == WORKSPACES_VISITED_MAX:
            break
        workspace = entered(view, company_id, workspace_id, partition)
        lag = _Lag(workspace, query.stream)
        after = place.key if place is not None and place.workspace_id == workspace_id else None
        for key, checkpoint in _checkpoints(workspace.reader, query.stream, after):
            if len(found) == entries_max:
                assert place is not None, "a full page has a last consumer"
                return ConsumerPage(consumers=tuple(found), next_cursor=cursors.at(place))
            found.append(lag.of(checkpoint))
            place = _Place(workspace_id, key)
        place = _Place(workspace_id, _LAST_KEY)
    else:
        return ConsumerPage(consumers=tuple(found), next_cursor=None)
    assert place is not None, "a visited workspace is a place"
    return ConsumerPage(consumers=tuple(found), next_cursor=cursors.at(place))


def _workspaces(view: LedgerView, company_id: str, place: _Place | None) -> Iterator[tuple[str, Partition]]:
    """The company's workspaces that a page begins with: first the one that the page before left in the middle."""
    after = None if place is None else place.workspace_id
    if place is not None and place.key != _LAST_KEY:
        begun = view.workspace(company_id, place.workspace_id)
        if begun is not None:
            yield place.workspace_id, begun
    yield from view.workspaces(company_id, after)


def _checkpoints(reader: PartitionReader, stream: Stream, after: bytes | None) -> Iterator[tuple[bytes, Checkpoint]]:
    """The checkpoints of a stream, each with its key among them, strictly after `after`."""
    current, revisions = reader.keys.checkpoints(stream), reader.keys.checkpoint_revisions(stream)
    for key, body in latest.walk(reader.reader, current, revisions, after, reverse=False):
        found = rows.CHECKPOINT.decode(body).checkpoint
        owner = found.author.subject_id, found.consumer_id
        if key != digests.consumer_key(*owner) or found != checkpoints.current(reader, stream, *owner):
            raise StorageInconsistency("a checkpoint is stored under a foreign key")
        yield key, found


class _Lag:
    """The consumers of one workspace against its journal, which is opened for the first of them."""

    def __init__(self, workspace: Entered, stream: Stream) -> None:
        self._workspace = workspace.workspace
        self._reader = workspace.reader
        self._stream = stream
        self._opened = False
        self._journal: Journal | None = None

    def of(self, checkpoint: Checkpoint) -> Consumer:
        return Consumer(
            workspace_id=self._workspace.workspace_id,
            scope=self._workspace.scope,
            private_subject_id=self._workspace.private_subject_id,
            subject_id=checkpoint.author.subject_id,
            consumer_id=checkpoint.consumer_id,
            stream=self._stream,
            revision=checkpoint.revision,
            sequence=checkpoint.cursor.sequence,
            pending_positions=self._pending(checkpoint),
            updated_at_millis=checkpoint.updated_at_millis,
        )

    def _pending(self, checkpoint: Checkpoint) -> int | None:
        if not self._opened:
            self._journal = Journal.open(self._reader, self._stream)
            self._opened = True
        journal = self._journal
        if journal is None or not journal.holds(checkpoint.cursor):
            return None
        return journal.tip.sequence - checkpoint.cursor.sequence


class _Cursors:
    """The cursors of one query: bound to the company and the stream, not to the limit."""

    def __init__(self, store_key: bytes, company_id: str, stream: Stream) -> None:
        self._store_key = store_key
        self._binding: dict[str, object] = {
            "route": "company/consumers/query",
            "company_id": company_id,
            "stream": stream,
        }

    def at(self, place: _Place) -> str:
        """The cursor of the page that follows `place`."""
        raw = bytes.fromhex(place.workspace_id) + place.key
        return urlsafe_b64encode(_VERSION + raw + self._tag(raw)).decode()

    def read(self, cursor: str) -> _Place:
        """Where a page begins. Raises Refused (400) for a cursor that this query did not give."""
        if _SPELLING.fullmatch(cursor):
            given = urlsafe_b64decode(cursor)
            raw = given[2:50]
            if given[:2] == _VERSION and digests.same(given[50:], self._tag(raw)):
                return _Place(raw[:32].hex(), raw[32:])
        raise Refused(invalid("the cursor does not belong to this query"))

    def _tag(self, raw: bytes) -> bytes:
        return digests.cursor_tag(self._store_key, {**self._binding, "place": raw})
