"""A partition with many events, cut into pieces that are done apart, and put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from relatum.core.streams import Stream
from relatum.errors import StorageInconsistency
from relatum.store.keys import STREAM_BYTE
from relatum.store.kv import Reader
from relatum.store.partition import PartitionReader
from relatum.store.verify.expected_rows import Books
from relatum.store.verify.head import note_tip
from relatum.store.verify.history import Followed
from relatum.store.verify.locate import locator
from relatum.store.verify.object_rows import GROUPS
from relatum.store.verify.partition_result import compare, joined
from relatum.store.verify.tasks import Follow, ReadGroup, ReadJournal, Remember, Result, Task

TakeIn = Callable[[Result], None]
"""What to do with the result of a task."""


class CutPartition:
    """The pieces: each group of tables, each journal, what is remembered, and the events in stretches."""

    def __init__(self, books: Books, events: int, stretch_events: int) -> None:
        self.books = books
        self.events = events
        self._stretch_events = stretch_events
        self._log: bytes | None = None
        self._first_told: dict[Stream, int | None] = {}
        self._stretches: list[Followed] = []

    @property
    def done(self) -> float:
        """About how many events' worth of work is taken in: half of it is reading, half following."""
        followed = self._stretches[-1].end.sequence if self._stretches else 0
        return (self.events if self._first_told else 0) / 2 + followed / 2

    @property
    def whole(self) -> bool:
        """Whether all pieces are taken in."""
        return len(self._stretches) * self._stretch_events >= self.events

    def tasks(self) -> Iterator[tuple[Task, TakeIn]]:
        """Every piece, in the order in which results are to be taken in."""
        prefix = self.books.keys.prefix
        for group in range(len(GROUPS)):
            yield ReadGroup(prefix, group), self._take_in
        for stream in STREAM_BYTE:
            yield ReadJournal(prefix, stream), self._take_in_journal_of(stream)
        yield Remember(prefix, self.events), self._take_in_remembered
        for behind in range(0, self.events, self._stretch_events):
            through = min(behind + self._stretch_events, self.events)
            yield Follow(prefix, behind, through), self._take_in_stretch

    def finish(self, view: Reader) -> None:
        """Compares, once all pieces are taken in."""
        try:
            tip = note_tip(self.books, PartitionReader(view, self.books.partition))
        except StorageInconsistency as error:
            self.books.find("head", f"what lies around the head can't be read: {error}")
            tip = None
        followed = joined(self.books, self._stretches)
        if self._log is not None:
            compare(self.books, tip, followed, self._log, self._first_told, locator(view))

    def _take_in(self, result: Result) -> None:
        self.books.take_in(result.shares)
        self.books.doubted.update(result.by_family)

    def _take_in_journal_of(self, stream: Stream) -> TakeIn:
        def take_in(result: Result) -> None:
            self._take_in(result)
            self._first_told[stream] = result.first_told

        return take_in

    def _take_in_remembered(self, result: Result) -> None:
        self._take_in(result)
        self._log = result.log

    def _take_in_stretch(self, result: Result) -> None:
        self._take_in(result)
        assert result.followed is not None, "who follows events says where they lead"
        self._stretches.append(result.followed)
