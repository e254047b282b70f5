"""Compares streams and checkpoints with the journals and the notebook of an oracle."""

from __future__ import annotations

from typing import Any

import msgspec

from relatum.core.answers.feeds import Diagnostics, Page, Relative
from relatum.core.feeds import Window
from relatum.core.streams import Cursor, Stream
from relatum.errors import Refusal
from relatum.ledger.reads import changes, checkpoints, diagnosis, receipts
from relatum.store.view import LedgerView
from tests.feeds import chain
from tests.model.journal import Journal
from tests.model.oracle import Oracle
from tests.model.words import BAD
from tests.support.builders import PARTITION

ORDER: dict[int, Relative] = {-1: "before", 0: "equal", 1: "after"}


class StreamComparison:
    """One view of a ledger beside an oracle."""

    def __init__(self, view: LedgerView, oracle: Oracle) -> None:
        self.reader = view.partition(PARTITION)
        self.journals = oracle.journals
        self.notebook = oracle.notebook

    # After every step

    def pages(self, limit: int) -> None:
        """All pages of both streams, one after another: everything once, in order, at the positions known before."""
        for journal in self.journals.values():
            told, cursors = [], []
            page = self._page(journal, None, None, limit)
            cursors = [page.baseline] if page.baseline else []
            while True:
                self._assert_framed(page, journal)
                assert len(page.changes) == limit or page.complete
                told += [msgspec.to_builtins(delivery.change) for delivery in page.changes]
                cursors += [delivery.cursor for delivery in page.changes]
                if page.complete:
                    break
                page = self._page(journal, page.next_cursor, None, limit)
            assert journal.changes == told
            if journal.active:
                journal.see(cursors)
            assert (journal.tip, journal.tip) == (page.next_cursor, page.high_watermark)

    def _assert_framed(self, page: Page[Any], journal: Journal) -> None:
        assert journal.active == page.active == (page.high_watermark is not None)
        assert page.complete == (page.next_cursor == page.high_watermark)
        if journal.cursors:
            assert journal.baseline == page.baseline

    def saved(self) -> None:
        """What every consumer has saved, and where that is, seen from where the consumer began."""
        for (stream, subject_id, consumer_id), kept in self.notebook.saved.items():
            current = kept[-1].checkpoint
            found = checkpoints.read(self.reader, stream, subject_id, consumer_id)
            assert current == found
            self.diagnosis(stream, subject_id, consumer_id, kept[0].checkpoint.cursor)

    # Now and then

    def stretch(self, stream: Stream, after: Cursor | None, through: Cursor | None, limit: int) -> None:
        """One page between any two positions, or its refusal."""
        journal = self.journals[stream]
        refused = journal.expect_page(after, through)
        if refused is not None:
            page = changes.page(self.reader, stream, Window(after=after, through=through), limit)
            assert isinstance(page, Refusal)
            assert refused == page.code
            return
        told = self._page(journal, after, through, limit)
        if not journal.active:
            assert (False, None, (), None, None, True) == msgspec.structs.astuple(told)
            return
        first, fence = (after or journal.cursors[0]).sequence, (through or journal.cursors[-1]).sequence
        last = min(first + limit, fence)
        assert journal.changes[first:last] == [msgspec.to_builtins(delivery.change) for delivery in told.changes]
        assert journal.cursors[first + 1 : last + 1] == [delivery.cursor for delivery in told.changes]
        expected = (journal.cursors[0], journal.cursors[last], journal.cursors[fence], last == fence)
        assert expected == (told.baseline, told.next_cursor, told.high_watermark, told.complete)

    def diagnosis(self, stream: Stream, subject_id: str, consumer_id: str, witness: Cursor | None) -> None:
        journal = self.journals[stream]
        found = diagnosis.diagnose(self.reader, stream, subject_id, consumer_id, witness)
        if witness is not None and not journal.is_sound(witness):
            assert isinstance(found, Refusal)
            assert BAD == found.code
            return
        saved = self.notebook.current((stream, subject_id, consumer_id))
        reached = saved.cursor.sequence if saved and journal.holds(saved.cursor) else None
        witnessed = witness.sequence if witness and journal.holds(witness) else None
        order = None if reached is None or witnessed is None else (reached > witnessed) - (reached < witnessed)
        assert found == Diagnostics(
            consumer_id=consumer_id,
            active=journal.active,
            baseline=journal.baseline,
            high_watermark=journal.tip,
            checkpoint=saved,
            checkpoint_status=_status(reached) if saved else "missing",
            pending_positions=None if reached is None else len(journal.changes) - reached,
            witness_status=_status(witnessed) if witness else "not_provided",
            checkpoint_relative_to_witness=None if order is None else ORDER[order],
        )

    def history(self) -> None:
        """Every link of both chains, every revision of every checkpoint, and every receipt."""
        for journal in self.journals.values():
            self._chain(journal)
        for (stream, subject_id, consumer_id), kept in self.notebook.saved.items():
            for number, receipt in enumerate(kept, start=1):
                assert receipt == checkpoints.revision(self.reader, stream, subject_id, consumer_id, number)
            for number in (0, len(kept) + 1):
                absent = checkpoints.revision(self.reader, stream, subject_id, consumer_id, number)
                assert isinstance(absent, Refusal)
        for (subject_id, key), (_, _, receipt) in self.notebook.answered.items():
            assert receipt == receipts.read(self.reader, subject_id, "checkpoint", key)

    def _chain(self, journal: Journal) -> None:
        """By a checker that knows the page on digests alone; the nonces are found in the store."""
        entries = list(self.reader.entries(journal.stream, 0))
        assert list(range(1, len(journal.changes) + 1)) == [sequence for sequence, _ in entries]
        if journal.active:
            baseline, *cursors = map(msgspec.to_builtins, journal.cursors)
            told = [
                {"cursor": cursor, "change": change} for cursor, change in zip(cursors, journal.changes, strict=True)
            ]
            nonces = [entry.nonce for _, entry in entries]
            assert len(told) == chain.check(self.reader.workspace_id, baseline, told, nonces)

    def _page(self, journal: Journal, after: Cursor | None, through: Cursor | None, limit: int) -> Page[Any]:
        page = changes.page(self.reader, journal.stream, Window(after=after, through=through), limit)
        assert not isinstance(page, Refusal)
        return page


def _status(sequence: int | None) -> Any:
    return "history_incompatible" if sequence is None else "compatible"
