"""The typed graph: a walk along relations, breadth first, from up to 16 records (graphs.md, typed graph).

The walk takes the index entries of each node in the order of the contract and asks of each: may the relation be shown,
may the record at its other end, and is there room for both? A limit that leaves no room is a reason to stop, and the
graph is not complete.

The contract lets an edge without room wait until the end of the walk, in case there is room then. Breadth first there
never is, so none waits here: a full node or edge limit stays full, and the nodes at the greatest depth come last, after
everything that could have been looked up.

What always holds: an edge is answered only between two answered nodes, and only if the relation is eligible; a graph is
answered whole or not at all: over a budget it is refused, and damage met on the way is StorageInconsistency.
"""

from __future__ import annotations

from contextlib import nullcontext

from msgspec.structs import asdict

from relatum import limits
from relatum.core.answers.graphs import DerivedEdge, StopReason, TypedBounds, TypedCoverage, TypedGraph
from relatum.core.graphs import TypedGraphQuery
from relatum.core.ids import Ref
from relatum.core.mined import MinedEdge, MinedEdges
from relatum.core.relations import StoredRelation, relation_view
from relatum.errors import Refusal, Refused, invalid
from relatum.ledger.reads.graph_nodes import Node, Nodes, in_order
from relatum.store import adjacency
from relatum.store.keys import Table
from relatum.store.partition import Direction, PartitionReader
from relatum.store.rows import Completeness

_INDEXES: dict[str, tuple[Direction, ...]] = {
    "both": (Table.OUTGOING, Table.INCOMING),
    "outgoing": (Table.OUTGOING,),
    "incoming": (Table.INCOMING,),
}


def typed_graph(
    partition: PartitionReader, now_millis: int, query: TypedGraphQuery, mined: MinedEdges | None = None
) -> TypedGraph | Refusal:
    """The neighbourhood of the roots within the limits of the query; a limit that cuts it is named in `coverage`.

    Mined edges are walked after a node's relations, where the query includes them and there is a layer of them.

    400 `invalid_request` for a query that breaks a static rule, and over a budget: 8 MiB of records looked up, 4 MiB of
    relations loaded, dependency work.
    """
    problem = query.problem()
    if problem is not None:
        return invalid(problem)
    try:
        bounds = query.bounds()
        layer = mined if bounds.include_derived else None
        with nullcontext() if layer is None else layer.cut():
            return _Walk(partition, now_millis, bounds, layer).graph(query.root_record_ids)
    except Refused as refused:
        return refused.refusal


