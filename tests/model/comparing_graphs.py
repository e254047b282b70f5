"""Compares both graphs with naive walks over an oracle."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from relatum.core.answers.graphs import EvidenceGraph, TypedGraph
from relatum.core.graphs import EvidenceGraphQuery, TypedGraphQuery
from relatum.errors import Refusal
from relatum.ledger.reads.graph_evidence import evidence_graph
from relatum.ledger.reads.graph_typed import typed_graph
from relatum.store.partition import PartitionReader
from tests.graphs import naive
from tests.graphs.shapes import evidence_shape, typed_shape
from tests.model.comparing import Comparison
from tests.model.oracle import Link, Oracle, Paper
from tests.support.builders import unknown_id

Query = dict[str, Any]

_PLACES = st.lists(st.integers(0, 99), min_size=1, max_size=4)
_NODE_LIMITS = st.sampled_from([128, 128, 5, 3, 2, 1])
_DEPTHS = st.sampled_from([2, 1, 8, 3, 0])
TYPED = st.fixed_dictionaries(
    {
        "root_record_ids": _PLACES,
        "direction": st.sampled_from(["both", "outgoing", "incoming"]),
        "relation_kinds": st.sampled_from([None, None, None, ["supports"], ["authored_by"]]),
        "max_depth": _DEPTHS,
        "node_limit": _NODE_LIMITS,
        "edge_limit": st.sampled_from([256, 256, 4, 2, 1]),
        "scan_limit": st.sampled_from([1024, 1024, 9, 5, 3, 1]),
        "include_derived": st.booleans(),
    }
)
EVIDENCE = st.fixed_dictionaries({"root_record_ids": _PLACES, "max_depth": _DEPTHS, "node_limit": _NODE_LIMITS})
"""Roots are places among the records: ends of eligible relations first of all, then any, and one that never was."""


class GraphComparison:
    """The graphs of one view, after its single reads were compared."""

    def __init__(self, compared: Comparison) -> None:
        self.reader = compared.reader
        self.now = compared.now
        self.served = compared.served
        self.oracle = compared.oracle
        self.world = _world(compared.oracle, compared.reader, compared.now)

    def typed(self, asked: Query) -> TypedGraph:
        roots = self._roots(asked["root_record_ids"])
        kinds = asked["relation_kinds"]
        query = TypedGraphQuery(
            **asked | {"root_record_ids": tuple(roots), "relation_kinds": None if kinds is None else tuple(kinds)}
        )
        graph = typed_graph(self.reader, self.now, query)
        assert not isinstance(graph, Refusal)
        assert naive.typed(self.world, asked | {"root_record_ids": roots}) == typed_shape(graph)
        assert [self.served[edge.relation_id] for edge in graph.edges] == list(graph.edges)
        self._assert_framed(graph, asked)
        assert set(kinds or naive.MEMORY) == set(graph.relation_kinds)
        return graph

    def evidence(self, asked: Query) -> None:
        roots = self._roots(asked["root_record_ids"])
        graph = evidence_graph(self.reader, self.now, EvidenceGraphQuery(**asked | {"root_record_ids": tuple(roots)}))
        assert not isinstance(graph, Refusal)
        assert naive.evidence(self.world, asked | {"root_record_ids": roots}) == evidence_shape(graph)
        self._assert_framed(graph, asked)

    def _assert_framed(self, graph: TypedGraph | EvidenceGraph, asked: Query) -> None:
        """Records are those that single reads answer, and the members of the query are told as they were asked."""
        assert self.now == graph.evaluated_at_millis
        assert [self.served[node.record.record_id] for node in graph.nodes] == [node.record for node in graph.nodes]
        for member in set(asked) - {"root_record_ids", "relation_kinds"}:
            assert asked[member] == getattr(graph, member)

    def _roots(self, places: list[int]) -> list[str]:
        related = [link.given for link in self.oracle.links.values() if link.id in self.served]
        ends = [end.record_id for given in related for end in (given.source, given.target)]
        names = [*ends, *self.oracle.papers, unknown_id()]
        return list(dict.fromkeys(names[place % len(names)] for place in places))


def _world(oracle: Oracle, reader: PartitionReader, now: int) -> naive.World:
    """What the oracle knows, in the words of the naive walks. Sizes of rows are taken from the ledger."""
    records = {paper.id: _plain_record(paper, reader) for paper in oracle.papers.values()}
    relations = {link.id: _plain_relation(link, reader) for link in oracle.links.values()}
    return naive.World(records=records, relations=relations, now=now)


def _plain_record(paper: Paper, reader: PartitionReader) -> naive.PlainRecord:
    version = reader.record(paper.id)
    assert version is not None
    return naive.PlainRecord(
        revision=paper.revision,
        content=paper.content,
        state="deleted" if paper.now.deleted else "active",
        rejected=paper.now.verdict == "rejected",
        expires=paper.now.given.valid_until_millis,
        sources=[(source.record_id, source.revision) for source in paper.sources],
        size=version.stored_bytes,
    )


def _plain_relation(link: Link, reader: PartitionReader) -> naive.PlainRelation:
    version = reader.relation(link.id)
    assert version is not None
    given = link.given
    return naive.PlainRelation(
        source=(given.source.record_id, given.source.revision),
        target=(given.target.record_id, given.target.revision),
        kind=given.kind,
        begins=given.valid_from_millis,
        expires=given.valid_until_millis,
        evidence=[(proof.record_id, proof.revision) for proof in given.evidence_sources],
        state="retired" if link.now.retired else "active",
        rejected=link.now.verdict == "rejected",
        revision=link.revision,
        size=version.stored_bytes,
    )
