"""Records that should be looked at again (judgments.md, needs review)."""

from __future__ import annotations

from heapq import nsmallest
from typing import NamedTuple

from relatum import limits
from relatum.core.ancestry import own_failure
from relatum.core.answers.annotated import Coverage, NeedsReview, RecordToReview
from relatum.core.eligibility import Evaluator
from relatum.core.staleness import Staleness, staleness
from relatum.core.state import RecordVersion
from relatum.core.wire import Closed
from relatum.errors import Refused
from relatum.ledger.reads.records import payload_of, record_view
from relatum.ledger.reads.standings import Standings
from relatum.store.partition import PartitionReader

SCANNED_MAX = 10_000


class ReviewQueue(Closed, frozen=True, kw_only=True):
    """The most urgent records, and how many there are among those scanned."""

    records: tuple[RecordToReview, ...]
    total: int
    coverage: Coverage


class _Due(NamedTuple):
    order: tuple[bool, int, str]
    version: RecordVersion
    staleness: Staleness


def needs_review(partition: PartitionReader, now_millis: int, records_max: int) -> ReviewQueue:
    """Eligible, current records at or past their time to live, or refuted since: freshly refuted first, then oldest.

    The scan ends early where the dependency budget of the request runs out.
    """
    due: list[_Due] = []
    evaluator = Evaluator(partition, now_millis)
    scanned, complete = 0, True
    for version in partition.records():
        if scanned == SCANNED_MAX:
            complete = False
            break
        found = _staleness(partition, version, now_millis)
        try:
            if found is not None and evaluator.is_eligible(version):
                due.append(_Due((*found.order(now_millis), version.meta.record_id), version, found))
        except Refused:
            complete = False
            break
        scanned += 1
    standings = Standings(partition)
    records = tuple(_shown(partition, standings, one) for one in nsmallest(records_max, due, key=lambda one: one.order))
    return ReviewQueue(records=records, total=len(due), coverage=Coverage(scanned_records=scanned, complete=complete))


def _staleness(partition: PartitionReader, version: RecordVersion, now_millis: int) -> Staleness | None:
    meta = version.meta
    if own_failure(meta, now_millis) is not None:
        return None
    standing = partition.standing(meta.record_id)
    payload = payload_of(partition, meta) if standing.state == "current" else None
    if payload is None:
        return None
    return staleness(meta.created_at_millis, payload.category, standing, now_millis)


def why(partition: PartitionReader, version: RecordVersion, now_millis: int) -> NeedsReview | None:
    """Why a record should be looked at again, or None."""
    found = _staleness(partition, version, now_millis)
    return None if found is None else needs_review_view(found)


def needs_review_view(found: Staleness) -> NeedsReview:
    """That a record needs review, as answered."""
    return NeedsReview(
        baseline_at_millis=found.baseline_millis,
        refuted_at_millis=found.refuted_at_millis,
        escalated=found.escalated,
    )


def _shown(partition: PartitionReader, standings: Standings, due: _Due) -> RecordToReview:
    return RecordToReview(
        record=record_view(partition, due.version),
        standing=standings.of(due.version.meta.record_id),
        needs_review=needs_review_view(due.staleness),
    )


assert SCANNED_MAX >= limits.NEEDS_REVIEW_LIMIT_MAX
