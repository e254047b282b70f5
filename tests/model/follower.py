"""A consumer that keeps a copy of everything eligible, written as naively as docs/feeds.md allows.

It follows both streams and looks again at whatever they name, at whatever hangs on that, and at whatever a moment has
come for. It knows the ledger by its reads alone, and nothing of the oracle.
"""

from __future__ import annotations

from collections.abc import Iterator

from relatum.core.answers.records import Record
from relatum.core.answers.relations import Relation
from relatum.core.feeds import Window
from relatum.core.streams import RECORDS, RELATIONS, Cursor, Stream
from relatum.errors import Refusal
from relatum.ledger.reads import changes, records, relations
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView
from tests.model.words import HISTORY
from tests.support.builders import PARTITION

STREAMS: tuple[Stream, Stream] = (RECORDS, RELATIONS)


class HistoryLost(Exception):
    """A position that the follower stands at is none of this ledger's."""


class Follower:
    """Everything that this consumer knows lies in its members; it learns by catching up."""

    def __init__(self) -> None:
        self.copy: dict[str, Record | Relation] = {}
        self.resumed_anew = 0
        self._forget()

    def _forget(self) -> None:
        self.copy.clear()
        self._cursors: dict[Stream, Cursor | None] = dict.fromkeys(STREAMS)
        self._known: dict[str, Stream] = {}
        self._hangs_on: dict[str, set[str]] = {}
        self._moments: dict[str, list[int]] = {}
        self._looked_millis: int | None = None

    def catch_up(self, view: LedgerView, limit: int) -> None:
        """Makes the copy exact as of a view, by pages of at most `limit` changes."""
        reader, now = view.partition(PARTITION), view.now_millis
        try:
            touched = self._follow(reader, limit)
        except HistoryLost:
            self.resumed_anew += 1
            self._forget()
            touched = self._follow(reader, limit)
        for name in self._with_dependents(touched | self._turned(now)):
            self._look(reader, now, name)
        self._looked_millis = now

    def _follow(self, reader: PartitionReader, limit: int) -> set[str]:
        touched = set()
        for stream in STREAMS:
            for name in self._told(reader, stream, limit):
                self._known[name] = stream
                touched.add(name)
        return touched

    def _told(self, reader: PartitionReader, stream: Stream, limit: int) -> Iterator[str]:
        complete = False
        while not complete:
            page = changes.page(reader, stream, Window(after=self._cursors[stream]), limit)
            if isinstance(page, Refusal):
                assert page.code == HISTORY
                raise HistoryLost
            for delivery in page.changes:
                change = delivery.change
                yield change.relation_id if stream == RELATIONS else change.record_id  # type: ignore[union-attr]  # its kind of change
            self._cursors[stream] = page.next_cursor
            complete = page.complete

    def _turned(self, now: int) -> set[str]:
        """Whatever begins or ends between the last look and now; clocks of tests run backwards, too."""
        then = self._looked_millis
        if then is None:
            return set()
        return {name for name, moments in self._moments.items() for at in moments if (then < at) != (now < at)}

    def _with_dependents(self, names: set[str]) -> set[str]:
        found: set[str] = set()
        while names - found:
            found |= names
            names = {name for name, needed in self._hangs_on.items() if needed & found}
        return found

    def _look(self, reader: PartitionReader, now: int, name: str) -> None:
        look = self._look_at_record if self._known[name] == RECORDS else self._look_at_relation
        found = look(reader, now, name)
        self.copy.pop(name, None)
        if found is not None:
            self.copy[name] = found

    def _look_at_record(self, reader: PartitionReader, now: int, name: str) -> Record | None:
        inspection = records.inspect(reader, now, name)
        assert not isinstance(inspection, Refusal)
        record = inspection.record
        sources = record.derivation.sources if record.derivation else ()
        self._hangs_on[name] = {source.record_id for source in sources}
        self._moments[name] = _moments(record.input.valid_until_millis if record.input else None)
        return record if inspection.eligibility.eligible else None

    def _look_at_relation(self, reader: PartitionReader, now: int, name: str) -> Relation | None:
        inspection = relations.inspect(reader, now, name)
        assert not isinstance(inspection, Refusal)
        given = inspection.relation.input
        proofs = given.evidence_sources or ()
        self._hangs_on[name] = {ref.record_id for ref in (given.source, given.target, *proofs)}
        self._moments[name] = _moments(given.valid_from_millis, given.valid_until_millis)
        return inspection.relation if inspection.eligibility.eligible else None


def _moments(*given: int | None) -> list[int]:
    return [moment for moment in given if moment is not None]
