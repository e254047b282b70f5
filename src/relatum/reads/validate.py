"""The statuses of many records: of some by id or filter, and a check of all (views.md, status)."""

from __future__ import annotations

from typing import NamedTuple

from relatum.core.view_queries import StatusQuery, ValidateQuery
from relatum.errors import Refusal, Refused, invalid
from relatum.reads import record_query
from relatum.reads.records import payload_of
from relatum.reads.status import RecordStatus, Statuses
from relatum.store.partition import PartitionReader

SCANNED_MAX = 10_000


class StatusPage(NamedTuple):
    """Statuses, and where a filter goes on."""

    statuses: tuple[RecordStatus, ...]
    next_cursor: str | None


class Validation(NamedTuple):
    """What a check has found; `complete` where it has looked at every record."""

    checked: int
    stale_ids: tuple[str, ...]
    conflict_ids: tuple[str, ...]
    complete: bool


def statuses(
    partition: PartitionReader, now_millis: int, store_key: bytes, wanted: StatusQuery
) -> StatusPage | Refusal:
    """The statuses of records named by id, or of a page of retained active records that agree with a filter."""
    problem = wanted.problem()
    if problem is not None:
        return invalid(problem)
    known = Statuses(partition, now_millis, wanted.sources)
    try:
        if wanted.record_ids is not None:
            return StatusPage(tuple(map(known.of, wanted.record_ids)), None)
        assert wanted.filter is not None
        page = record_query.active_ids(partition, store_key, wanted.filter)
        return StatusPage(tuple(map(known.of, page.record_ids)), page.next_cursor)
    except Refused as refused:
        return refused.refusal


def validate(partition: PartitionReader, now_millis: int, wanted: ValidateQuery) -> Validation | Refusal:
    """Looks at the newest records, those of one source alone where one is named."""
    problem = wanted.problem()
    if problem is not None:
        return invalid(problem)
    hashes: dict[str, str | None] = {}
    if wanted.source_id is not None and wanted.current_source_hash is not None:
        hashes = {wanted.source_id: wanted.current_source_hash}
    known = Statuses(partition, now_millis, hashes)
    checked, complete = 0, True
    stale: list[str] = []
    conflicts: list[str] = []
    try:
        for scanned, version in enumerate(partition.records(reverse=True)):
            if scanned == SCANNED_MAX:
                complete = False
                break
            payload = payload_of(partition, version.meta)
            source = payload.provenance.source_id if payload and payload.provenance else None
            if payload is None or wanted.source_id not in (None, source):
                continue
            checked += 1
            found = {reason.status for reason in known.of(version.meta.record_id).reasons}
            if "stale" in found:
                stale.append(version.meta.record_id)
            if "conflict" in found:
                conflicts.append(version.meta.record_id)
    except Refused as refused:
        return refused.refusal
    return Validation(checked, tuple(stale), tuple(conflicts), complete)
