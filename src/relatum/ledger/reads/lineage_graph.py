"""What a record was derived from, in whatever state that is, and where it fails (console.md, added routes).

The evidence graph shows what is eligible; this shows what is there. Nodes are met breadth first, sources in stored
order, each once. The root is shown whatever its state.
"""

from __future__ import annotations

from relatum import limits
from relatum.core.ancestry import own_failure
from relatum.core.answers.review import Lineage, LineageCoverage, LineageEdge, LineageNode, LineageStop
from relatum.core.eligibility import Evaluator
from relatum.core.ids import Ref
from relatum.core.state import RecordVersion
from relatum.errors import Refusal, Refused, missing
from relatum.ledger.reads.heads import Heads
from relatum.store.partition import PartitionReader

_STOPS: tuple[LineageStop, ...] = ("depth_limit", "node_limit")


def lineage_graph(
    partition: PartitionReader, now_millis: int, record_id: str, max_depth: int | None, node_limit: int | None
) -> Lineage | Refusal:
    """A record and its sources down to `max_depth` (0 to 8, default 8), at most `node_limit` (1 to 256, default 64).

    404 if the record is absent; 400 over the dependency budget.
    """
    depth = limits.GRAPH_DEPTH_MAX if max_depth is None else max_depth
    try:
        return _Walk(partition, now_millis, depth, node_limit or limits.LINEAGE_NODES_DEFAULT).of(record_id)
    except Refused as refused:
        return refused.refusal


class _Walk:
    def __init__(self, partition: PartitionReader, now_millis: int, max_depth: int, node_limit: int) -> None:
        self._evaluator = Evaluator(partition, now_millis)
        self._heads = Heads(partition, self._evaluator)
        self._max_depth = max_depth
        self._node_limit = node_limit
        self._depths: dict[str, int] = {}
        self._edges: list[LineageEdge] = []
        self._stops: set[LineageStop] = set()

    def of(self, record_id: str) -> Lineage | Refusal:
        root = self._evaluator.record(record_id)
        if root is None:
            return missing()
        self._depths[record_id] = 0
        look_up = self._evaluator.dependencies.look_up
        waiting: list[tuple[str, RecordVersion | None]] = [(record_id, root)]
        nodes: list[LineageNode] = []
        for one_id, version in waiting:  # grows while it is walked
            nodes.append(self._node(one_id, version))
            waiting.extend((source.record_id, look_up(source.record_id)) for source in self._new_sources(version))
        return Lineage(
            evaluated_at_millis=self._evaluator.now_millis,
            nodes=tuple(nodes),
            edges=tuple(self._edges),
            first_failure=self._evaluator.explain_record(root).first_failure,
            coverage=LineageCoverage(
                complete=not self._stops,
                stop_reasons=tuple(stop for stop in _STOPS if stop in self._stops),
                records_examined=len(nodes),
            ),
        )

    def _node(self, record_id: str, version: RecordVersion | None) -> LineageNode:
        """A record with its own first failure, whatever its sources are."""
        if version is None:
            return LineageNode(record_id=record_id, head=None, depth=self._depths[record_id], reason="source_missing")
        return LineageNode(
            record_id=record_id,
            head=self._heads.of_version(version),
            depth=self._depths[record_id],
            reason=own_failure(version.meta, self._evaluator.now_millis),
        )

    def _new_sources(self, version: RecordVersion | None) -> list[Ref]:
        """The sources of a node that are met for the first time; adds the edges to all that are included."""
        derivation = None if version is None else version.meta.derivation
        found: list[Ref] = []
        if version is None or derivation is None:
            return found
        derived = Ref(record_id=version.meta.record_id, revision=version.meta.revision)
        depth = self._depths[derived.record_id]
        for source in derivation.sources:
            if source.record_id not in self._depths:
                if depth == self._max_depth:
                    self._stops.add("depth_limit")
                    continue
                if len(self._depths) == self._node_limit:
                    self._stops.add("node_limit")
                    continue
                self._depths[source.record_id] = depth + 1
                found.append(source)
            self._edges.append(LineageEdge(derived=derived, source=source, holds=self._holds(source)))
        return found

    def _holds(self, source: Ref) -> bool:
        version = self._evaluator.dependencies.look_up(source.record_id)
        return version is not None and version.meta.holds(source.revision) and self._evaluator.is_eligible(version)
