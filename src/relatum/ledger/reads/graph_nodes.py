"""The records of one graph: each looked up once, within the node limit, and included at its distance from a root.

What always holds: a record is answered only if it is eligible at the one view and the one clock value of the request.
Looking one up costs one of the node limit, whatever is found; a record already looked up costs nothing more.
"""

from __future__ import annotations

from typing import NamedTuple

from relatum import limits
from relatum.core.answers.eligibility import DependencyWork
from relatum.core.answers.graphs import GraphNode, GraphRoot, RootStatus, StopReason
from relatum.core.eligibility import Evaluator
from relatum.core.graphs import STOP_REASONS
from relatum.core.ids import Ref
from relatum.core.state import RecordVersion
from relatum.errors import Refused, invalid
from relatum.ledger.reads.records import record_view
from relatum.store.partition import PartitionReader


class Node(NamedTuple):
    """An included record."""

    version: RecordVersion
    depth: int

    @property
    def ref(self) -> Ref:
        """The record as it is now."""
        meta = self.version.meta
        return Ref(record_id=meta.record_id, revision=meta.revision)


class Nodes:
    """What a walk knows of records. `included` is in order of inclusion and grows while it is walked over."""

    def __init__(self, partition: PartitionReader, now_millis: int, node_limit: int) -> None:
        self.evaluator = Evaluator(partition, now_millis)
        self.included: list[Node] = []
        self.record_bytes = 0
        self._partition = partition
        self._node_limit = node_limit
        self._looked_up: dict[str, RecordVersion | None] = {}
        self._included: set[str] = set()

    @property
    def examined(self) -> int:
        """How many records were looked up."""
        return len(self._looked_up)

    @property
    def work(self) -> DependencyWork:
        """Dependency work of the request so far."""
        return self.evaluator.work

    def root(self, record_id: str) -> GraphRoot:
        """Looks a root up and includes it if it is eligible."""
        status: RootStatus = "not_examined"
        if self.look_up(record_id):
            version = self._looked_up[record_id]
            status = "unavailable"
            if version is not None and self.evaluator.is_eligible(version):
                self._include(version, depth=0)
                status = "included"
        return GraphRoot(record_id=record_id, status=status)

    def look_up(self, record_id: str) -> bool:
        """Whether the record is looked up by now; False where the node limit leaves no room for it.

        Raises Refused (400) where the records looked up are over the byte budget.
        """
        if record_id in self._looked_up:
            return True
        if len(self._looked_up) >= self._node_limit:
            return False
        version = self._looked_up[record_id] = self.evaluator.record(record_id)
        self.record_bytes += 0 if version is None else version.stored_bytes
        if self.record_bytes > limits.GRAPH_RECORD_BYTES_MAX:
            raise Refused(invalid("the records of the graph are over the byte budget"))
        return True

    def is_looked_up(self, record_id: str) -> bool:
        """Whether the record was looked up, be it there or not."""
        return record_id in self._looked_up

    def current(self, record_id: str) -> Ref | None:
        """A record at its present revision, if it was looked up and is there."""
        version = self._looked_up.get(record_id)
        return None if version is None else Ref(record_id=record_id, revision=version.meta.revision)

    def includes(self, ref: Ref) -> bool:
        """Whether the record is part of the graph, and a pin on this revision of it holds."""
        version = self._looked_up.get(ref.record_id)
        return ref.record_id in self._included and version is not None and version.meta.holds(ref.revision)

    def is_known_unsound(self, ref: Ref) -> bool:
        """Whether a record looked up is missing, at another revision (tested first) or ineligible."""
        return ref.record_id in self._looked_up and self._sound(ref) is None

    def include(self, ref: Ref, depth: int) -> None:
        """Makes a looked up, sound record part of the graph."""
        version = self._sound(ref)
        assert version is not None, "only a sound record is included"
        self._include(version, depth)

    def answer(self) -> tuple[GraphNode, ...]:
        """The nodes as answered, in order of inclusion."""
        return tuple(
            GraphNode(record=record_view(self._partition, node.version), depth=node.depth) for node in self.included
        )

    def _include(self, version: RecordVersion, depth: int) -> None:
        self.included.append(Node(version, depth))
        self._included.add(version.meta.record_id)

    def _sound(self, ref: Ref) -> RecordVersion | None:
        version = self._looked_up[ref.record_id]
        if version is None or not version.meta.holds(ref.revision) or not self.evaluator.is_eligible(version):
            return None
        return version


def in_order(reasons: set[StopReason]) -> tuple[StopReason, ...]:
    """Stop reasons as answered."""
    return tuple(reason for reason in STOP_REASONS if reason in reasons)
