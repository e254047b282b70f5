"""Mined edges changed in process: what `Ledger.mining` gives (views.md, derived edges).

Here: their commands, for one partition each. Not here: how they lie on disk; and whoever reads them takes a view.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relatum.core import digests
from relatum.core.ids import Partition
from relatum.core.mined import MinedEdge
from relatum.core.promotions import MiningRun
from relatum.ledger.derived import repair
from relatum.ledger.derived.edges import DerivedEdges
from relatum.ledger.derived.repair import Repaired
from relatum.store.view import LedgerView


class Mining:
    """The mined edges of one ledger, to be changed. Any thread may use it; each command waits for the disk.

    Each raises MinedEdgesUnavailable where the edges can't be changed, and nothing has happened then.
    """

    def __init__(self, edges: DerivedEdges, view: Callable[[], LedgerView]) -> None:
        self._edges = edges
        self._view = view

    def replace(self, partition: Partition, run: MiningRun, edges: Sequence[MinedEdge], *, finish: bool) -> int | None:
        """Adds a page to a run; with `finish` the run takes the place of what was there. The run's edges so far.

        None, and the page is not added, where the run would have too many. See `DerivedEdges.replace`.
        """
        return self._edges.replace(digests.workspace_id(partition), run, edges, finish=finish)

    def drop(self, partition: Partition) -> int:
        """Removes all mined edges of a partition, unfinished runs too; how many edges there were."""
        return self._edges.drop(digests.workspace_id(partition))

    def repair(self, partition: Partition, limit: int) -> Repaired:
        """Leads the first `limit` dangling edges on to the superseders of their ends, and drops those without one."""
        with self._view() as view:
            return repair.repair(self._edges, view.partition(partition), limit)
