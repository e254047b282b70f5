"""What reviewers are answered: records in outline, histories, retained records, links (console.md, added routes)."""

from __future__ import annotations

from typing import Literal

from relatum.core.answers.base import Answer, Open
from relatum.core.answers.company import Workspace
from relatum.core.answers.eligibility import DependencyWork, FailureReason, FirstFailure, RecordEligibility
from relatum.core.answers.pages import StopReason
from relatum.core.answers.records import Disposition, Record, RecordHistory, RecordState
from relatum.core.answers.relations import Relation, RelationHistory
from relatum.core.answers.standings import StandingView
from relatum.core.ids import Author, Ref, Scope
from relatum.core.kinds import RecordType
from relatum.core.wire import Millis, Uuid

HistoryStop = Literal["exhausted", "record_limit"]

LineageStop = Literal["depth_limit", "node_limit"]

DependentUse = Literal["source", "endpoint", "evidence"]


class RecordHead(Answer, frozen=True, kw_only=True):
    """A retained record in outline, and the verdict on it. `reason` is that of the first failure, in it or below it."""

    record_id: Uuid
    revision: int
    type: Open[RecordType]
    state: Open[RecordState]
    title: str | None
    preview: str | None
    standing: StandingView
    disposition: Open[Disposition] | None
    eligible: bool
    reason: Open[FailureReason] | None


class RecordHistoryPage(Answer, frozen=True, kw_only=True):
    """Revisions of a record, the newest first. `next_before_revision` is where the next page begins."""

    history: tuple[RecordHistory, ...]
    next_before_revision: int | None
    stop_reason: Open[HistoryStop]


class RelationHistoryPage(Answer, frozen=True, kw_only=True):
    """Revisions of a relation, the newest first. `next_before_revision` is where the next page begins."""

    history: tuple[RelationHistory, ...]
    next_before_revision: int | None
    stop_reason: Open[HistoryStop]


class RetainedEntry(Answer, frozen=True, kw_only=True):
    """A retained record in whatever state, its standing, and the verdict on it."""

    record: Record
    standing: StandingView
    eligibility: RecordEligibility


class RetainedPage(Answer, frozen=True, kw_only=True):
    """Retained records, each with the verdict on it. `record_bytes` counts the stored bytes of those returned."""

    entries: tuple[RetainedEntry, ...]
    evaluated_at_millis: Millis
    scanned_records: int
    record_bytes: int
    dependency_work: DependencyWork
    stop_reason: Open[StopReason]
    next_cursor: str | None


class LinkView(Answer, frozen=True, kw_only=True):
    """A curated link, seen from one end. `title` and `preview` are those of the other; `active`: none is archived."""

    source_id: Uuid
    target_id: Uuid
    kind: Open[Literal["related", "conflicts", "supports", "supersedes"]]
    author: Author
    created_at_millis: Millis
    active: bool
    title: str | None
    preview: str


class LineageNode(Answer, frozen=True, kw_only=True):
    """One record of a lineage. `reason` is its own first failure, not that of its sources; absent: no `head`."""

    record_id: Uuid
    head: RecordHead | None
    depth: int
    reason: Open[FailureReason] | None


class LineageEdge(Answer, frozen=True, kw_only=True):
    """That a record was derived from another. `holds`: the source is there with the content pinned, and is eligible."""

    derived: Ref
    source: Ref
    holds: bool


class LineageCoverage(Answer, frozen=True, kw_only=True):
    """How much of a lineage was looked at."""

    complete: bool
    stop_reasons: tuple[Open[LineageStop], ...]
    records_examined: int


class Lineage(Answer, frozen=True, kw_only=True):
    """A record and what it was derived from. `first_failure` is that of its inspection."""

    evaluated_at_millis: Millis
    nodes: tuple[LineageNode, ...]
    edges: tuple[LineageEdge, ...]
    first_failure: FirstFailure | None
    coverage: LineageCoverage


class DependentView(Answer, frozen=True, kw_only=True):
    """What pins a record at a revision: a derived record (`head`) or a relation."""

    use: Open[DependentUse]
    pinned_revision: int
    head: RecordHead | None
    relation: Relation | None
    eligible: bool


class DependentTotals(Answer, frozen=True, kw_only=True):
    """How many dependents pin the present content of a record, by use."""

    source: int
    endpoint: int
    evidence: int


class DependentPage(Answer, frozen=True, kw_only=True):
    """What pins a record, those that pin its present content first."""

    dependents: tuple[DependentView, ...]
    totals: DependentTotals
    next_cursor: str | None


class _ScopedAnswer(Answer, frozen=True, kw_only=True):
    contract_version: Literal[1]
    scope: Scope


class _WorkspaceAnswer(Answer, frozen=True, kw_only=True):
    contract_version: Literal[1]
    company_id: str
    workspace: Workspace


class RecordHeadsAnswer(_ScopedAnswer, frozen=True, kw_only=True):
    """Records in outline, in the order of the ids; null for one that is absent."""

    heads: tuple[RecordHead | None, ...]


class RecordHistoryAnswer(_ScopedAnswer, frozen=True, kw_only=True):
    """A page of a record's revisions."""

    page: RecordHistoryPage


class RelationHistoryAnswer(_ScopedAnswer, frozen=True, kw_only=True):
    """A page of a relation's revisions."""

    page: RelationHistoryPage


class RetainedAnswer(_ScopedAnswer, frozen=True, kw_only=True):
    """A page of retained records."""

    page: RetainedPage


class LinksAnswer(_ScopedAnswer, frozen=True, kw_only=True):
    """The curated links of a record, the newest first."""

    links: tuple[LinkView, ...]


class LineageAnswer(_ScopedAnswer, frozen=True, kw_only=True):
    """What a record was derived from, and where that fails."""

    lineage: Lineage


class DependentsAnswer(_ScopedAnswer, frozen=True, kw_only=True):
    """A page of what pins a record."""

    page: DependentPage


class CompanyLineageAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """What a record of a workspace was derived from, and where that fails."""

    lineage: Lineage


class CompanyDependentsAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """A page of what pins a record of a workspace."""

    page: DependentPage


class CompanyRecordHeadsAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """Records of a workspace in outline, in the order of the ids; null for one that is absent."""

    heads: tuple[RecordHead | None, ...]


class CompanyRecordHistoryAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """A page of the revisions of a record of a workspace."""

    page: RecordHistoryPage


class CompanyRelationHistoryAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """A page of the revisions of a relation of a workspace."""

    page: RelationHistoryPage


class CompanyLinksAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """The curated links of a record of a workspace, the newest first."""

    links: tuple[LinkView, ...]
