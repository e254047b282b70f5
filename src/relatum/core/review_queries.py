"""What the reads of reviewers take, in a scope and in a workspace of the company (console.md, added routes)."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import force_setattr

from relatum import limits
from relatum.core.company import WorkspaceRead
from relatum.core.queries import HistoricRevision, RetainedFilter, ScopedRead
from relatum.core.wire import Uuid, canonical_uuid, check_u64


def _bounds(least: int, greatest: int, default: int) -> Meta:
    return Meta(extra_json_schema={"minimum": least, "maximum": greatest, "default": default})


HistoryLimit = Annotated[int, _bounds(1, limits.HISTORY_PAGE_MAX, limits.HISTORY_PAGE_DEFAULT)]
LineageDepth = Annotated[int, _bounds(0, limits.GRAPH_DEPTH_MAX, limits.GRAPH_DEPTH_MAX)]
LineageNodes = Annotated[int, _bounds(1, limits.GRAPH_NODES_MAX, limits.LINEAGE_NODES_DEFAULT)]
DependentsLimit = Annotated[int, _bounds(1, limits.DEPENDENTS_MAX, limits.DEPENDENTS_DEFAULT)]


def _check_range(value: int | None, least: int, greatest: int) -> None:
    if value is not None and not least <= value <= greatest:
        raise ValueError(f"a limit lies between {least} and {greatest}")


def _check_history(limit: int | None, before_revision: int | None) -> None:
    _check_range(limit, 1, limits.HISTORY_PAGE_MAX)
    if before_revision is not None:
        check_u64(before_revision)
        if before_revision == 0:
            raise ValueError("revisions start at 1")


class RecordHeadsRead(ScopedRead, frozen=True, kw_only=True):
    """Body of `records/heads`: 1 to 100 distinct ids."""

    record_ids: tuple[Uuid, ...]

    def __post_init__(self) -> None:
        force_setattr(self, "record_ids", tuple(canonical_uuid(one) for one in self.record_ids))


class RecordHistoryRead(ScopedRead, frozen=True, kw_only=True):
    """Body of `records/history`: revisions below `before_revision`, all of them without it."""

    record_id: Uuid
    before_revision: HistoricRevision | None = None
    limit: HistoryLimit | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "record_id", canonical_uuid(self.record_id))
        _check_history(self.limit, self.before_revision)


class RelationHistoryRead(ScopedRead, frozen=True, kw_only=True):
    """Body of `relations/history`: revisions below `before_revision`, all of them without it."""

    relation_id: Uuid
    before_revision: HistoricRevision | None = None
    limit: HistoryLimit | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "relation_id", canonical_uuid(self.relation_id))
        _check_history(self.limit, self.before_revision)


class RetainedQuery(ScopedRead, frozen=True, kw_only=True):
    """Body of `records/retained`."""

    filter: RetainedFilter


class LinksRead(ScopedRead, frozen=True, kw_only=True):
    """Body of `links/query`."""

    record_id: Uuid

    def __post_init__(self) -> None:
        force_setattr(self, "record_id", canonical_uuid(self.record_id))


class CompanyRecordHeadsRead(WorkspaceRead, frozen=True, kw_only=True):
    """Body of the company's `records/heads`: 1 to 100 distinct ids."""

    record_ids: tuple[Uuid, ...]

    def __post_init__(self) -> None:
        force_setattr(self, "record_ids", tuple(canonical_uuid(one) for one in self.record_ids))


class CompanyRecordHistoryRead(WorkspaceRead, frozen=True, kw_only=True):
    """Body of the company's `records/history`."""

    record_id: Uuid
    before_revision: HistoricRevision | None = None
    limit: HistoryLimit | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "record_id", canonical_uuid(self.record_id))
        _check_history(self.limit, self.before_revision)


class CompanyRelationHistoryRead(WorkspaceRead, frozen=True, kw_only=True):
    """Body of the company's `relations/history`."""

    relation_id: Uuid
    before_revision: HistoricRevision | None = None
    limit: HistoryLimit | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "relation_id", canonical_uuid(self.relation_id))
        _check_history(self.limit, self.before_revision)


class CompanyLinksRead(WorkspaceRead, frozen=True, kw_only=True):
    """Body of the company's `links/query`."""

    record_id: Uuid

    def __post_init__(self) -> None:
        force_setattr(self, "record_id", canonical_uuid(self.record_id))


class LineageRead(ScopedRead, frozen=True, kw_only=True):
    """Body of `records/lineage`."""

    record_id: Uuid
    max_depth: LineageDepth | None = None
    node_limit: LineageNodes | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "record_id", canonical_uuid(self.record_id))
        _check_range(self.max_depth, 0, limits.GRAPH_DEPTH_MAX)
        _check_range(self.node_limit, 1, limits.GRAPH_NODES_MAX)


class DependentsRead(ScopedRead, frozen=True, kw_only=True):
    """Body of `records/dependents`."""

    record_id: Uuid
    limit: DependentsLimit | None = None
    cursor: str | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "record_id", canonical_uuid(self.record_id))
        _check_range(self.limit, 1, limits.DEPENDENTS_MAX)


class CompanyLineageRead(WorkspaceRead, frozen=True, kw_only=True):
    """Body of the company's `records/lineage`."""

    record_id: Uuid
    max_depth: LineageDepth | None = None
    node_limit: LineageNodes | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "record_id", canonical_uuid(self.record_id))
        _check_range(self.max_depth, 0, limits.GRAPH_DEPTH_MAX)
        _check_range(self.node_limit, 1, limits.GRAPH_NODES_MAX)


class CompanyDependentsRead(WorkspaceRead, frozen=True, kw_only=True):
    """Body of the company's `records/dependents`."""

    record_id: Uuid
    limit: DependentsLimit | None = None
    cursor: str | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "record_id", canonical_uuid(self.record_id))
        _check_range(self.limit, 1, limits.DEPENDENTS_MAX)
