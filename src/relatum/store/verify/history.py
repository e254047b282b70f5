"""The walk over a partition's events: the chain, and what each event implies.

What lives here: `History`, which goes from one event on, some events at a time. What always holds: the events are
numbered without a gap and each names the digest of the one before, or a finding says where that ends. Where an event is
missing or does not lead to its receipt, what follows from it is unknown: the walk goes on, and `complete` is False.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from relatum.core import digests, journal
from relatum.core.changes import JournalHead
from relatum.core.cursors import Advance
from relatum.core.events import NO_EVENT, CheckpointEvent, Event
from relatum.core.streams import Stream
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.keys import Table
from relatum.store.partition import PartitionReader
from relatum.store.verify.derived_rows import Implied
from relatum.store.verify.expected_rows import Books
from relatum.store.verify.prior_state import RevisionMissing, require
from relatum.store.verify.scan import SEQUENCE_BYTES, Rows, behind, numbered
from relatum.store.verify.unversioned_rows import Remembered


class Place(NamedTuple):
    """A place in the chain of events: behind how many of them, the digest of the last one, its commit time."""

    sequence: int
    digest: bytes
    at_millis: int


BEGINNING = Place(0, NO_EVENT, 0)


class Opening(NamedTuple):
    """Which event opened a stream's journal, and what it named it."""

    event: int
    stream: Stream
    journal_id: str


class Followed(Struct, frozen=True, kw_only=True):
    """What a stretch of events comes to. `complete` unless something was amiss with one of them."""

    start: Place
    end: Place
    complete: bool
    openings: tuple[Opening, ...]


class History:
    """The events of one partition, as far as they were followed from a place on.

    `remembered` goes with a walk from the beginning that nobody else follows for what has no revisions.
    """

    def __init__(self, books: Books, place: Place = BEGINNING, remembered: Remembered | None = None) -> None:
        self.place = self._start = place
        self.complete = True
        """Whether every event so far was there and led to what its receipt says."""
        self.ended = False
        """Whether an end of the stored events was met."""
        self.openings: list[Opening] = []
        self._tables = books.tables
        self._events = books.tables[Table.EVENT]
        self._implied = Implied(books)
        self._remembered = remembered

    def follow(self, reader: PartitionReader, through: int, room: int) -> None:
        """Follows at most `room` more events, none beyond the number `through`."""
        events = Rows(self._events, reader.reader, behind(self.place.sequence))
        last = min(through, self.place.sequence + room)
        while self.place.sequence < last and not events.ended:
            self._take(reader, events)
        self.ended = events.ended
        events.close(behind(self.place.sequence))

    def followed(self) -> Followed:
        """What the events so far come to."""
        return Followed(start=self._start, end=self.place, complete=self.complete, openings=tuple(self.openings))

    def _take(self, reader: PartitionReader, events: Rows) -> None:
        expected = self.place.sequence + 1
        events.reject_before(numbered(expected))
        rest, body = events.rest, events.body
        if rest != numbered(expected):
            self._broken(f"event {expected} is missing")
            if len(rest) != SEQUENCE_BYTES:
                events.reject_all(rest)
                return
        events.next()
        sequence, at_millis = int.from_bytes(rest, "big"), self.place.at_millis
        digest = digests.event_digest(body)
        try:
            event = rows.EVENT.decode(body)
            self._check(reader, sequence, event, body)
            at_millis = event.committed_at_millis
            self._implied.rows_of(event, reader)
            if self._remembered is not None and self.complete:
                self._remembered.rows_of(event, digest)
        except RevisionMissing as missing:
            self.complete = False
            self._tables[missing.table].find(f"event {sequence}: {missing}")
        except StorageInconsistency as error:
            self._broken(f"event {sequence}: {error}")
        self.place = Place(sequence, digest, at_millis)

    def _broken(self, message: str) -> None:
        self.complete = False
        self._events.find(message)

    def _check(self, reader: PartitionReader, sequence: int, event: Event, body: bytes) -> None:
        """The event itself, by the one before it."""
        before = self.place
        require(event.sequence == sequence, "it says that it is another one")
        require(event.previous == before.digest, "it does not follow from the event before it")
        require(event.partition == (reader.partition if sequence == 1 else None), "it names another partition")
        require(event.committed_at_millis >= before.at_millis, "it was committed before the event before it")
        require(rows.EVENT.encode(event) == body, "its bytes are not canonical")
        for stream, journal_id in event.journal_ids.items():
            self.openings.append(Opening(sequence, stream, journal_id))
        if isinstance(event, CheckpointEvent):
            _check_saved(reader, event)


def _check_saved(reader: PartitionReader, event: CheckpointEvent) -> None:
    """A checkpoint lies on its journal, where that had come to by then; an advance does not go back."""
    stream, operation, before = event.stream, event.command.operation, event.receipt.previous
    place, tip = operation.cursor.sequence, reader.head().streams.get(stream)
    if tip is None:
        raise StorageInconsistency("it saves a place of a journal that was never opened")
    at = journal.opened(reader.workspace_id, stream, tip.journal_id)
    if place > 0:
        entry = reader.entry(stream, place)
        if entry is None or entry.commit_sequence > event.sequence:
            raise StorageInconsistency("it saves a place that its journal had not come to")
        at = JournalHead(journal_id=tip.journal_id, sequence=place, prefix_digest=entry.prefix_digest)
    require(operation.cursor == journal.cursor(stream, at), "it saves a place that does not lie on its journal")
    back = isinstance(operation, Advance) and before is not None and before.cursor.sequence > place
    require(not back, "it advances backwards")
