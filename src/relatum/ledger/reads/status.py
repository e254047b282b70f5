"""Whether what a record says can be relied upon: unverified, stale, or in conflict (views.md, status).

Computed on every read and never stored; there is no "verified". A derived record is as good as the worst of itself and
of what it was made from.

What always holds: what several records of a request share is looked at once; entries of facts and of indexes are
counted; where their bound is met, each status says itself which of its members may fall short.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from relatum.core import digests
from relatum.core.ancestry import DependencyBudgetExhausted
from relatum.core.answers.views import Cause, RecordStatus, Short, Status, StatusCoverage, StatusReason
from relatum.core.eligibility import Evaluator
from relatum.core.ids import Ref
from relatum.core.records import Payload, RecordMeta
from relatum.errors import StorageInconsistency
from relatum.ledger.reads.lineage import lineage
from relatum.ledger.reads.records import payload_of
from relatum.ledger.reads.standings import Standings
from relatum.store import adjacency
from relatum.store.keys import Table
from relatum.store.partition import Direction, PartitionReader

RANK: Final[dict[Status, int]] = {"unverified": 0, "stale": 1, "conflict": 2}
MEANS: Final[dict[Cause, Status]] = {
    "other_statement": "conflict",
    "source_changed": "stale",
    "made_stale": "stale",
}
REASONS_MAX: Final = 100
FACT_ENTRIES_MAX: Final = 20_000
INDEX_ENTRIES_MAX: Final = 20_000
_DIRECTIONS: Final[tuple[Direction, ...]] = (Table.OUTGOING, Table.INCOMING)


class _Said(NamedTuple):
    """What the records of one fact say, as far as it was read."""

    by: dict[str, bytes]
    statements: frozenset[bytes]
    complete: bool


class _Contested(NamedTuple):
    """How many records contradict one, and whether all of them could be counted."""

    number: int
    complete: bool


class Statuses:
    """The statuses of records of one partition at one instant. Raises Refused (400) over the dependency budget."""

    def __init__(self, partition: PartitionReader, now_millis: int, current_sources: Mapping[str, str | None]) -> None:
        self._partition = partition
        self._evaluator = Evaluator(partition, now_millis)
        self._partners = Evaluator(partition, now_millis)
        self._standings = Standings(partition)
        self._current_sources = current_sources
        self._facts: dict[str, _Said] = {}
        self._own: dict[str, tuple[StatusReason, ...]] = {}
        self._cut: set[str] = set()
        """Records of which not every reason is known."""
        self._fact_entries = self._index_entries = 0
        self._complete = True

    @property
    def coverage(self) -> StatusCoverage:
        """How much was looked at so far."""
        return StatusCoverage(
            fact_entries_examined=self._fact_entries,
            adjacency_entries_examined=self._index_entries,
            dependency_work=self._evaluator.work,
            complete=self._complete,
        )

    def of(self, record_id: str) -> RecordStatus:
        """The status of one record."""
        version = self._evaluator.record(record_id)
        if version is None or version.meta.state == "deleted":
            return RecordStatus(
                record_id=record_id,
                status=None,
                standing=None,
                reasons=(),
                missing_sources=(),
                contested_count=0,
                incomplete=(),
            )
        found = lineage(version.meta, self._ancestor)
        reasons = [reason for member in found.members for reason in self._reasons(member, record_id)]
        worst: Status = max((reason.status for reason in reasons), key=RANK.__getitem__, default="unverified")
        contested = self._contested(version.meta.content)
        return RecordStatus(
            record_id=record_id,
            status=worst,
            standing=self._standings.of(record_id),
            reasons=tuple(reasons[:REASONS_MAX]),
            missing_sources=found.missing,
            contested_count=contested.number,
            incomplete=tuple(self._short(found.members, worst, len(reasons), contested)),
        )

    def _short(
        self, members: tuple[RecordMeta, ...], worst: Status, reasons: int, contested: _Contested
    ) -> Iterator[Short]:
        """The members of a status that may fall short of what is there."""
        cut = not self._cut.isdisjoint(member.record_id for member in members)
        if cut and worst != "conflict":  # which nothing is worse than
            yield "status"
        if cut or reasons > REASONS_MAX:
            yield "reasons"
        if not contested.complete:
            yield "contested_count"

    def is_stale(self, record_id: str) -> bool:
        """Whether a record is effectively stale by marks: itself, or through what it was made from."""
        version = self._evaluator.record(record_id)
        members = () if version is None else lineage(version.meta, self._ancestor).members
        return any(any(self._made_stale(member.record_id, None)) for member in members)

    def _ancestor(self, record_id: str) -> RecordMeta | None:
        version = self._evaluator.dependencies.look_up(record_id)
        return None if version is None else version.meta

    def _reasons(self, member: RecordMeta, record_id: str) -> Iterator[StatusReason]:
        """What is true of a record itself, or of an ancestor of it, as a reason for its status."""
        known = self._own.get(member.record_id)
        if known is None:
            reasons = self._own_reasons(member)
            known = self._own[member.record_id] = tuple(islice(reasons, REASONS_MAX))
            if next(reasons, None) is not None:
                self._cut.add(member.record_id)
        through = None if member.record_id == record_id else member.record_id
        return (
            StatusReason(
                status=one.status, cause=one.cause, record_id=one.record_id, confidence=one.confidence, through=through
            )
            for one in known
        )

    def _own_reasons(self, meta: RecordMeta) -> Iterator[StatusReason]:
        payload = payload_of(self._partition, meta)
        if payload is None:
            return
        yield from self._source_changed(meta.record_id, payload)
        yield from self._made_stale(meta.record_id, payload.confidence)
        yield from self._other_statements(meta.record_id, payload)

    def _source_changed(self, record_id: str, payload: Payload) -> Iterator[StatusReason]:
        origin = payload.provenance
        if origin is None or origin.source_id not in self._current_sources:
            return
        if self._current_sources[origin.source_id] != origin.source_hash:
            yield _reason("source_changed", record_id)

    def _made_stale(self, record_id: str, own_confidence: float | None) -> Iterator[StatusReason]:
        for mark in self._partition.standing(record_id).stale_marks:
            later = self._evaluator.record(mark.because.record_id)
            if later is not None and later.meta.state == "active":
                stated = [one for one in (mark.confidence, own_confidence) if one is not None]
                yield _reason("made_stale", mark.because.record_id, min(stated, default=None))

    def _other_statements(self, record_id: str, payload: Payload) -> Iterator[StatusReason]:
        """The records that say something else of the same fact, or the same by another state of their source."""
        if payload.fact_key is None:
            return
        said, own = self._said(payload.fact_key), said_by(payload)
        if not said.complete:
            self._cut.add(record_id)
        if said.by.get(record_id, own) != own or (said.complete and record_id not in said.by):
            raise StorageInconsistency("a record is not listed with what it says of its fact")
        if said.statements - {own}:
            for other, statement in said.by.items():
                if statement != own and other != record_id:
                    yield _reason("other_statement", other)

    def _said(self, fact: str) -> _Said:
        if fact not in self._facts:
            entries = self._partition.facts(fact)
            by = dict(islice(entries, FACT_ENTRIES_MAX - self._fact_entries))
            self._fact_entries += len(by)
            complete = next(entries, None) is None
            self._complete &= complete
            self._facts[fact] = _Said(by, frozenset(by.values()), complete)
        return self._facts[fact]

    def _contested(self, content: Ref) -> _Contested:
        """Distinct partners of authored, eligible `contradicts` relations at the current content."""
        partners: set[str] = set()
        try:
            complete = all(self._read_index(direction, content, partners) for direction in _DIRECTIONS)
        except DependencyBudgetExhausted:
            complete = False
        self._complete &= complete
        return _Contested(len(partners), complete)

    def _read_index(self, direction: Direction, content: Ref, partners: set[str]) -> bool:
        """Adds the partners that one index tells of; whether it could be read to its end."""
        for neighbour in adjacency.neighbours(self._partition, direction, content):
            if self._index_entries == INDEX_ENTRIES_MAX:
                return False
            self._index_entries += 1
            if neighbour.kind == "contradicts" and neighbour.ref.record_id not in partners:
                relation = self._partition.indexed_relation(neighbour.relation_id)
                if self._partners.relation_is_eligible(relation.relation):
                    partners.add(neighbour.ref.record_id)
        return True


def said_by(payload: Payload) -> bytes:
    """What a record says of its fact, and by which state of its source, as the list of its fact has it."""
    return digests.said_digest(payload.content, payload.provenance.source_hash if payload.provenance else None)


def _reason(cause: Cause, record_id: str, confidence: float | None = None) -> StatusReason:
    return StatusReason(status=MEANS[cause], cause=cause, record_id=record_id, confidence=confidence, through=None)
