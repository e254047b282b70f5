"""Whether what a record says can be relied upon: unverified, stale, or in conflict (views.md, status).

Computed on every read and never stored; there is no "verified". A derived record is as good as the worst of itself and
of what it was made from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from relatum import limits
from relatum.core import digests
from relatum.core.eligibility import Evaluator
from relatum.core.ids import Ref
from relatum.core.records import Payload, RecordMeta
from relatum.core.state import RecordVersion
from relatum.core.wire import Closed, Uuid
from relatum.errors import StorageInconsistency
from relatum.reads.records import payload_of
from relatum.store import index
from relatum.store.keys import Table
from relatum.store.partition import Direction, PartitionReader

Status = Literal["unverified", "stale", "conflict"]
RANK: dict[Status, int] = {"unverified": 0, "stale": 1, "conflict": 2}


_DIRECTIONS: tuple[Direction, ...] = (Table.OUTGOING, Table.INCOMING)


class StatusReason(Closed, frozen=True, kw_only=True):
    """Why a record has its status, and the record that causes it.

    `other_statement`: that record says something else of the same fact. `source_changed`: that record's source has
    another hash now. `made_stale`: that later record makes it out of date. `through` is the ancestor that all this is
    true of; null where it is the record itself.
    """

    status: Status
    cause: Literal["other_statement", "source_changed", "made_stale"]
    record_id: Uuid
    through: Uuid | None


class RecordStatus(Closed, frozen=True, kw_only=True):
    """The status of a record; null where it is absent or deleted. `contested_count`: partners that contradict it."""

    record_id: Uuid
    status: Status | None
    reasons: tuple[StatusReason, ...]
    missing_sources: tuple[Uuid, ...]
    contested_count: int


class _Own(NamedTuple):
    """What is wrong with one record, its ancestors apart."""

    status: Status
    causes: tuple[tuple[Literal["other_statement", "source_changed", "made_stale"], Status, str], ...]


class Statuses:
    """The statuses of records of one partition at one instant; what several of them share is looked at once."""

    def __init__(self, partition: PartitionReader, now_millis: int, current_sources: Mapping[str, str | None]) -> None:
        self._partition = partition
        self._evaluator = Evaluator(partition, now_millis)
        self._current_sources = current_sources
        self._own: dict[str, _Own] = {}

    def of(self, record_id: str) -> RecordStatus:
        """The status of one record."""
        version = self._partition.record(record_id)
        if version is None or version.meta.state == "deleted":
            return RecordStatus(record_id=record_id, status=None, reasons=(), missing_sources=(), contested_count=0)
        reasons: list[StatusReason] = []
        missing: dict[str, None] = {}
        worst: Status = "unverified"
        for ancestor_id in self._lineage(version, missing):
            own = self._of_itself(ancestor_id)
            if RANK[own.status] > RANK[worst]:
                worst = own.status
            through = None if ancestor_id == record_id else ancestor_id
            reasons += [
                StatusReason(status=status, cause=cause, record_id=by, through=through)
                for cause, status, by in own.causes
            ]
        return RecordStatus(
            record_id=record_id,
            status=worst,
            reasons=tuple(reasons),
            missing_sources=tuple(missing),
            contested_count=self._contested(version),
        )

    def is_stale(self, record_id: str) -> bool:
        """Whether a record is effectively stale: itself, or through what it was made from."""
        return any(reason.status == "stale" for reason in self.of(record_id).reasons)

    def _lineage(self, version: RecordVersion, missing: dict[str, None]) -> list[str]:
        """A record and its ancestors that are still there, nearest first; those that are not go to `missing`."""
        found = {version.meta.record_id: None}
        layer = [version.meta]
        for _ in range(limits.ANCESTRY_DEPTH_MAX):
            above: list[RecordMeta] = []
            for meta in layer:
                for source in meta.derivation.sources if meta.derivation else ():
                    ancestor = self._partition.record(source.record_id)
                    if ancestor is None or ancestor.meta.state == "deleted":
                        missing[source.record_id] = None
                    elif source.record_id not in found and len(found) <= limits.ANCESTRY_NODES_MAX:
                        found[source.record_id] = None
                        above.append(ancestor.meta)
            layer = above
        return list(found)

    def _of_itself(self, record_id: str) -> _Own:
        if record_id not in self._own:
            self._own[record_id] = self._judged(record_id)
        return self._own[record_id]

    def _judged(self, record_id: str) -> _Own:
        version = self._partition.record(record_id)
        payload = None if version is None else payload_of(self._partition, version.meta)
        if payload is None:
            return _Own("unverified", ())
        causes: list[tuple[Literal["other_statement", "source_changed", "made_stale"], Status, str]] = []
        causes += [("other_statement", "conflict", other) for other in self._other_statements(record_id, payload)]
        if self._source_has_changed(payload):
            causes.append(("source_changed", "stale", record_id))
        causes += [("made_stale", "stale", later) for later in self._stale_because(record_id)]
        worst: Status = "unverified"
        for _, status, _ in causes:
            worst = status if RANK[status] > RANK[worst] else worst
        return _Own(worst, tuple(causes))

    def _other_statements(self, record_id: str, payload: Payload) -> list[str]:
        """The records that say something else of the same fact, or the same by another state of their source."""
        if payload.fact_key is None:
            return []
        said = dict(self._partition.facts(payload.fact_key))
        own = digests.said_digest(payload.content, payload.provenance.source_hash if payload.provenance else None)
        if said.get(record_id) != own:
            raise StorageInconsistency("a record is not listed with what it says of its fact")
        return [other for other, statement in said.items() if other != record_id and statement != own]

    def _source_has_changed(self, payload: Payload) -> bool:
        origin = payload.provenance
        if origin is None or origin.source_id not in self._current_sources:
            return False
        return self._current_sources[origin.source_id] != origin.source_hash

    def _stale_because(self, record_id: str) -> list[str]:
        marks = self._partition.standing(record_id).stale_marks
        return [mark.because.record_id for mark in marks if not self._partition.is_erased(mark.because.record_id)]

    def _contested(self, version: RecordVersion) -> int:
        """Distinct partners of authored, eligible `contradicts` relations at the current revision."""
        partners: set[str] = set()
        end = Ref(record_id=version.meta.record_id, revision=version.meta.revision)
        for direction in _DIRECTIONS:
            for neighbour in index.neighbours(self._partition, direction, end):
                if neighbour.kind != "contradicts" or neighbour.ref.record_id in partners:
                    continue
                relation = index.indexed_relation(self._partition, neighbour.relation_id)
                if self._evaluator.relation_is_eligible(relation.relation):
                    partners.add(neighbour.ref.record_id)
        return len(partners)
