"""A small ledger with a row of every kind that judgments, links and promotions leave, as bytes."""

from __future__ import annotations

from typing import NamedTuple

from relatum.clock import ManualClock
from relatum.core.candidates import Orphaned
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Ref
from relatum.core.receipts import RelationReceipt
from relatum.core.records import RecordProvenance
from relatum.core.stored_judgments import SweepRun
from relatum.errors import Refusal
from relatum.limits import DAY_MILLIS
from tests.graphs.counted import Counted
from tests.integrity.scene import Keyed, Rows, ledger_on
from tests.support.builders import START_MILLIS
from tests.support.stores import published_rows
from tests.support.tending import TendingDesk


class JudgedScene(NamedTuple):
    """What was made. `current` holds the topic that `old` held; `old` was superseded by a verdict with words."""

    rows: Rows
    old: Ref
    current: Ref
    rival: Ref
    archived: Ref
    pinned: Ref
    waiting: Ref
    stale: Ref
    gone: Ref
    run_id: str
    operation_id: str
    verdict: RelationReceipt


def made() -> JudgedScene:
    """The scene."""
    clock = ManualClock(START_MILLIS)
    with ledger_on({}, clock, Counted()) as ledger:
        desk, plain = TendingDesk(ledger), Keyed(ledger)
        stale = desk.save("the ferry left at eight")
        waiting = desk.save("the ferry leaves at one", like=(stale,))
        clock.advance(20 * DAY_MILLIS)
        swept = desk.sweep()
        book = RecordProvenance(source_id="book", source_hash="1")
        old = desk.save("the ferry leaves at nine", topic_key="ferry", fact_key="departure", provenance=book)
        current = desk.save("the ferry leaves at ten", topic_key="ferry", fact_key="departure", like=(waiting,))
        rival = desk.save("the ferry leaves at noon", like=(current, waiting), fact_key="departure")
        archived, pinned, gone = desk.save("put away"), desk.save("kept in sight"), plain.create("it goes")
        for accepted in (
            desk.judge(desk.pending_between(rival, current), "conflicts_with", reason="ten or noon", confidence=0.5),
            desk.compare(gone, rival, "related", reason="erased"),
            desk.archive(archived),
            desk.pin(pinned),
            desk.confirm(rival, "refuted"),
            desk.mark_stale(rival, current, 0.5),
            desk.link(current, rival, "conflicts"),
            desk.link(pinned, current),
            desk.promote("2023-11-14", (pinned, waiting, "supports"), (current, pinned, "contradicts")),
        ):
            assert not isinstance(accepted, Refusal), accepted
        given = desk.compare(waiting, stale, "supersedes", reason="it leaves later")
        plain.delete(gone)
        assert isinstance(swept, JudgmentEvent)
        assert isinstance(given, JudgmentEvent)
        assert isinstance(swept.operation, SweepRun)
        assert isinstance(given.receipt, RelationReceipt)
        assert swept.consequences is not None
        [orphaned] = swept.consequences.candidates
        assert isinstance(orphaned, Orphaned)
        return JudgedScene(
            rows=published_rows(ledger),
            old=old,
            current=current,
            rival=rival,
            archived=archived,
            pinned=pinned,
            waiting=waiting,
            stale=stale,
            gone=gone,
            run_id=swept.operation.run_id,
            operation_id=orphaned.operation_id,
            verdict=given.receipt,
        )
