"""The evidence graph: what records were derived from, breadth first through every level (graphs.md, evidence graph).

What always holds: the eligibility of a root covers its whole ancestry, also what lies beyond the depth shown. So every
source of an answered node exists, is eligible and has the revision that the node names; only limits leave one out.
"""

from __future__ import annotations

from msgspec.structs import asdict

from relatum.core.answers.graphs import EvidenceBounds, EvidenceCoverage, EvidenceEdge, EvidenceGraph, StopReason
from relatum.core.graphs import EvidenceGraphQuery
from relatum.core.ids import Ref
from relatum.errors import Refusal, Refused, invalid
from relatum.ledger.reads.graph_nodes import Node, Nodes, in_order
from relatum.store.partition import PartitionReader


def evidence_graph(partition: PartitionReader, now_millis: int, query: EvidenceGraphQuery) -> EvidenceGraph | Refusal:
    """The ancestry of the roots within the limits of the query; a limit that cuts it is named in `coverage`.

    400 `invalid_request` for a query that breaks a static rule, and over a budget: 8 MiB of records, dependency work.
    """
    problem = query.problem()
    if problem is not None:
        return invalid(problem)
    try:
        return _Walk(partition, now_millis, query.bounds()).graph(query.root_record_ids)
    except Refused as refused:
        return refused.refusal


class _Walk:
    def __init__(self, partition: PartitionReader, now_millis: int, bounds: EvidenceBounds) -> None:
        self._bounds = bounds
        self._nodes = Nodes(partition, now_millis, bounds.node_limit)
        self._edges: list[EvidenceEdge] = []
        self._stops: set[StopReason] = set()

    def graph(self, root_ids: tuple[str, ...]) -> EvidenceGraph:
        roots = tuple(map(self._nodes.root, root_ids))
        if any(root.status == "not_examined" for root in roots):
            self._stops.add("node_limit")
        for node in self._nodes.included:
            self._visit(node)
        return EvidenceGraph(
            traversal_version="derived_ancestry_v1",
            **asdict(self._bounds),
            evaluated_at_millis=self._nodes.evaluator.now_millis,
            roots=roots,
            nodes=self._nodes.answer(),
            edges=tuple(self._edges),
            coverage=EvidenceCoverage(
                complete=not self._stops,
                stop_reasons=in_order(self._stops),
                records_examined=self._nodes.examined,
                record_bytes=self._nodes.record_bytes,
                dependency_work=self._nodes.work,
            ),
        )

    def _visit(self, node: Node) -> None:
        """Adds the edges of one node. Nodes at the greatest depth come last, when all that can be included is."""
        derivation = node.version.meta.derivation
        sources = () if derivation is None else sorted(derivation.sources, key=lambda source: source.record_id)
        for source in sources:
            if self._takes_in(source, node.depth):
                self._edges.append(EvidenceEdge(source=node.ref, target=source, relation="derived_from"))

    def _takes_in(self, source: Ref, depth: int) -> bool:
        if self._nodes.includes(source):
            return True
        if depth == self._bounds.max_depth:
            self._stops.add("depth_limit")
        elif not self._nodes.look_up(source.record_id):
            self._stops.add("node_limit")
        else:
            self._nodes.include(source, depth + 1)
            return True
        return False
