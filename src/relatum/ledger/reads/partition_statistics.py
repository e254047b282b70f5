"""One bounded look over a partition, which health and overview share: its records, and what joins them.

Four tables are read, each in one scan: records and relations the newest first, standings, curated links. What counts is
what a reader could read: eligible records, and eligible relations of class memory between them at their present
revisions; a link counts while both its ends are eligible and neither is archived.

What always holds: no table is read further than its bound, and `coverage` names each bound that was met.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, Literal, NamedTuple, get_args

from relatum.core.ancestry import DependencyBudgetExhausted
from relatum.core.answers.survey import SurveyCoverage, SurveyStop
from relatum.core.eligibility import Evaluator
from relatum.core.kinds import REGISTRY
from relatum.core.relations import StoredRelation
from relatum.core.standings import Standing
from relatum.core.state import RecordVersion
from relatum.ledger.reads.judgment_scans import standings, waiting
from relatum.store.partition import PartitionReader

RECORDS_MAX: Final = 10_000
RELATIONS_MAX: Final = 20_000
LINKS_MAX: Final = 20_000
STANDINGS_MAX: Final = 10_000
PENDING_MAX: Final = 10_000

STOPS: Final[tuple[SurveyStop, ...]] = get_args(SurveyStop)
_UNTOUCHED: Final = Standing()


class Tie(NamedTuple):
    """That two records belong together: by a relation, or by a curated link."""

    source_id: str
    target_id: str
    kind: str
    layer: Literal["authored", "link"]


class Survey:
    """The records of a partition that a reader could read, and what joins them."""

    def __init__(self, partition: PartitionReader, now_millis: int) -> None:
        self.ties: dict[Tie, None] = {}
        self.relations: list[StoredRelation] = []
        self._partition = partition
        self._stops: set[SurveyStop] = set()
        self._scanned_relations = self._scanned_links = 0
        self._versions = dict(self._read_records())
        self._evaluator = Evaluator(_Scanned(partition, self._versions, "record_limit" not in self._stops), now_millis)
        self._standings, are_all = standings(partition, STANDINGS_MAX)
        if not are_all:
            self._stops.add("scan_limit")
        self.records = {one: version for one, version in self._versions.items() if self._is_eligible(version)}
        for relation in self._read_relations():
            self.relations.append(relation)
            given = relation.input
            self.ties[Tie(given.source.record_id, given.target.record_id, given.kind, "authored")] = None
        self.ties.update(dict.fromkeys(self._read_links()))

    @property
    def coverage(self) -> SurveyCoverage:
        """How much was looked at so far."""
        return SurveyCoverage(
            scanned_records=len(self._versions),
            scanned_relations=self._scanned_relations,
            scanned_links=self._scanned_links,
            complete=not self._stops,
            stop_reasons=tuple(stop for stop in STOPS if stop in self._stops),
        )

    def partners(self) -> dict[str, set[str]]:
        """With which others each record is joined, whichever end says so and however often."""
        found: dict[str, set[str]] = {one: set() for one in self.records}
        for tie in self.ties:
            found[tie.source_id].add(tie.target_id)
            found[tie.target_id].add(tie.source_id)
        return found

    def pending(self) -> tuple[int, int | None]:
        """How many pairs wait for a verdict whose ends are both active and current; since when the first has."""
        found = waiting(self._partition, self._is_fit, PENDING_MAX)
        if not found.complete:
            self._stops.add("scan_limit")
        return found.number, found.since_millis

    def _is_fit(self, record_id: str) -> bool:
        """Active and current; a record beyond those that were looked at counts as such."""
        version = self._versions.get(record_id)
        if version is None:
            return "record_limit" in self._stops
        return version.meta.state == "active" and self._standing(record_id).state == "current"

    def _is_eligible(self, version: RecordVersion) -> bool:
        try:
            return self._evaluator.is_eligible(version)
        except DependencyBudgetExhausted:
            self._stops.add("dependency_limit")
            return False

    def _standing(self, record_id: str) -> Standing:
        return self._standings.get(record_id, _UNTOUCHED)

    def _read_records(self) -> Iterator[tuple[str, RecordVersion]]:
        versions = self._partition.records(reverse=True)
        for version in islice(versions, RECORDS_MAX):
            yield version.meta.record_id, version
        if next(versions, None) is not None:
            self._stops.add("record_limit")

    def _read_relations(self) -> Iterator[StoredRelation]:
        versions = self._partition.relations(reverse=True)
        for version in islice(versions, RELATIONS_MAX):
            self._scanned_relations += 1
            if self._joins(version.relation):
                yield version.relation
        if next(versions, None) is not None:
            self._stops.add("scan_limit")

    def _joins(self, relation: StoredRelation) -> bool:
        given = relation.input
        if REGISTRY[given.kind].kind_class != "memory" or not relation.indexed:
            return False
        if given.source.record_id not in self.records or given.target.record_id not in self.records:
            return False
        try:
            return self._evaluator.relation_is_eligible(relation)
        except DependencyBudgetExhausted:
            self._stops.add("dependency_limit")
            return False

    def _read_links(self) -> Iterator[Tie]:
        links = self._partition.all_links()
        for link in islice(links, LINKS_MAX):
            self._scanned_links += 1
            ends = (link.source_id, link.target_id)
            if all(end in self.records and not self._standing(end).archived for end in ends):
                yield Tie(*ends, link.kind, "link")
        if next(links, None) is not None:
            self._stops.add("scan_limit")


class _Scanned:
    """Records as they were scanned; older ones, if there are any, are read."""

    def __init__(self, partition: PartitionReader, versions: dict[str, RecordVersion], are_all: bool) -> None:
        self._partition = partition
        self._versions = versions
        self._are_all = are_all

    def record(self, record_id: str) -> RecordVersion | None:
        known = self._versions.get(record_id)
        return self._partition.record(record_id) if known is None and not self._are_all else known
