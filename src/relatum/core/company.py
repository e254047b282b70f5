"""What the routes of company administration take (company.md).

The company is that of the credential and never a member. Ranges of integers and the syntax of UUIDs are checked by
decoding; the form of a workspace id and the soundness of a cursor are static rules, checked by the read itself.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import force_setattr

from relatum import limits
from relatum.core.graphs import EvidenceGraphQuery, TypedGraphQuery
from relatum.core.queries import CompanyRecordFilter, HistoricRevision, RelationFilter
from relatum.core.streams import Stream
from relatum.core.wire import Closed, DigestHex, Sparse, Uuid, canonical_uuid, check_u64


def _bounds(greatest: int, default: int) -> Meta:
    return Meta(extra_json_schema={"minimum": 1, "maximum": greatest, "default": default})


WorkspacesLimit = Annotated[int, _bounds(limits.WORKSPACES_PAGE_MAX, limits.WORKSPACES_PAGE_DEFAULT)]
ConsumersLimit = Annotated[int, _bounds(limits.CONSUMERS_PAGE_MAX, limits.CONSUMERS_PAGE_DEFAULT)]


class WorkspacesQuery(Closed, frozen=True, kw_only=True):
    """Query parameters of the list of workspaces; `after_workspace_id` is the last one of the page before."""

    contract_version: int
    limit: WorkspacesLimit | None = None
    after_workspace_id: DigestHex | None = None

    def __post_init__(self) -> None:
        _check_limit(self.limit, limits.WORKSPACES_PAGE_MAX)


class ConsumersQuery(Sparse, frozen=True, kw_only=True):
    """Which stream's consumers, how many of them, and from where on."""

    stream: Stream
    limit: ConsumersLimit | None = None
    cursor: str | None = None

    def __post_init__(self) -> None:
        _check_limit(self.limit, limits.CONSUMERS_PAGE_MAX)


class ConsumersRead(Closed, frozen=True, kw_only=True):
    """Body of `consumers/query`."""

    contract_version: int
    query: ConsumersQuery


class WorkspaceRead(Closed, frozen=True, kw_only=True):
    """What every body of a read within a workspace begins with."""

    contract_version: int
    workspace_id: DigestHex


class CompanyRecordQuery(WorkspaceRead, frozen=True, kw_only=True):
    """Body of `records/query`."""

    filter: CompanyRecordFilter


class CompanyRecordRead(WorkspaceRead, frozen=True, kw_only=True):
    """Body of `records/inspect`."""

    record_id: Uuid

    def __post_init__(self) -> None:
        force_setattr(self, "record_id", canonical_uuid(self.record_id))


class CompanyTypedGraphRead(WorkspaceRead, frozen=True, kw_only=True):
    """Body of `graph/typed`."""

    query: TypedGraphQuery


class CompanyEvidenceGraphRead(WorkspaceRead, frozen=True, kw_only=True):
    """Body of `graph/evidence`."""

    query: EvidenceGraphQuery


class CompanyRelationRead(WorkspaceRead, frozen=True, kw_only=True):
    """Body of `relations/inspect`."""

    relation_id: Uuid

    def __post_init__(self) -> None:
        force_setattr(self, "relation_id", canonical_uuid(self.relation_id))


class CompanyRelationRevisionRead(CompanyRelationRead, frozen=True, kw_only=True):
    """Body of `relations/revision`."""

    revision: HistoricRevision

    def __post_init__(self) -> None:
        super().__post_init__()
        check_u64(self.revision)
        if self.revision == 0:
            raise ValueError("revisions start at 1")


class CompanyRelationQuery(WorkspaceRead, frozen=True, kw_only=True):
    """Body of `relations/query`."""

    filter: RelationFilter


def _check_limit(value: int | None, greatest: int) -> None:
    if value is not None and not 1 <= value <= greatest:
        raise ValueError(f"a limit lies between 1 and {greatest}")
