"""The graphs of one desk, each over a view of its own."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from relatum.core.answers.graphs import EvidenceGraph, StopReason, TypedGraph
from relatum.core.graphs import EvidenceGraphQuery, TypedGraphQuery
from relatum.core.ids import Ref
from relatum.core.receipts import RelationReceipt
from relatum.errors import Refusal
from relatum.ledger.reads.graph_evidence import evidence_graph
from relatum.ledger.reads.graph_typed import typed_graph
from tests.support.desk import Desk


class Walking:
    """What a reader at a desk finds by walking."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def typed(self, *roots: Ref | str, **query: Any) -> TypedGraph:
        return _answered(self.try_typed(*roots, **query))

    def evidence(self, *roots: Ref | str, **query: Any) -> EvidenceGraph:
        return _answered(self.try_evidence(*roots, **query))

    def try_typed(self, *roots: Ref | str, **query: Any) -> TypedGraph | Refusal:
        wanted = TypedGraphQuery(root_record_ids=_ids(roots), **query)
        with self.desk.view() as view:
            return typed_graph(view.partition(self.desk.partition), view.now_millis, wanted)

    def try_evidence(self, *roots: Ref | str, **query: Any) -> EvidenceGraph | Refusal:
        wanted = EvidenceGraphQuery(root_record_ids=_ids(roots), **query)
        with self.desk.view() as view:
            return evidence_graph(view.partition(self.desk.partition), view.now_millis, wanted)


def star(desk: Desk, leaves: int, **members: Any) -> tuple[Ref, list[Ref], list[RelationReceipt]]:
    """A hub with a relation to each of some leaves."""
    hub = desk.create("hub")
    ends = [desk.create(f"leaf {number}") for number in range(leaves)]
    return hub, ends, [desk.relate(hub, end, **members) for end in ends]


def chain(desk: Desk, length: int) -> list[Ref]:
    """Records each of which is related to the next."""
    links = [desk.create(f"link {number}") for number in range(length)]
    for source, target in pairwise(links):
        desk.relate(source, target)
    return links


def depths(graph: TypedGraph | EvidenceGraph) -> dict[str, int]:
    """How far each node is from a root."""
    return {node.record.record_id: node.depth for node in graph.nodes}


def edge_ids(graph: TypedGraph) -> list[str]:
    return [edge.relation_id for edge in graph.edges]


def statuses(graph: TypedGraph | EvidenceGraph) -> list[str]:
    return [root.status for root in graph.roots]


def stops(graph: TypedGraph | EvidenceGraph) -> tuple[StopReason, ...]:
    """Why the graph is not complete; nothing if it is."""
    assert graph.coverage.complete == (graph.coverage.stop_reasons == ())
    return graph.coverage.stop_reasons


def _answered(outcome: Any) -> Any:
    assert not isinstance(outcome, Refusal), outcome
    return outcome


def _ids(roots: tuple[Ref | str, ...]) -> tuple[str, ...]:
    return tuple(root if isinstance(root, str) else root.record_id for root in roots)
