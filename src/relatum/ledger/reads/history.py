"""The revisions of a record or a relation, the newest first (console.md, added routes).

Each is what `revision` answers of it. A page is bounded by its number of revisions alone: so many of the greatest
records are below the bytes of a page.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from relatum import limits
from relatum.core.answers.records import RecordHistory
from relatum.core.answers.relations import RelationHistory
from relatum.core.answers.review import HistoryStop, RecordHistoryPage, RelationHistoryPage
from relatum.errors import Refusal, Refused, missing
from relatum.ledger.reads import records, relations
from relatum.store.partition import PartitionReader

Revision = TypeVar("Revision")

assert limits.HISTORY_PAGE_MAX * limits.RECORD_BYTES_MAX <= limits.PAGE_BYTES_MAX
assert limits.HISTORY_PAGE_MAX * limits.RELATION_BYTES_MAX <= limits.PAGE_BYTES_MAX


def record_history(
    partition: PartitionReader, record_id: str, before_revision: int | None, limit: int | None
) -> RecordHistoryPage | Refusal:
    """At most `limit` (1 to 50, default 20) revisions of a record below `before_revision`. 404 if it is absent."""
    version = partition.record(record_id)
    if version is None:
        return missing()

    def at(number: int) -> RecordHistory | Refusal:
        return records.revision(partition, record_id, number)

    try:
        found, following, stop = _page(at, version.meta.revision, before_revision, limit)
    except Refused as refused:
        return refused.refusal
    return RecordHistoryPage(history=found, next_before_revision=following, stop_reason=stop)


def relation_history(
    partition: PartitionReader, relation_id: str, before_revision: int | None, limit: int | None
) -> RelationHistoryPage | Refusal:
    """At most `limit` (1 to 50, default 20) revisions of a relation below `before_revision`. 404 if it is absent."""
    version = partition.relation(relation_id)
    if version is None:
        return missing()

    def at(number: int) -> RelationHistory | Refusal:
        return relations.revision(partition, relation_id, number)

    try:
        found, following, stop = _page(at, version.relation.revision, before_revision, limit)
    except Refused as refused:
        return refused.refusal
    return RelationHistoryPage(history=found, next_before_revision=following, stop_reason=stop)


def _page(
    at: Callable[[int], Revision | Refusal], newest: int, before: int | None, limit: int | None
) -> tuple[tuple[Revision, ...], int | None, HistoryStop]:
    """The revisions, the number that the next page begins below, and why this one ends."""
    first = newest if before is None else min(newest, before - 1)
    last = max(first - (limit or limits.HISTORY_PAGE_DEFAULT), 0)
    found: list[Revision] = []
    for number in range(first, last, -1):
        one = at(number)
        if isinstance(one, Refusal):
            raise Refused(one)
        found.append(one)
    return tuple(found), last + 1 if last else None, "record_limit" if last else "exhausted"
