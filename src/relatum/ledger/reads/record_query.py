"""Pages of records: those eligible now, for readers; all retained ones with the verdict on each, for reviewers.

Implements `records/query` (records.md, reads), `records/retained` (console.md) and the company's `records/query`
(company.md).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Generic, NamedTuple

from relatum.core.ancestry import own_failure
from relatum.core.answers.company import CompanyRecordEntry, CompanyRecordPage
from relatum.core.answers.pages import StopReason
from relatum.core.answers.records import Record, RecordPage
from relatum.core.answers.review import RetainedEntry, RetainedPage
from relatum.core.eligibility import Evaluator
from relatum.core.queries import CompanyRecordFilter, RecordFilter, RetainedFilter
from relatum.core.records import Payload
from relatum.core.state import RecordVersion
from relatum.errors import Refusal, Refused, StorageInconsistency, invalid
from relatum.ledger.reads.cursor import Cursors
from relatum.ledger.reads.filters import RecordMatch, RetainedMatch
from relatum.ledger.reads.pagination import Entry, Gathered, Select, gather
from relatum.ledger.reads.records import assembled, payload_of
from relatum.ledger.reads.standings import Standings
from relatum.store.partition import PartitionReader


def query(partition: PartitionReader, now_millis: int, store_key: bytes, wanted: RecordFilter) -> RecordPage | Refusal:
    """A page of eligible records. 400 `invalid_request` for an unsound filter or a cursor of another query."""
    problem = wanted.problem()
    if problem is not None:
        return invalid(problem)
    evaluator, match = Evaluator(partition, now_millis), RecordMatch(wanted)

    def eligible(version: RecordVersion) -> Callable[[], Record] | None:
        """Cheap rules first: own state, the kept part, the content, then the walk over the sources."""
        meta = version.meta
        if own_failure(meta, now_millis) is not None or not match.facts(meta):
            return None
        payload = payload_of(partition, meta)
        if not match.payload(payload) or not evaluator.is_eligible(version):
            return None
        return partial(assembled, partition, meta, payload)

    cursors = Cursors(store_key, partition.workspace_id, "records/query", wanted)
    try:
        page = _gathered(partition, cursors, wanted, eligible)
    except Refused as refused:
        return refused.refusal
    return RecordPage(
        records=page.entries,
        evaluated_at_millis=now_millis,
        scanned_records=page.scanned,
        record_bytes=page.stored_bytes,
        dependency_work=evaluator.work,
        stop_reason=page.stop_reason,
        next_cursor=None if page.last_id is None else cursors.at(page.last_id),
    )


class ActivePage(NamedTuple, Generic[Entry]):
    """A page of what was made of retained active records."""

    entries: tuple[Entry, ...]
    scanned: int
    stop_reason: StopReason
    next_cursor: str | None


def active(
    partition: PartitionReader, store_key: bytes, wanted: RecordFilter, make: Callable[[str], Entry]
) -> ActivePage[Entry]:
    """A page of retained active records that agree with a sound filter, those with a failed ancestry too.

    `make` makes an entry of an id. Raises Refused (400) for a cursor of another query.
    """
    match = RecordMatch(wanted)

    def select(version: RecordVersion) -> Callable[[], Entry] | None:
        if version.meta.state != "active" or not match.facts(version.meta):
            return None
        agrees = match.payload(payload_of(partition, version.meta))
        return partial(make, version.meta.record_id) if agrees else None

    cursors = Cursors(store_key, partition.workspace_id, "records/status", wanted)
    page = _gathered(partition, cursors, wanted, select)
    next_cursor = None if page.last_id is None else cursors.at(page.last_id)
    return ActivePage(page.entries, page.scanned, page.stop_reason, next_cursor)


def company_query(
    partition: PartitionReader, now_millis: int, store_key: bytes, wanted: CompanyRecordFilter
) -> CompanyRecordPage | Refusal:
    """A page of retained records, or of those eligible now.

    400 `invalid_request` for an unsound filter or a cursor of another query.
    """
    found = _retained(partition, now_millis, store_key, wanted, "company/records/query", wanted.view == "current")
    if isinstance(found, Refusal):
        return found
    return CompanyRecordPage(
        entries=tuple(
            CompanyRecordEntry(record=entry.record, eligibility=entry.eligibility) for entry in found.entries
        ),
        evaluated_at_millis=found.evaluated_at_millis,
        scanned_records=found.scanned_records,
        record_bytes=found.record_bytes,
        dependency_work=found.dependency_work,
        stop_reason=found.stop_reason,
        next_cursor=found.next_cursor,
    )


def retained(
    partition: PartitionReader, now_millis: int, store_key: bytes, wanted: RetainedFilter
) -> RetainedPage | Refusal:
    """A page of retained records in whatever state, each with its standing and the verdict on it.

    400 `invalid_request` for an unsound filter or a cursor of another query.
    """
    return _retained(partition, now_millis, store_key, wanted, "records/retained", eligible_only=False)


def _retained(
    partition: PartitionReader,
    now_millis: int,
    store_key: bytes,
    wanted: RetainedFilter,
    route: str,
    eligible_only: bool,
) -> RetainedPage | Refusal:
    problem = wanted.problem()
    if problem is not None:
        return invalid(problem)
    evaluator, match, standings = Evaluator(partition, now_millis), RetainedMatch(wanted), Standings(partition)

    def entry(version: RecordVersion, payload: Payload | None) -> RetainedEntry:
        return RetainedEntry(
            record=assembled(partition, version.meta, payload),
            standing=standings.of(version.meta.record_id),
            eligibility=evaluator.explain_record(version),
        )

    def select(version: RecordVersion) -> Callable[[], RetainedEntry] | None:
        """Cheap rules first: the kept part, the content, the standing, then the walk over the sources."""
        meta = version.meta
        if not match.facts(meta) or (eligible_only and own_failure(meta, now_millis) is not None):
            return None
        payload = payload_of(partition, meta)
        if not match.payload(payload) or (match.asks_standing and not match.standing(standings.of(meta.record_id))):
            return None
        if not eligible_only and not match.asks_verdict:
            return partial(entry, version, payload)
        made = entry(version, payload)
        agrees = match.verdict(made.eligibility) and (made.eligibility.eligible or not eligible_only)
        return (lambda: made) if agrees else None

    cursors = Cursors(store_key, partition.workspace_id, route, wanted)
    try:
        page = _gathered(partition, cursors, wanted, select)
    except Refused as refused:
        return refused.refusal
    return RetainedPage(
        entries=page.entries,
        evaluated_at_millis=now_millis,
        scanned_records=page.scanned,
        record_bytes=page.stored_bytes,
        dependency_work=evaluator.work,
        stop_reason=page.stop_reason,
        next_cursor=None if page.last_id is None else cursors.at(page.last_id),
    )


def _gathered(
    partition: PartitionReader, cursors: Cursors, wanted: RecordFilter, select: Select[RecordVersion, Entry]
) -> Gathered[Entry]:
    return gather(
        _candidates(partition, cursors.after(), wanted),
        lambda version: version.meta.record_id,
        select,
        entries_max=wanted.entries_max,
        scanned_max=wanted.scanned_max,
    )


def _candidates(partition: PartitionReader, after: str | None, wanted: RecordFilter) -> Iterator[RecordVersion]:
    """The records to look at, in the order that is wanted: those of one source by its index, or else all."""
    if wanted.source_id is None:
        yield from partition.records(after, reverse=wanted.newest_first)
        return
    for record_id in partition.of_source(wanted.source_id, after, reverse=wanted.newest_first):
        version = partition.record(record_id)
        if version is None:
            raise StorageInconsistency("a record of a source is missing")
        yield version
