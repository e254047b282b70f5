"""What the reads of views take, and the commands of the derived layer (views.md)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import force_setattr

from relatum import limits
from relatum.core.ids import Scope
from relatum.core.kinds import REGISTRY, Kind
from relatum.core.promotions import MiningRun
from relatum.core.queries import RecordFilter
from relatum.core.text import is_evidence_ref
from relatum.core.wire import Closed, Sparse, Uuid, canonical_uuid


def _bounded(least: int, greatest: int, default: int) -> Meta:
    return Meta(extra_json_schema={"minimum": least, "maximum": greatest, "default": default})


OverviewLimit = Annotated[int, _bounded(1, limits.OVERVIEW_MAX, limits.OVERVIEW_MAX)]
Budget = Annotated[int, _bounded(1, limits.CONTEXT_CHARACTERS_MAX, limits.CONTEXT_CHARACTERS_DEFAULT)]
ContextJudgments = Annotated[int, _bounded(0, limits.CONTEXT_JUDGMENTS_MAX, limits.CONTEXT_JUDGMENTS_DEFAULT)]
ContextReview = Annotated[int, _bounded(0, limits.CONTEXT_REVIEW_MAX, limits.CONTEXT_REVIEW_DEFAULT)]
DanglingLimit = Annotated[int, _bounded(1, limits.DANGLING_MAX, limits.DANGLING_DEFAULT)]


def _check(value: int | None, least: int, greatest: int) -> None:
    if value is not None and not least <= value <= greatest:
        raise ValueError(f"a limit lies between {least} and {greatest}")


class CurrentSource(Closed, frozen=True, kw_only=True):
    """The hash that a source has now; null where it has none."""

    source_id: str
    source_hash: str | None = None


class StatusQuery(Closed, frozen=True, kw_only=True):
    """Body of `records/status`: ids or a filter."""

    contract_version: int
    scope: Scope
    record_ids: tuple[Uuid, ...] | None = None
    filter: RecordFilter | None = None
    current_sources: tuple[CurrentSource, ...] | None = None

    def __post_init__(self) -> None:
        if self.record_ids is not None:
            force_setattr(self, "record_ids", tuple(canonical_uuid(one) for one in self.record_ids))

    def problem(self) -> str | None:
        """The static rule that this query breaks, or None."""
        if (self.record_ids is None) == (self.filter is None):
            return "give either record_ids or a filter"
        ids = self.record_ids
        if ids is not None and (not 1 <= len(ids) <= limits.STATUS_MAX or len(set(ids)) != len(ids)):
            return "record_ids must be 1 to 100 distinct ids"
        sources = self.current_sources or ()
        if len({one.source_id for one in sources}) != len(sources):
            return "current_sources must name a source once"
        for one in sources:
            if not is_evidence_ref(one.source_id) or (
                one.source_hash is not None and not is_evidence_ref(one.source_hash)
            ):
                return "source_id and source_hash must be 1 to 2048 bytes, not blank, without control characters"
        return None if self.filter is None else self.filter.problem()

    @property
    def sources(self) -> dict[str, str | None]:
        """The hashes that sources have now."""
        return {one.source_id: one.source_hash for one in self.current_sources or ()}


class ValidateQuery(Closed, frozen=True, kw_only=True):
    """Body of `records/validate`: the records of one source, or all."""

    contract_version: int
    scope: Scope
    source_id: str | None = None
    current_source_hash: str | None = None

    def problem(self) -> str | None:
        """The static rule that this query breaks, or None."""
        if self.current_source_hash is not None and self.source_id is None:
            return "current_source_hash goes with a source_id"
        for name in (self.source_id, self.current_source_hash):
            if name is not None and not is_evidence_ref(name):
                return "source_id and source_hash must be 1 to 2048 bytes, not blank, without control characters"
        return None


class HealthQuery(Closed, frozen=True, kw_only=True):
    """Body of `graph/health`."""

    contract_version: int
    scope: Scope


class OverviewQuery(Closed, frozen=True, kw_only=True):
    """Body of `graph/overview`."""

    contract_version: int
    scope: Scope
    limit: OverviewLimit | None = None

    def __post_init__(self) -> None:
        _check(self.limit, 1, limits.OVERVIEW_MAX)


class ContextQuery(Closed, frozen=True, kw_only=True):
    """Body of `context`."""

    contract_version: int
    scope: Scope
    prompt: str
    budget_characters: Budget | None = None
    shown: tuple[Uuid, ...] | None = None
    judgments_limit: ContextJudgments | None = None
    review_limit: ContextReview | None = None

    def __post_init__(self) -> None:
        _check(self.budget_characters, 1, limits.CONTEXT_CHARACTERS_MAX)
        _check(self.judgments_limit, 0, limits.CONTEXT_JUDGMENTS_MAX)
        _check(self.review_limit, 0, limits.CONTEXT_REVIEW_MAX)
        if self.shown is not None:
            force_setattr(self, "shown", tuple(canonical_uuid(one) for one in self.shown))

    @property
    def judgments_max(self) -> int:
        """`judgments_limit`, or its default."""
        return limits.CONTEXT_JUDGMENTS_DEFAULT if self.judgments_limit is None else self.judgments_limit

    @property
    def review_max(self) -> int:
        """`review_limit`, or its default."""
        return limits.CONTEXT_REVIEW_DEFAULT if self.review_limit is None else self.review_limit

    def problem(self) -> str | None:
        """The static rule that this query breaks, or None."""
        too_many = self.shown is not None and len(self.shown) > limits.CONTEXT_SHOWN_MAX
        return "at most 1000 records can be named as shown" if too_many else None


class EdgeInput(Sparse, frozen=True, kw_only=True):
    """A mined edge. Its ends need not be there."""

    source_id: Uuid
    target_id: Uuid
    kind: Kind
    weight: float

    def __post_init__(self) -> None:
        force_setattr(self, "source_id", canonical_uuid(self.source_id))
        force_setattr(self, "target_id", canonical_uuid(self.target_id))
        force_setattr(self, "weight", self.weight + 0.0)


class ReplaceEdges(Closed, frozen=True, kw_only=True):
    """Body of `edges/derived/replace`: a page of a run; the last one says so."""

    contract_version: int
    scope: Scope
    run: MiningRun
    edges: tuple[EdgeInput, ...]
    finish: bool | None = False

    def problem(self) -> str | None:
        """The static rule that this page breaks, or None."""
        if len(self.edges) > limits.DERIVED_PAGE_MAX:
            return "a page has at most 5000 edges"
        problem = self.run.problem()
        if problem is not None:
            return problem
        for edge in self.edges:
            if REGISTRY[edge.kind].kind_class != "memory":
                return "mined edges are of kinds of class memory"
            if not 0.0 <= edge.weight <= 1.0:
                return "weight must lie between 0 and 1"
            if edge.source_id == edge.target_id:
                return "source and target must be different records"
        return None


class DropEdges(Closed, frozen=True, kw_only=True):
    """Body of `edges/derived/drop`."""

    contract_version: int
    scope: Scope


class DanglingEdges(Closed, frozen=True, kw_only=True):
    """Body of `edges/dangling` and `edges/repair`."""

    contract_version: int
    scope: Scope
    limit: DanglingLimit | None = None

    def __post_init__(self) -> None:
        _check(self.limit, 1, limits.DANGLING_MAX)
