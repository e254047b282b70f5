"""The journal of a change stream, checked wherever it is used (feeds.md, journals).

Opening one checks its tip: the last entry is there, follows from the one before it, matches the head, and nothing lies
beyond it. A cursor is recognised, and an entry handed out, only after its link was computed again and its change was
compared with the revision and the receipt that it tells of. The writer opens a journal before it extends it, so that a
broken one never grows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Self, assert_never

from relatum.core import journal
from relatum.core.answers.feeds import Change
from relatum.core.changes import JournalHead, RecordChange, RecordEntry, RelationChange, RelationEntry
from relatum.core.events import Event, RecordEvent
from relatum.core.relation_events import receipt_of
from relatum.core.state import RecordVersion
from relatum.core.streams import Cursor, Stream
from relatum.errors import JournalBroken, StorageInconsistency
from relatum.store import integrity
from relatum.store.partition import PartitionReader

Entry = RelationEntry | RecordEntry


class Journal:
    """The journal of an active stream, as one reader shows it. Raises JournalBroken where stored rows contradict it."""

    def __init__(self, partition: PartitionReader, stream: Stream, tip: JournalHead) -> None:
        """Takes a tip that is known to be sound; callers use `open`."""
        self.tip = tip
        self._partition = partition
        self._stream = stream

    @classmethod
    def open(cls, partition: PartitionReader, stream: Stream) -> Self | None:
        """The journal with its tip checked; None where the stream is not active."""
        with _breaking(partition, stream):
            tip = partition.head().streams.get(stream)
            entries = partition.entries(stream, tip.sequence if tip else 0)
            _require(next(entries, None) is None, "entries lie beyond the tip of a journal")
            if tip is None:
                return None
            opened = cls(partition, stream, tip)
            _require(opened._at(tip.sequence) == tip, "a journal's tip is not its last entry")
            return opened

    @property
    def baseline(self) -> Cursor:
        """The position before the first entry."""
        return journal.cursor(self._stream, self._baseline())

    @property
    def high_watermark(self) -> Cursor:
        """The position after the last entry."""
        return journal.cursor(self._stream, self.tip)

    def holds(self, cursor: Cursor) -> bool:
        """Whether a well-formed cursor is a position of this journal, baseline and tip included."""
        if cursor.journal_id != self.tip.journal_id or cursor.sequence > self.tip.sequence:
            return False
        with _breaking(self._partition, self._stream):
            if cursor.sequence > 0:
                self._check_change(self._entry(cursor.sequence))
            return cursor == journal.cursor(self._stream, self._at(cursor.sequence))

    def changes(self, after: Cursor, limit: int) -> Iterator[tuple[Cursor, Change]]:
        """Up to `limit` changes that follow `after`, each with the position after it, ascending and without a gap.

        `after` is a position of this journal.
        """
        position = self._position(after.sequence, bytes.fromhex(after.prefix_digest))
        wanted = min(limit, self.tip.sequence - after.sequence)
        with _breaking(self._partition, self._stream):
            for sequence, entry in islice(self._partition.entries(self._stream, after.sequence), wanted):
                _require(sequence == position.sequence + 1, "a journal entry is missing")
                self._check_link(position, entry)
                self._check_change(entry)
                position = self._position(sequence, entry.prefix_digest)
                yield journal.cursor(self._stream, position), entry.change
            _require(position.sequence == after.sequence + wanted, "a journal entry is missing")

    def _baseline(self) -> JournalHead:
        return journal.opened(self._partition.workspace_id, self._stream, self.tip.journal_id)

    def _position(self, sequence: int, digest: bytes) -> JournalHead:
        return JournalHead(journal_id=self.tip.journal_id, sequence=sequence, prefix_digest=digest)

    def _at(self, sequence: int) -> JournalHead:
        """A position, the link that leads there checked."""
        if sequence == 0:
            return self._baseline()
        first = sequence == 1
        before = self._baseline() if first else self._position(sequence - 1, self._entry(sequence - 1).prefix_digest)
        entry = self._entry(sequence)
        self._check_link(before, entry)
        return self._position(sequence, entry.prefix_digest)

    def _entry(self, sequence: int) -> Entry:
        entry = self._partition.entry(self._stream, sequence)
        if entry is None:
            raise StorageInconsistency("a journal entry is missing")
        return entry

    def _check_link(self, before: JournalHead, entry: Entry) -> None:
        after = journal.extended(self._partition.workspace_id, self._stream, before, entry.nonce, entry.change)
        _require(entry.prefix_digest == after.prefix_digest, "a journal entry does not follow from the one before it")

    def _check_change(self, entry: Entry) -> None:
        event, expected = _told_by(self._partition, entry)
        _require(entry.change == expected, "a change does not match the revision and receipt that it tells of")
        _require(
            entry.commit_sequence == event.sequence and entry.nonce in event.nonces,
            "a journal entry does not match its event",
        )


def _told_by(partition: PartitionReader, entry: Entry) -> tuple[Event, Change]:
    """The event that an entry speaks of, and its change as its retained revision and its receipt tell it."""
    change = entry.change
    match change:
        case RelationChange():
            relation = partition.relation_revision(change.relation_id, change.relation_revision)
            if relation is not None:
                related, receipt = integrity.relation_change(partition, relation)
                return related, journal.relation_change(receipt, relation.relation.input)
        case RecordChange():
            record = partition.record_revision(change.record_id, change.record_revision)
            if record is not None:
                return _told_of_record(partition, entry.commit_sequence, change, record)
        case _:
            assert_never(change)
    raise StorageInconsistency("a change tells of a revision that is missing")


def _told_of_record(
    partition: PartitionReader, commit_sequence: int, change: RecordChange, record: RecordVersion
) -> tuple[Event, Change]:
    """A change that brought a revision is told by its event; one of standing by the event that it names."""
    if commit_sequence == record.sequence:
        recorded = integrity.record_event(partition, record)
        return recorded, journal.record_change(recorded.receipt)
    event = partition.event(commit_sequence)
    receipt = None if event is None else receipt_of(event)
    if event is None or receipt is None:
        raise StorageInconsistency("a change tells of an event that is missing")
    integrity.verify_receipt(partition, event, receipt, commit_sequence)
    if isinstance(event, RecordEvent) and event.record_id == change.record_id:
        return event, journal.record_change(event.receipt)
    standings = event.consequences.standings if event.consequences else ()
    action = next((one.action for one in standings if one.record_id == change.record_id), None)
    if action is None:
        raise StorageInconsistency("a change tells of what its event did not do")
    return event, journal.standing_change(action, record, receipt)


@contextmanager
def _breaking(partition: PartitionReader, stream: Stream) -> Iterator[None]:
    """Says of an inconsistency which stream it breaks."""
    try:
        yield
    except StorageInconsistency as error:
        raise JournalBroken(str(error), partition.workspace_id, stream) from error


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise StorageInconsistency(message)
