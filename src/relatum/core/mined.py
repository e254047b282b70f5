"""Mined edges: what may be read of the derived layer (views.md, derived edges)."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from relatum.core.kinds import Kind


class MinedEdge(NamedTuple):
    """An edge that nobody authored."""

    source_id: str
    kind: Kind
    target_id: str
    weight: float


class MinedEdges(Protocol):
    """The mined edges of all partitions, found by either end or in order."""

    def cut(self) -> AbstractContextManager[None]:
        """Within this context the edges stay as they are."""

    def outgoing(self, workspace_id: str, record_id: str, limit: int) -> list[MinedEdge]:
        """At most `limit` edges that begin at a record, by kind and target."""

    def incoming(self, workspace_id: str, record_id: str, limit: int) -> list[MinedEdge]:
        """At most `limit` edges that end at a record, by kind and source."""

    def all(self, workspace_id: str, after: MinedEdge | None = None, limit: int = 1_000) -> list[MinedEdge]:
        """At most `limit` edges of a partition in the order of source, kind, target, strictly after `after`."""
