"""The walk over derivation sources, and the request's budget for it (records.md, eligibility of a record).

Depth is checked before cycle, cycle before the node bound, the node bound before the look-up. A finished subtree
remembers its height, so that reaching it again deeper still trips the depth bound.
"""

from __future__ import annotations

from typing import NamedTuple

from relatum import limits
from relatum.core.answers.eligibility import DependencyWork, FailureReason, OwnReason
from relatum.core.ids import Ref
from relatum.core.records import RecordMeta
from relatum.core.state import Records, RecordVersion
from relatum.errors import Refused, invalid

BOUNDS: frozenset[FailureReason] = frozenset({"depth_limit", "cycle", "node_limit"})


class SourceFailure(NamedTuple):
    """The first record of a walk that failed, and why."""

    record_id: str
    expected_revision: int
    actual_revision: int | None
    reason: FailureReason


class Dependencies:
    """The records that one request has read, each once, and the dependency budget they count against."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._read: dict[str, RecordVersion | None] = {}
        self._counted: set[str] = set()
        self._bytes = 0

    @property
    def work(self) -> DependencyWork:
        """The work so far."""
        return DependencyWork(records_examined=len(self._counted), bytes_examined=self._bytes)

    def root(self, record_id: str) -> RecordVersion | None:
        """A record for its own sake; costs nothing of the budget."""
        if record_id in self._read:
            return self._read[record_id]
        version = self._read[record_id] = self._records.record(record_id)
        return version

    def look_up(self, record_id: str) -> RecordVersion | None:
        """A record as a dependency. Raises Refused (400) where the request's budget is exhausted."""
        if record_id in self._counted:
            return self._read[record_id]
        if len(self._counted) >= limits.DEPENDENCY_LOOKUPS_MAX:
            raise DependencyBudgetExhausted
        version = self.root(record_id)
        size = 0 if version is None else version.stored_bytes
        if self._bytes + size > limits.DEPENDENCY_BYTES_MAX:
            raise DependencyBudgetExhausted
        self._counted.add(record_id)
        self._bytes += size
        return version


class DependencyBudgetExhausted(Refused):
    """The request would look at more dependencies than its budget: an error, never a verdict."""

    def __init__(self) -> None:
        super().__init__(invalid("the dependency budget of the request is exhausted"))


def own_failure(meta: RecordMeta, now_millis: int) -> OwnReason | None:
    """Why a record fails by itself, or None. Expiry is half-open: at the instant itself the record has expired."""
    if meta.state == "deleted":
        return "deleted"
    review = meta.review
    if review is not None and review.disposition == "rejected":
        return "rejected"
    expiry = meta.facts.valid_until_millis
    return "expired" if expiry is not None and now_millis >= expiry else None


class Walk:
    """One depth-first walk over sources. `nodes` and `deepest` tell how far it came."""

    def __init__(self, dependencies: Dependencies, now_millis: int, root_id: str | None = None) -> None:
        self.nodes = 0
        self.deepest = 0
        self._dependencies = dependencies
        self._now_millis = now_millis
        self._heights: dict[str, int] = {}
        self._path: set[str] = set() if root_id is None else {root_id}

    def over(self, sources: tuple[Ref, ...], depth: int) -> SourceFailure | None:
        """Walks `sources` in order, each at `depth`; the first failure ends the walk."""
        outcome = self._height(sources, depth)
        return outcome if isinstance(outcome, SourceFailure) else None

    def _height(self, sources: tuple[Ref, ...], depth: int) -> SourceFailure | int:
        height = 0
        for source in sources:
            below = self._visit(source, depth)
            if isinstance(below, SourceFailure):
                return below
            height = max(height, below + 1)
        return height

    def _visit(self, ref: Ref, depth: int) -> SourceFailure | int:
        known = self._heights.get(ref.record_id)
        if depth + (known or 0) > limits.ANCESTRY_DEPTH_MAX:
            return SourceFailure(ref.record_id, ref.revision, None, "depth_limit")
        if ref.record_id in self._path:
            return SourceFailure(ref.record_id, ref.revision, None, "cycle")
        if known is None:
            if self.nodes >= limits.ANCESTRY_NODES_MAX:
                return SourceFailure(ref.record_id, ref.revision, None, "node_limit")
            self.nodes += 1
        version = self._dependencies.look_up(ref.record_id)
        self.deepest = max(self.deepest, depth + (known or 0))
        if version is None:
            return SourceFailure(ref.record_id, ref.revision, None, "source_missing")
        actual = version.meta.revision
        if not version.meta.holds(ref.revision):
            return SourceFailure(ref.record_id, ref.revision, actual, "source_revision_changed")
        if known is not None:
            return known
        reason = own_failure(version.meta, self._now_millis)
        if reason is not None:
            return SourceFailure(ref.record_id, ref.revision, actual, reason)
        return self._descend(ref.record_id, version.meta, depth)

    def _descend(self, record_id: str, meta: RecordMeta, depth: int) -> SourceFailure | int:
        height: SourceFailure | int = 0
        if meta.derivation is not None:
            self._path.add(record_id)
            height = self._height(meta.derivation.sources, depth + 1)
            self._path.discard(record_id)
        if isinstance(height, int):
            self._heights[record_id] = height
        return height
