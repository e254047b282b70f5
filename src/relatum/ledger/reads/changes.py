"""Pages of a change stream (feeds.md, pages).

What always holds: a page is a stretch of one journal without a gap, up to a fence, and every link of it was checked;
where one is broken there is no page at all.
"""

from __future__ import annotations

from relatum.core.answers.feeds import Change, Delivery, Page
from relatum.core.feeds import Window
from relatum.core.streams import Cursor, Stream
from relatum.errors import Refusal, invalid, refusal
from relatum.store.journal import Journal
from relatum.store.partition import PartitionReader

OFF_THE_JOURNAL = refusal("journal_history_conflict", "the cursor does not lie on this journal")


def broken_rule(stream: Stream, window: Window) -> Refusal | None:
    """400 where a cursor is none of this stream, or the two come in the wrong order."""
    for cursor in (window.after, window.through):
        problem = None if cursor is None else cursor.problem(stream)
        if problem is not None:
            return invalid(problem)
    if window.after is not None and window.through is not None and window.after.sequence > window.through.sequence:
        return invalid("after lies beyond through")
    return None


def page(partition: PartitionReader, stream: Stream, window: Window, limit: int) -> Page[Change] | Refusal:
    """At most `limit` deliveries of a window. 400 for unsound cursors, 409 for those that don't lie on this journal.

    Raises JournalBroken.
    """
    refused = broken_rule(stream, window)
    if refused is not None:
        return refused
    journal = Journal.open(partition, stream)
    if journal is None:
        return _INACTIVE if window.after is None and window.through is None else OFF_THE_JOURNAL
    baseline = journal.baseline
    after, fence = window.after or baseline, window.through or journal.high_watermark
    if any(given is not None and not journal.holds(given) for given in (window.after, window.through)):
        return OFF_THE_JOURNAL
    changes = _deliveries(journal, after, min(limit, fence.sequence - after.sequence))
    next_cursor = changes[-1].cursor if changes else after
    return Page(
        active=True,
        baseline=baseline,
        changes=changes,
        next_cursor=next_cursor,
        high_watermark=fence,
        complete=next_cursor == fence,
    )


def _deliveries(journal: Journal, after: Cursor, limit: int) -> tuple[Delivery[Change], ...]:
    return tuple(Delivery(cursor=cursor, change=change) for cursor, change in journal.changes(after, limit))


_INACTIVE: Page[Change] = Page(
    active=False, baseline=None, changes=(), next_cursor=None, high_watermark=None, complete=True
)
