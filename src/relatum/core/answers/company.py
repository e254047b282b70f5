"""Answers of company administration (company.md)."""

from __future__ import annotations

from typing import Literal

from relatum.core.answers.base import Answer, Open
from relatum.core.answers.eligibility import DependencyWork, RecordEligibility
from relatum.core.answers.graphs import EvidenceGraph, TypedGraph
from relatum.core.answers.pages import StopReason
from relatum.core.answers.records import Record, RecordInspection
from relatum.core.answers.relations import RelationHistory, RelationInspection, RelationPage
from relatum.core.ids import Scope
from relatum.core.streams import Stream
from relatum.core.wire import U64, DigestHex, Millis


class Workspace(Answer, frozen=True, kw_only=True):
    """A partition of the company. `private_subject_id` is whose it is, where its scope is private."""

    workspace_id: DigestHex
    company_id: str
    scope: Scope
    private_subject_id: str | None


class WorkspacePage(Answer, frozen=True, kw_only=True):
    """Workspaces ascending by id. `next_after_workspace_id` is the last of them where more follow."""

    workspaces: tuple[Workspace, ...]
    next_after_workspace_id: DigestHex | None


class Consumer(Answer, frozen=True, kw_only=True):
    """What a consumer has saved. `pending_positions` is null where that no longer lies on the journal."""

    workspace_id: DigestHex
    scope: Scope
    private_subject_id: str | None
    subject_id: str
    consumer_id: str
    stream: Open[Stream]
    revision: U64
    sequence: U64
    pending_positions: U64 | None
    updated_at_millis: Millis


class ConsumerPage(Answer, frozen=True, kw_only=True):
    """Consumers by workspace. `next_cursor` is null where no more follow."""

    consumers: tuple[Consumer, ...]
    next_cursor: str | None


class WorkspacesAnswer(Answer, frozen=True, kw_only=True):
    """The company's workspaces, page by page."""

    contract_version: Literal[1]
    company_id: str
    page: WorkspacePage


class ConsumersAnswer(Answer, frozen=True, kw_only=True):
    """The consumers of a stream in all of the company's workspaces, page by page."""

    contract_version: Literal[1]
    company_id: str
    page: ConsumerPage


class CompanyRecordEntry(Answer, frozen=True, kw_only=True):
    """A retained record in whatever state, and the verdict on it."""

    record: Record
    eligibility: RecordEligibility


class CompanyRecordPage(Answer, frozen=True, kw_only=True):
    """Retained records, each with the verdict on it."""

    entries: tuple[CompanyRecordEntry, ...]
    evaluated_at_millis: Millis
    scanned_records: int
    record_bytes: int
    dependency_work: DependencyWork
    stop_reason: Open[StopReason]
    next_cursor: str | None


class _WorkspaceAnswer(Answer, frozen=True, kw_only=True):
    contract_version: Literal[1]
    company_id: str
    workspace: Workspace


class CompanyRecordQueryAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """A page of a workspace's records, each with the verdict on it."""

    page: CompanyRecordPage


class CompanyRecordInspectAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """A retained record of a workspace and the verdict on it."""

    inspection: RecordInspection


class CompanyTypedGraphAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """The neighbourhood of some records of a workspace."""

    graph: TypedGraph


class CompanyEvidenceGraphAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """What some records of a workspace were derived from."""

    graph: EvidenceGraph


class CompanyRelationInspectAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """A retained relation of a workspace and the verdict on it."""

    inspection: RelationInspection


class CompanyRelationRevisionAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """A relation of a workspace as it was at one revision, with the receipt of that revision."""

    history: RelationHistory


class CompanyRelationQueryAnswer(_WorkspaceAnswer, frozen=True, kw_only=True):
    """A page of a workspace's relations, each with the verdict on it."""

    page: RelationPage
