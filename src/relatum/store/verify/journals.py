"""The journal of one stream, read through: numbered and chained from its baseline to the tip that the head names.

What lives here: `JournalWalk`, and `fact`, what an entry tells whatever its place in the chain. That it tells what its
event says is compared by the sums of facts.
"""

from __future__ import annotations

from relatum.core import journal
from relatum.core.canonical import encode
from relatum.core.changes import JournalHead, RecordChange, RelationChange
from relatum.core.streams import Stream
from relatum.errors import StorageInconsistency
from relatum.store.keys import STREAM_BYTE
from relatum.store.partition import PartitionReader, decode_entry
from relatum.store.verify.audit import mark
from relatum.store.verify.expected_rows import Books
from relatum.store.verify.scan import SEQUENCE_BYTES, Rows, numbered


def fact(commit_sequence: int, place: int, nonce: bytes, change: RecordChange | RelationChange) -> bytes:
    """What an entry tells: which event, at which place among its entries, with which nonce, what change."""
    return numbered(commit_sequence) + numbered(place) + nonce + encode(change)


class JournalWalk:
    """The entries of one stream, as far as they were read."""

    def __init__(self, books: Books, stream: Stream) -> None:
        self.ended = False
        """Whether the end of the stored entries was met."""
        self.first_event: int | None = None
        """The event that the first entry tells."""
        self._stream = stream
        self._workspace_id = books.workspace_id
        self._audit = books.journals[stream]
        self._told = books.told[stream]
        self._tip: JournalHead | None = None
        self._start = b""
        self._last_event = 0
        self._place = 0
        """Among the entries of that event."""

    def read(self, reader: PartitionReader, room: int) -> None:
        """Reads at most `room` more entries; at the end, they must have led to the tip that `reader` shows."""
        tip = _tip_of(reader, self._stream)
        if self._tip is None and tip is not None:
            self._tip = journal.opened(self._workspace_id, self._stream, tip.journal_id)
        entries = Rows(self._audit, reader.reader, self._start)
        while not entries.ended and entries.passed < room:
            self._take(entries)
        self.ended = entries.ended
        self._start = entries.rest[len(STREAM_BYTE[self._stream]) :]  # a place is passed once, whatever lies there
        entries.close(entries.rest)
        if self.ended and self._audit.complete and self._tip != tip:
            self._find("the tip that the head names is not the last entry")

    def _take(self, entries: Rows) -> None:
        if self._tip is None:
            entries.reject()
            return
        expected = self._tip.sequence + 1
        rest = STREAM_BYTE[self._stream] + numbered(expected)
        entries.reject_before(rest)
        if entries.ended:
            return
        if entries.rest != rest:
            self._find(f"entry {expected} is missing")
            if len(entries.rest) != len(rest):
                entries.reject()
                return
        sequence = int.from_bytes(entries.rest[-SEQUENCE_BYTES:], "big")
        try:
            self._tip = self._entry(self._tip, sequence, entries.body)
        except StorageInconsistency as error:
            self._find(f"entry {sequence}: {error}")
            self._tip = JournalHead(journal_id=self._tip.journal_id, sequence=sequence, prefix_digest=b"")
        entries.next()

    def _entry(self, tip: JournalHead, sequence: int, body: bytes) -> JournalHead:
        """The tip behind an entry, which is judged by the one before it."""
        entry = decode_entry(self._stream, body)
        change = entry.change
        after = journal.extended(self._workspace_id, self._stream, tip, entry.nonce, change)
        self._place = self._place + 1 if entry.commit_sequence == self._last_event else 0
        self._told.read(1, 0, mark(fact(entry.commit_sequence, self._place, entry.nonce, change)))
        if after.sequence == sequence and after.prefix_digest != entry.prefix_digest:
            self._find(f"entry {sequence} does not follow from the one before it")
        if entry.commit_sequence < self._last_event:
            self._find(f"entry {sequence} tells an event that lies before that of the entry before it")
        if encode(entry) != body:
            self._find(f"entry {sequence}: its bytes are not canonical")
        if self.first_event is None:
            self.first_event = entry.commit_sequence
        self._last_event = entry.commit_sequence
        return JournalHead(journal_id=tip.journal_id, sequence=sequence, prefix_digest=entry.prefix_digest)

    def _find(self, message: str) -> None:
        self._audit.find(f"{self._stream}: {message}")


def _tip_of(reader: PartitionReader, stream: Stream) -> JournalHead | None:
    """The tip that the head names; None where it names none, or can't be read, which is told elsewhere."""
    try:
        return reader.head().streams.get(stream)
    except StorageInconsistency:
        return None
