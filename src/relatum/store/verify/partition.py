"""One partition, verified in steps.

What lives here: the order of the steps. First the tables are read, slice by slice; then the head is noted; then the
events are followed up to it, which say what should have been read; at last both are compared. A step takes one view,
reads a bounded number of rows, and gives it back, so a store can be verified while it is being written.

What always holds: every row of the partition that was there from the first step to the last one is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

from relatum.core.events import Head
from relatum.core.streams import Stream
from relatum.errors import StorageInconsistency
from relatum.limits import U64_MAX
from relatum.store.keys import STREAM_BYTE
from relatum.store.partition import PartitionReader
from relatum.store.verify.expected_rows import Books
from relatum.store.verify.head import note_tip
from relatum.store.verify.history import History
from relatum.store.verify.journals import JournalWalk
from relatum.store.verify.merge_scan import Group, read_slice
from relatum.store.verify.object_rows import GROUPS
from relatum.store.verify.partition_result import Locate, compare
from relatum.store.verify.prefixes import TakeView
from relatum.store.verify.scan import END
from relatum.store.verify.unversioned_rows import Remembered

ROWS_PER_EVENT = 10
"""About as many as an event leaves: what a step of the walk compares, and what progress is reckoned by."""


class PartitionCheck:
    """The verification of one partition."""

    def __init__(self, books: Books, take_view: TakeView, *, step_rows: int, locate: Locate | None) -> None:
        self.events = 0
        """How many it has, as far as was seen."""
        self._books = books
        self._take_view = take_view
        self._step_rows = step_rows
        self._locate = locate
        self._journals = {stream: JournalWalk(books, stream) for stream in STREAM_BYTE}
        self._remembered = Remembered(books)
        self._history = History(books, remembered=self._remembered)

    @property
    def rows(self) -> int:
        """How many were looked at so far."""
        return self._books.stored

    @property
    def done(self) -> float:
        """About how many events' worth of work was done: half of it is reading, half following."""
        return min(self.rows / ROWS_PER_EVENT, self.events) / 2 + self._history.place.sequence / 2

    def steps(self) -> Iterator[None]:
        """The work, a step at a time."""
        for group in GROUPS:
            start = b""
            while start != END:
                start = self._read(group, start)
                yield
        for stream, entries in self._journals.items():
            while not entries.ended:
                self._read_entries(stream, entries)
                yield
        tip = self._note_tip()
        yield
        through = U64_MAX if tip is None else tip.sequence
        while self._history.place.sequence < through and not self._history.ended:
            with self._take_view() as view:
                reader = PartitionReader(view, self._books.partition)
                self._history.follow(reader, through, max(1, self._step_rows // ROWS_PER_EVENT))
            yield
        first_told = {stream: entries.first_event for stream, entries in self._journals.items()}
        log = self._remembered.log()
        compare(self._books, tip, self._history.followed(), log, first_told, self._locate)

    def _read(self, group: Group, start: bytes) -> bytes:
        with self._take_view() as view:
            reader = PartitionReader(view, self._books.partition)
            events = self.events = _events_of(reader)
            end = read_slice(group, reader, self._books.tables, start, self._step_rows)
        for table in group.tables:
            self._books.tables[table].slices.add(end, events)
        return end

    def _read_entries(self, stream: Stream, entries: JournalWalk) -> None:
        with self._take_view() as view:
            reader = PartitionReader(view, self._books.partition)
            entries.read(reader, self._step_rows)
            if entries.ended:  # every entry was there that was there at this view, those of earlier slices too
                self._books.told[stream].slices.add(END, _events_of(reader))

    def _note_tip(self) -> Head | None:
        try:
            with self._take_view() as view:
                return note_tip(self._books, PartitionReader(view, self._books.partition))
        except StorageInconsistency as error:
            self._books.find("head", f"what lies around the head can't be read: {error}")
            return None


def _events_of(reader: PartitionReader) -> int:
    """How many events a view has; more than there are where the head, as will be told, can't be read."""
    try:
        return reader.head().sequence
    except StorageInconsistency:
        return U64_MAX
