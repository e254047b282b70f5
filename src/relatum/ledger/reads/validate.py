"""The statuses of many records: of some by id or filter, and a check of all (views.md, status).

A check reads three tables in one scan each: records, what they say of facts, and standings. Contents are read only
where a source is asked for, and of records that share a fact with others.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple, get_args

from relatum.core.answers.pages import StopReason
from relatum.core.answers.views import RecordStatus, StatusCoverage, ValidateCoverage, ValidateStop
from relatum.core.records import RecordMeta
from relatum.core.view_queries import StatusQuery, ValidateQuery
from relatum.errors import Refusal, Refused, StorageInconsistency, invalid
from relatum.ledger.reads import record_query
from relatum.ledger.reads.judgment_scans import standings
from relatum.ledger.reads.lineage import lineage
from relatum.ledger.reads.records import payload_of
from relatum.ledger.reads.status import Statuses, said_by
from relatum.store.partition import PartitionReader

RECORDS_MAX: Final = 10_000
FACTS_MAX: Final = 50_000
STANDINGS_MAX: Final = 10_000
ANCESTORS_MAX: Final = 4_096
"""How many records older than those scanned are read, because newer ones were made from them."""

STOPS: Final[tuple[ValidateStop, ...]] = get_args(ValidateStop)


class StatusPage(NamedTuple):
    """Statuses, how much was looked at for them, and where a filter goes on."""

    statuses: tuple[RecordStatus, ...]
    coverage: StatusCoverage
    scanned: int
    stop_reason: StopReason
    next_cursor: str | None


class Validation(NamedTuple):
    """What a check has found, newest first."""

    checked: int
    stale_ids: tuple[str, ...]
    conflict_ids: tuple[str, ...]
    coverage: ValidateCoverage


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
            found = tuple(map(known.of, wanted.record_ids))
            return StatusPage(found, known.coverage, len(found), "exhausted", None)
        assert wanted.filter is not None
        page = record_query.active(partition, store_key, wanted.filter, known.of)
        return StatusPage(page.entries, known.coverage, page.scanned, page.stop_reason, page.next_cursor)
    except Refused as refused:
        return refused.refusal


def validate(partition: PartitionReader, wanted: ValidateQuery) -> Validation | Refusal:
    """Looks at the newest records, those of one source alone where one is named."""
    problem = wanted.problem()
    return _Check(partition, wanted).validation() if problem is None else invalid(problem)


class _Check:
    """One check of a partition."""

    def __init__(self, partition: PartitionReader, wanted: ValidateQuery) -> None:
        self._partition = partition
        self._wanted = wanted
        self._stops: set[ValidateStop] = set()
        self._metas: dict[str, RecordMeta | None] = dict(self._read_metas())
        self._scanned = len(self._metas)
        self._conflicting = self._read_conflicts()
        self._stale = set(self._read_marks())

    def validation(self) -> Validation:
        active = [meta for meta in list(self._metas.values()) if meta is not None and meta.state == "active"]
        checked = [meta for meta in active if self._is_asked_for(meta)]
        lines = [(meta.record_id, [one.record_id for one in lineage(meta, self._meta).members]) for meta in checked]
        return Validation(
            checked=len(checked),
            stale_ids=tuple(own for own, line in lines if not self._stale.isdisjoint(line)),
            conflict_ids=tuple(own for own, line in lines if not self._conflicting.isdisjoint(line)),
            coverage=ValidateCoverage(
                scanned_records=self._scanned,
                complete=not self._stops,
                stop_reasons=tuple(stop for stop in STOPS if stop in self._stops),
            ),
        )

    def _is_asked_for(self, meta: RecordMeta) -> bool:
        """Whether a record is of the source that was named, if one was; if its hash was named too, it is compared."""
        wanted = self._wanted
        if wanted.source_id is None:
            return True
        payload = payload_of(self._partition, meta)
        origin = None if payload is None else payload.provenance
        if origin is None or origin.source_id != wanted.source_id:
            return False
        if wanted.current_source_hash not in (None, origin.source_hash):
            self._stale.add(meta.record_id)
        return True

    def _meta(self, record_id: str) -> RecordMeta | None:
        if record_id not in self._metas:
            if len(self._metas) == self._scanned + ANCESTORS_MAX:
                self._stops.add("scan_limit")
                return None
            version = self._partition.record(record_id)
            self._metas[record_id] = None if version is None else version.meta
        return self._metas[record_id]

    def _read_metas(self) -> Iterator[tuple[str, RecordMeta]]:
        versions = self._partition.records(reverse=True)
        for version in islice(versions, RECORDS_MAX):
            yield version.meta.record_id, version.meta
        if next(versions, None) is not None:
            self._stops.add("record_limit")

    def _read_conflicts(self) -> set[str]:
        """The records of each fact of which not all say the same."""
        said: dict[bytes, list[tuple[str, bytes]]] = defaultdict(list)
        facts = self._partition.all_facts()
        for fact, record_id, statement in islice(facts, FACTS_MAX):
            said[fact].append((record_id, statement))
        if next(facts, None) is not None:
            self._stops.add("scan_limit")
        several = [group for group in said.values() if len(group) > 1]
        for record_id, statement in (one for group in several for one in group):
            self._check_statement(record_id, statement)
        conflicting = (group for group in several if len({statement for _, statement in group}) > 1)
        return {record_id for group in conflicting for record_id, _ in group}

    def _check_statement(self, record_id: str, statement: bytes) -> None:
        """What decides over conflicts is what the records themselves say."""
        meta = self._meta(record_id)
        payload = None if meta is None else payload_of(self._partition, meta)
        if meta is not None and (payload is None or said_by(payload) != statement):
            raise StorageInconsistency("a record is not listed with what it says of its fact")

    def _read_marks(self) -> Iterator[str]:
        """The records that a later one makes stale."""
        found, are_all = standings(self._partition, STANDINGS_MAX)
        if not are_all:
            self._stops.add("scan_limit")
        for record_id, standing in found.items():
            later = (self._meta(mark.because.record_id) for mark in standing.stale_marks)
            if any(meta is not None and meta.state == "active" for meta in later):
                yield record_id
