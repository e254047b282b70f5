"""Mined edges whose end is gone: which they are, and what a repair makes of them (views.md, derived edges)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from relatum.core.mined import MinedEdge, MinedEdges
from relatum.ledger.derived.edges import DerivedEdges
from relatum.store.partition import PartitionReader

PAGE = 1_000
SUPERSEDERS_MAX = 100


class Dangling(NamedTuple):
    """Edges with an end that is missing, deleted or superseded; `complete` where there are no others."""

    edges: tuple[MinedEdge, ...]
    complete: bool


class Repaired(NamedTuple):
    """What a repair did: edges led on to a superseder, each with what it was, and edges dropped."""

    moved: tuple[tuple[MinedEdge, MinedEdge], ...]
    dropped: tuple[MinedEdge, ...]


def dangling(edges: MinedEdges, partition: PartitionReader, limit: int) -> Dangling:
    """The first `limit` edges that dangle."""
    ends = _Ends(partition)
    found: list[MinedEdge] = []
    with edges.cut():
        for edge in _all(edges, partition.workspace_id):
            if not (ends.stands(edge.source_id) and ends.stands(edge.target_id)):
                if len(found) == limit:
                    return Dangling(tuple(found), False)
                found.append(edge)
    return Dangling(tuple(found), True)


def repair(edges: DerivedEdges, partition: PartitionReader, limit: int) -> Repaired:
    """Leads the first `limit` dangling edges on to the superseders of their ends, and drops those that have none."""
    ends = _Ends(partition)
    moved: list[tuple[MinedEdge, MinedEdge]] = []
    dropped: list[MinedEdge] = []
    with edges.cut():
        for edge in dangling(edges, partition, limit).edges:
            source, target = ends.successor(edge.source_id), ends.successor(edge.target_id)
            if source is None or target is None or source == target:
                dropped.append(edge)
            else:
                moved.append((edge, MinedEdge(source, edge.kind, target, edge.weight)))
        edges.change(partition.workspace_id, [*moved, *((edge, None) for edge in dropped)])
    return Repaired(tuple(moved), tuple(dropped))


def _all(edges: MinedEdges, workspace_id: str) -> Iterator[MinedEdge]:
    last: MinedEdge | None = None
    while page := edges.all(workspace_id, last, PAGE):
        yield from page
        last = page[-1]


class _Ends:
    """What has become of the ends of edges, each looked up once."""

    def __init__(self, partition: PartitionReader) -> None:
        self._partition = partition
        self._successors: dict[str, str | None] = {}

    def stands(self, record_id: str) -> bool:
        """Whether a record is retained and nobody has superseded it."""
        return self.successor(record_id) == record_id

    def successor(self, record_id: str) -> str | None:
        """The record itself, or whoever superseded it last; None where that one is gone."""
        if record_id not in self._successors:
            self._successors[record_id] = self._found(record_id)
        return self._successors[record_id]

    def _found(self, record_id: str) -> str | None:
        for _ in range(SUPERSEDERS_MAX):
            version = self._partition.record(record_id)
            if version is None:
                return None
            by = self._partition.standing(record_id).superseded_by
            if by is None:
                return None if version.meta.state == "deleted" else record_id
            record_id = by.record_id
        return None
