"""The consumers of a stream in all workspaces of a company, and how far each is behind (company.md).

A page runs through the workspaces in the order of their ids, and through the checkpoints of each in the order of their
keys. It looks into a bounded number of workspaces, most of which may have no consumer; so a page may be short, or even
empty, and still have a cursor. What always holds: following cursors meets each consumer once and comes to an end.
The place of a cursor is a workspace id (32 bytes) and a consumer key (16).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from relatum import limits
from relatum.core import digests
from relatum.core.answers.company import Consumer, ConsumerPage
from relatum.core.company import ConsumersQuery
from relatum.core.cursors import Checkpoint
from relatum.core.ids import Partition
from relatum.core.streams import Stream
from relatum.errors import Refusal, Refused, StorageInconsistency
from relatum.ledger.reads.company import Entered, entered
from relatum.ledger.reads.cursor import OpaqueCursors
from relatum.store import checkpoints, latest, rows
from relatum.store.journal import Journal
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView

WORKSPACES_VISITED_MAX = 256

_LAST_KEY = b"\xff" * 16


class _Place(NamedTuple):
    """Up to where a page has come: a workspace, and a consumer's key within it."""

    workspace_id: str
    key: bytes

    @classmethod
    def of(cls, raw: bytes) -> _Place:
        """The place in a cursor."""
        return cls(raw[:32].hex(), raw[32:])

    @property
    def raw(self) -> bytes:
        """The place as a cursor has it."""
        return bytes.fromhex(self.workspace_id) + self.key


def page(view: LedgerView, company_id: str, query: ConsumersQuery) -> ConsumerPage | Refusal:
    """At most `limit` (1 to 50, default 25) consumers from the cursor on. 400 for a cursor of another query."""
    binding = {"route": "company/consumers/query", "company_id": company_id, "stream": query.stream}
    cursors = OpaqueCursors(view.store_key, binding, place_bytes=48)
    try:
        place = None if query.cursor is None else _Place.of(cursors.read(query.cursor))
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
                return ConsumerPage(consumers=tuple(found), next_cursor=cursors.at(place.raw))
            found.append(lag.of(checkpoint))
            place = _Place(workspace_id, key)
        place = _Place(workspace_id, _LAST_KEY)
    else:
        return ConsumerPage(consumers=tuple(found), next_cursor=None)
    assert place is not None, "a visited workspace is a place"
    return ConsumerPage(consumers=tuple(found), next_cursor=cursors.at(place.raw))


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
