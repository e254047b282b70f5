"""What a test compares of a graph: plain values, nodes as (id, revision, depth), edges by their ends or their ids."""

from __future__ import annotations

from typing import Any

import msgspec

from relatum.core.answers.graphs import EvidenceGraph, TypedGraph


def typed_shape(graph: TypedGraph) -> dict[str, Any]:
    return _shape(graph) | {"edges": [edge.relation_id for edge in graph.edges]}


def evidence_shape(graph: EvidenceGraph) -> dict[str, Any]:
    edges = [
        ((edge.source.record_id, edge.source.revision), (edge.target.record_id, edge.target.revision))
        for edge in graph.edges
    ]
    return _shape(graph) | {"edges": edges}


def _shape(graph: TypedGraph | EvidenceGraph) -> dict[str, Any]:
    return {
        "roots": [msgspec.to_builtins(root) for root in graph.roots],
        "nodes": [(node.record.record_id, node.record.revision, node.depth) for node in graph.nodes],
        "coverage": msgspec.to_builtins(graph.coverage) | {"stop_reasons": list(graph.coverage.stop_reasons)},
    }
