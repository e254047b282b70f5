"""One bounded look over all records of a partition, and the links among them: what health, overview and context share.

What always holds: no more than `RECORDS_MAX` records are looked at, newest first, and whoever asks is told whether that
was all; a record's relations are counted by its completeness header and read only where kinds matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from relatum.core.ids import Ref
from relatum.core.kinds import REGISTRY
from relatum.core.links import StoredLink
from relatum.core.records import RecordMeta
from relatum.core.wire import Closed
from relatum.errors import StorageInconsistency
from relatum.store import index
from relatum.store.keys import Table
from relatum.store.partition import Direction, PartitionReader

RECORDS_MAX = 10_000
ENTRIES_MAX = 50_000

_DIRECTIONS: tuple[Direction, ...] = (Table.OUTGOING, Table.INCOMING)


class SurveyCoverage(Closed, frozen=True, kw_only=True):
    """How much was looked at; `complete` where nothing was left out."""

    scanned_records: int
    adjacency_entries_examined: int
    complete: bool


class Tie(NamedTuple):
    """That two records belong together: by a relation of class memory, or by a curated link."""

    source_id: str
    target_id: str
    kind: str
    authored: bool


class Survey:
    """The records looked at, and what joins them. `ties` grows as records are asked for theirs."""

    def __init__(self, partition: PartitionReader) -> None:
        self._partition = partition
        self.metas: dict[str, RecordMeta] = {}
        self.examined = 0
        self._linked: set[str] = set()
        """Records that were asked for their links."""
        self._told_of: dict[str, set[str]] = {}
        """Which of them have told of a link to a record."""
        self.complete = True
        for version in partition.records(reverse=True):
            if len(self.metas) == RECORDS_MAX:
                self.complete = False
                break
            if version.meta.state == "active":
                self.metas[version.meta.record_id] = version.meta

    @property
    def coverage(self) -> SurveyCoverage:
        """How much was looked at so far."""
        return SurveyCoverage(
            scanned_records=len(self.metas), adjacency_entries_examined=self.examined, complete=self.complete
        )

    def degree(self, record_id: str) -> int:
        """How many relations of any class and curated links a record has: one read of its header, one of its links."""
        meta = self.metas[record_id]
        header = self._partition.completeness(Ref(record_id=record_id, revision=meta.revision))
        relations = 0 if header is None else header.outgoing_count + header.incoming_count
        return relations + len(self._links_of(record_id))

    def ties(self, record_id: str, directions: tuple[Direction, ...] = _DIRECTIONS) -> Iterator[Tie]:
        """What joins a record to others that were looked at, at their present revisions; links both ways round."""
        meta = self.metas[record_id]
        end = Ref(record_id=record_id, revision=meta.revision)
        header = self._partition.completeness(end)
        if header is not None and header.outgoing_count + header.incoming_count:
            yield from self._relations(end, directions)
        for other_id, link in self._links_of(record_id).items():
            if other_id in self.metas and not self._archived(record_id, other_id):
                yield Tie(link.source_id, link.target_id, link.kind, authored=False)

    def _relations(self, end: Ref, directions: tuple[Direction, ...]) -> Iterator[Tie]:
        for direction in directions:
            for neighbour in index.neighbours(self._partition, direction, end):
                if self.examined == ENTRIES_MAX:
                    self.complete = False
                    return
                self.examined += 1
                kind = next((name for name in REGISTRY if name == neighbour.kind), None)
                other = self.metas.get(neighbour.ref.record_id)
                if kind is None or REGISTRY[kind].kind_class != "memory":
                    continue
                if other is None or other.revision != neighbour.ref.revision:
                    continue
                outgoing = direction is Table.OUTGOING
                source, target = (end.record_id, other.record_id) if outgoing else (other.record_id, end.record_id)
                yield Tie(source, target, kind, authored=True)

    def _links_of(self, record_id: str) -> dict[str, StoredLink]:
        """A record's links by their other ends. Of two ends that were asked, both know of a link or neither does."""
        found = dict(self._partition.links_of(record_id))
        if record_id not in self._linked:
            if self._told_of.get(record_id, set()) != {other_id for other_id in found if other_id in self._linked}:
                raise StorageInconsistency("a link lies under one of its ends alone")
            self._linked.add(record_id)
            for other_id in found:
                self._told_of.setdefault(other_id, set()).add(record_id)
        return found

    def _archived(self, *record_ids: str) -> bool:
        return any(self._partition.standing(one).archived for one in record_ids)
