"""What the two graph walks answer (graphs.md)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta

from relatum.core.answers.base import Answer, Open
from relatum.core.answers.eligibility import DependencyWork
from relatum.core.answers.records import Record
from relatum.core.ids import Ref, Scope
from relatum.core.kinds import Kind
from relatum.core.wire import Millis, Uuid

Direction = Literal["both", "outgoing", "incoming"]

RootStatus = Literal["included", "unavailable", "not_examined"]

StopReason = Literal["depth_limit", "node_limit", "edge_limit", "scan_limit"]

TypedEdge = Annotated[
    Any,
    Meta(
        extra_json_schema={"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("Relation", "DerivedEdge")]}
    ),
]
"""A `Relation` or a `DerivedEdge`: the decoder knows no union of structs without a tag."""


class TypedBounds(Answer, frozen=True, kw_only=True):
    """What a typed walk goes by: the members of its query with every default filled in."""

    direction: Open[Direction]
    relation_kinds: tuple[Open[Kind], ...]
    max_depth: int
    node_limit: int
    edge_limit: int
    scan_limit: int
    include_derived: bool


class EvidenceBounds(Answer, frozen=True, kw_only=True):
    """What an evidence walk goes by: the members of its query with every default filled in."""

    max_depth: int
    node_limit: int


class GraphRoot(Answer, frozen=True, kw_only=True):
    """What became of a root. `unavailable`: it can't be served; `not_examined`: `node_limit` left no room to look."""

    record_id: Uuid
    status: Open[RootStatus]


class GraphNode(Answer, frozen=True, kw_only=True):
    """An eligible record and its distance from the nearest root."""

    record: Record
    depth: int


class EvidenceEdge(Answer, frozen=True, kw_only=True):
    """`source` was derived from `target`."""

    source: Ref
    target: Ref
    relation: Open[Literal["derived_from"]]


class DerivedEdge(Answer, frozen=True, kw_only=True):
    """A mined edge between two nodes: nobody authored it, and it counts for nothing but this picture."""

    layer: Open[Literal["derived"]]
    source: Ref
    target: Ref
    kind: Open[Kind]
    weight: float


class TypedCoverage(Answer, frozen=True, kw_only=True):
    """How much a typed walk looked at, and why it stopped short of anything.

    `records_examined` counts roots and neighbours looked up, missing ones too, and `record_bytes` their stored bytes.
    `adjacency_entries_examined` counts a relation at each end it was met from, `relations_examined` counts it once.
    """

    complete: bool
    stop_reasons: tuple[Open[StopReason], ...]
    records_examined: int
    record_bytes: int
    adjacency_entries_examined: int
    relations_examined: int
    relation_bytes: int
    dependency_work: DependencyWork


class EvidenceCoverage(Answer, frozen=True, kw_only=True):
    """How much an evidence walk looked at, and why it stopped short of anything."""

    complete: bool
    stop_reasons: tuple[Open[StopReason], ...]
    records_examined: int
    record_bytes: int
    dependency_work: DependencyWork


class TypedGraph(TypedBounds, frozen=True, kw_only=True):
    """The neighbourhood of the roots. Edges keep the direction in which they were asserted."""

    traversal_version: Open[Literal["typed_relations_v1"]]
    evaluated_at_millis: Millis
    roots: tuple[GraphRoot, ...]
    nodes: tuple[GraphNode, ...]
    edges: tuple[TypedEdge, ...]
    coverage: TypedCoverage


class EvidenceGraph(EvidenceBounds, frozen=True, kw_only=True):
    """The records that the roots were derived from, through every level."""

    traversal_version: Open[Literal["derived_ancestry_v1"]]
    evaluated_at_millis: Millis
    roots: tuple[GraphRoot, ...]
    nodes: tuple[GraphNode, ...]
    edges: tuple[EvidenceEdge, ...]
    coverage: EvidenceCoverage


class TypedGraphAnswer(Answer, frozen=True, kw_only=True):
    """The neighbourhood of some records."""

    contract_version: Literal[1]
    scope: Scope
    graph: TypedGraph


class EvidenceGraphAnswer(Answer, frozen=True, kw_only=True):
    """What some records were derived from."""

    contract_version: Literal[1]
    scope: Scope
    graph: EvidenceGraph
