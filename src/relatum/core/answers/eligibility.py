"""Verdicts on whether records and relations count, as answered (records.md, relations.md)."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from relatum.core.answers.base import Answer, Open
from relatum.core.ids import Ref
from relatum.core.wire import Millis, Uuid

OwnReason = Literal["deleted", "rejected", "expired"]

FailureReason = Literal[
    "deleted",
    "rejected",
    "expired",
    "source_missing",
    "source_revision_changed",
    "depth_limit",
    "cycle",
    "node_limit",
]

RelationReason = Literal[
    "retired",
    "rejected",
    "not_yet_valid",
    "expired",
    "endpoint_unavailable",
    "endpoint_revision_changed",
    "evidence_unavailable",
    "eligible",
]

EndpointReason = Literal["endpoint_unavailable", "endpoint_revision_changed"]


class DependencyWork(Answer, frozen=True, kw_only=True):
    """Distinct ids looked up as dependencies, and their stored bytes."""

    records_examined: int
    bytes_examined: int

    def since(self, before: DependencyWork) -> DependencyWork:
        """What was added since `before`."""
        return DependencyWork(
            records_examined=self.records_examined - before.records_examined,
            bytes_examined=self.bytes_examined - before.bytes_examined,
        )


class FirstFailure(Answer, frozen=True, kw_only=True):
    """The first rule that failed; for the record itself both revisions are its own."""

    record_id: Uuid
    expected_revision: int | None
    actual_revision: int | None
    reason: Open[FailureReason]


class RecordEligibility(Answer, frozen=True, kw_only=True):
    """Why a record is or isn't eligible. `dependencies_checked` counts distinct sources looked at."""

    eligible: bool
    evaluated_at_millis: Millis
    first_failure: FirstFailure | None
    dependencies_checked: int
    max_depth_examined: int
    all_dependencies_checked: bool
    dependency_work: DependencyWork


class EvidenceFailure(Answer, frozen=True, kw_only=True):
    """The declared evidence source, or ancestor of one, that failed first."""

    record_id: Uuid
    expected_revision: int
    actual_revision: int | None
    reason: Open[FailureReason]


class RelationEligibility(Answer, frozen=True, kw_only=True):
    """Why a relation is or isn't eligible. `endpoint` names the end that failed."""

    eligible: bool
    reason: Open[RelationReason]
    evaluated_at_millis: Millis
    endpoint: Ref | None
    dependency_work: DependencyWork
    evidence_failure: EvidenceFailure | UnsetType = UNSET
