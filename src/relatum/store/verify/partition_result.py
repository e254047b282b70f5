"""What was found out about one partition, put together: where the events lead, and whether what they imply is there.

What lives here: `compare`, the last step of a partition's verification, and `joined`, for events that were followed in
stretches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from relatum.core.events import Head
from relatum.core.streams import Stream
from relatum.store.keys import Table
from relatum.store.verify.expected_rows import Books
from relatum.store.verify.history import BEGINNING, Followed, Opening

Locate = Callable[[Books, set[Table]], set[Table]]
"""Tells row by row what differs in tables that differ somewhere; in which of them it found something."""


def joined(books: Books, stretches: Iterable[Followed]) -> Followed:
    """Stretches in order as one. Each must begin where the one before it ended."""
    end, complete = BEGINNING, True
    openings: list[Opening] = []
    for stretch in stretches:
        if stretch.start != end:
            books.find("event", f"the events behind number {stretch.start.sequence} don't follow from those before")
            complete = False
        complete = complete and stretch.complete
        end = stretch.end
        openings += stretch.openings
    return Followed(start=BEGINNING, end=end, complete=complete, openings=tuple(openings))


def compare(
    books: Books,
    tip: Head | None,
    followed: Followed,
    log: bytes,
    first_told: dict[Stream, int | None],
    locate: Locate | None,
) -> None:
    """The events lead to the head, and what they imply is what was read.

    `log` is what they imply that the head says of the log, and `first_told` names the event that the first entry of
    each journal tells. Where something was amiss with the events, which is a finding already, what they imply is
    unknown, and nothing is compared.
    """
    if not followed.complete:
        return
    if tip is not None and not _leads_to(followed, tip, first_told):
        books.find("head", f"the head, which counts {tip.sequence} events, is not where they lead")
        return
    if tip is not None and tip.log != log:
        books.find("head", "what the head says of the log is not what the events lead to")
    differing = books.differing()
    if differing and locate is not None:
        differing -= locate(books, differing)
    for table in sorted(differing):
        audit = books.tables[table]
        audit.find(f"the rows are not those that the events imply: {audit.stored} stored, {audit.implied} implied")
    if tip is not None and books.tally(tip.sequence) not in (None, tip.counted):
        books.find("head", f"the head counts {tip.counted.rows} rows that nothing else witnesses, or sums others")


def _leads_to(followed: Followed, tip: Head, first_told: dict[Stream, int | None]) -> bool:
    """Each journal was opened once, by the name that the head has, before anything was told in it."""
    opened = {opening.stream: opening for opening in followed.openings}
    return (
        followed.end == (tip.sequence, tip.event_digest, tip.committed_at_millis)
        and len(opened) == len(followed.openings)
        and {stream: opening.journal_id for stream, opening in opened.items()}
        == {stream: at.journal_id for stream, at in tip.streams.items()}
        and all(opening.event <= (first_told[stream] or opening.event) for stream, opening in opened.items())
    )
