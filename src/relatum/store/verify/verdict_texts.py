"""What verdicts say in words: there as long as both ends of the verdict are, as the event keeps the digest of it."""

from __future__ import annotations

from relatum.core import digests
from relatum.core.events import JudgmentEvent
from relatum.core.records import Proof
from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.keys import Table
from relatum.store.partition import PartitionReader
from relatum.store.verify.audit import Audit
from relatum.store.verify.merge_scan import Site
from relatum.store.verify.prior_state import asserted, is_erased


def check_words(site: Site, own: bytes) -> None:
    """Words lie under the number of an event that keeps their digest."""
    (stored,) = site.tables
    body = stored.take(own)
    if body is None:
        return
    event = site.reader.event(int.from_bytes(own, "big"))
    kept = event.consequences.words if isinstance(event, JudgmentEvent) and event.consequences else None
    rows.WORDS.decode(body)
    canonical = rows.rest_of(body)
    if kept != Proof(digest=digests.stored_words_digest(canonical), length=len(canonical)):
        site.find(Table.WORDS, f"the words of {own.hex()} are not those that its event keeps the digest of")


def check_said(event: JudgmentEvent, reader: PartitionReader, audit: Audit) -> None:
    """The words of a verdict are there unless one of its ends was deleted, by now."""
    if event.receipt is None:
        raise StorageInconsistency("words of a verdict that was not given")
    given = asserted(reader, event.receipt.relation_id).relation.input
    erased = is_erased(reader, given.source.record_id) or is_erased(reader, given.target.record_id)
    is_there = reader.reader.get(reader.keys.words(event.sequence)) is not None
    if erased and is_there:
        audit.find(f"the words of event {event.sequence} are left of a verdict on a record that was deleted")
    elif not erased and not is_there:
        audit.find(f"the words of event {event.sequence} are missing")