class _Walk:
    def __init__(
        self, partition: PartitionReader, now_millis: int, bounds: TypedBounds, mined: MinedEdges | None
    ) -> None:
        self._mined = mined
        self._derived: dict[MinedEdge, DerivedEdge] = {}
        self._partition = partition
        self._bounds = bounds
        self._kinds = frozenset(bounds.relation_kinds)
        self._nodes = Nodes(partition, now_millis, bounds.node_limit)
        self._relations = _Relations(partition)
        self._evidence_fails: dict[str, bool] = {}
        self._edges: dict[str, StoredRelation] = {}
        self._stops: set[StopReason] = set()
        self._scanned = 0

    def graph(self, root_ids: tuple[str, ...]) -> TypedGraph:
        roots = tuple(map(self._nodes.root, root_ids))
        if any(root.status == "not_examined" for root in roots):
            self._stops.add("node_limit")
        if not self._traverse():
            self._stops.add("scan_limit")
        return TypedGraph(
            traversal_version="typed_relations_v1",
            **asdict(self._bounds),
            evaluated_at_millis=self._nodes.evaluator.now_millis,
            roots=roots,
            nodes=self._nodes.answer(),
            edges=(*map(relation_view, self._edges.values()), *self._derived.values()),
            coverage=self._coverage(),
        )

    def _traverse(self) -> bool:
        """Whether every index of every node was read to its end; the scan limit ends the traversal."""
        return all(
            self._read_indexes(node) and (self._mined is None or self._read_mined(self._mined, node))
            for node in self._nodes.included
        )

    def _read_indexes(self, node: Node) -> bool:
        header = adjacency.header_of(self._partition, node.version.meta.content)
        return all(self._read_index(direction, node, header) for direction in _INDEXES[self._bounds.direction])

    def _read_index(self, direction: Direction, node: Node, header: Completeness) -> bool:
        meta = node.version.meta
        for entry in adjacency.entries(self._partition, direction, meta.content, header):
            if self._scanned == self._bounds.scan_limit:
                return False
            self._scanned += 1
            relation = self._relations.take(entry.relation_id)
            stop = self._visit(relation, adjacency.neighbour(entry, direction, meta, relation), node.depth)
            if stop is not None:
                self._stops.add(stop)
        return True

    def _read_mined(self, mined: MinedEdges, node: Node) -> bool:
        """The mined edges of a node, by the same limits. Their ends are records as they are now."""
        record_id, workspace_id = node.version.meta.record_id, self._partition.workspace_id
        for direction in _INDEXES[self._bounds.direction]:
            outgoing = direction is Table.OUTGOING
            room = self._bounds.scan_limit - self._scanned
            read = mined.outgoing if outgoing else mined.incoming
            for edge in read(workspace_id, record_id, room + 1):
                if self._scanned == self._bounds.scan_limit:
                    return False
                self._scanned += 1
                stop = self._visit_mined(edge, edge.target_id if outgoing else edge.source_id, node)
                if stop is not None:
                    self._stops.add(stop)
        return True

    def _visit_mined(self, edge: MinedEdge, other_id: str, node: Node) -> StopReason | None:
        if edge in self._derived or edge.kind not in self._kinds:
            return None
        known = self._nodes.current(other_id)
        if known is None and self._nodes.is_looked_up(other_id):
            return None
        if known is None or not self._nodes.includes(known):
            if known is not None and self._nodes.is_known_unsound(known):
                return None
            if node.depth == self._bounds.max_depth:
                return "depth_limit"
            if not self._nodes.look_up(other_id):
                return "node_limit"
            known = self._nodes.current(other_id)
            if known is None or self._nodes.is_known_unsound(known):
                return None
        if self._count() == self._bounds.edge_limit:
            return "edge_limit"
        source, target = (node.ref, known) if edge.source_id == node.ref.record_id else (known, node.ref)
        self._derived[edge] = DerivedEdge(
            layer="derived", source=source, target=target, kind=edge.kind, weight=edge.weight
        )
        if not self._nodes.includes(known):
            self._nodes.include(known, node.depth + 1)
        return None

    def _count(self) -> int:
        return len(self._edges) + len(self._derived)

    def _visit(self, relation: StoredRelation, neighbour: Ref, depth: int) -> StopReason | None:
        """Adds what one entry leads to, or answers the limit that forbids it.

        IMPORTANT: the order of the questions is part of the contract.
        """
        if self._is_passed_over(relation, neighbour):
            return None
        is_new = not self._nodes.includes(neighbour)
        if is_new:
            if depth == self._bounds.max_depth:
                return "depth_limit"
            if not self._nodes.look_up(neighbour.record_id):
                return "node_limit"
            if self._nodes.is_known_unsound(neighbour):
                return None
        if self._count() == self._bounds.edge_limit:
            return "edge_limit"
        self._edges[relation.relation_id] = relation
        if is_new:
            self._nodes.include(neighbour, depth + 1)
        return None

    def _is_passed_over(self, relation: StoredRelation, neighbour: Ref) -> bool:
        return (
            relation.relation_id in self._edges
            or relation.input.kind not in self._kinds
            or self._nodes.evaluator.own_reason(relation) is not None
            or self._nodes.is_known_unsound(neighbour)
            or self._has_invalid_evidence(relation)
        )

    def _has_invalid_evidence(self, relation: StoredRelation) -> bool:
        if not relation.input.evidence_sources:
            return False
        known = self._evidence_fails.get(relation.relation_id)
        if known is None:
            known = self._nodes.evaluator.evidence_failure(relation.input.evidence_sources) is not None
            self._evidence_fails[relation.relation_id] = known
        return known

    def _coverage(self) -> TypedCoverage:
        return TypedCoverage(
            complete=not self._stops,
            stop_reasons=in_order(self._stops),
            records_examined=self._nodes.examined,
            record_bytes=self._nodes.record_bytes,
            adjacency_entries_examined=self._scanned,
            relations_examined=self._relations.examined,
            relation_bytes=self._relations.stored_bytes,
            dependency_work=self._nodes.work,
        )


class _Relations:
    """The relations of one request, each loaded once."""

    def __init__(self, partition: PartitionReader) -> None:
        self.stored_bytes = 0
        self._partition = partition
        self._loaded: dict[str, StoredRelation] = {}

    @property
    def examined(self) -> int:
        return len(self._loaded)

    def take(self, relation_id: str) -> StoredRelation:
        """The relation that an index entry names. Raises Refused (400) over the byte budget."""
        relation = self._loaded.get(relation_id)
        if relation is None:
            version = self._partition.indexed_relation(relation_id)
            self.stored_bytes += version.stored_bytes
            if self.stored_bytes > limits.GRAPH_RELATION_BYTES_MAX:
                raise Refused(invalid("the relations of the graph are over the byte budget"))
            relation = self._loaded[relation_id] = version.relation
        return relation
