"""Status and validation of records as answered (views.md)."""

from __future__ import annotations

from typing import Literal

from relatum.core.answers.base import Answer, Open
from relatum.core.answers.eligibility import DependencyWork
from relatum.core.answers.pages import StopReason
from relatum.core.answers.standings import StandingView
from relatum.core.ids import Scope
from relatum.core.wire import Uuid

Status = Literal["unverified", "stale", "conflict"]

Cause = Literal["other_statement", "source_changed", "made_stale"]

Short = Literal["status", "reasons", "contested_count"]

ValidateStop = Literal["record_limit", "scan_limit"]


class StatusReason(Answer, frozen=True, kw_only=True):
    """Why a record has its status, and the record that causes it.

    `other_statement`: that record says something else of the same fact. `source_changed`: that record's source has
    another hash now. `made_stale`: that later record makes it out of date; `confidence` is what it leaves of the
    record's own. `through` is the ancestor that all this is true of; null where it is the record itself.
    """

    status: Open[Status]
    cause: Open[Cause]
    record_id: Uuid
    confidence: float | None
    through: Uuid | None


class RecordStatus(Answer, frozen=True, kw_only=True):
    """The status of a record; status and standing are null where it is absent or deleted.

    `reasons` are at most 100. `contested_count`: how many records contradict it. `incomplete` names the members that a
    bound of the request cut short: the status may be worse, the reasons more, the count greater. It is empty otherwise.
    """

    record_id: Uuid
    status: Open[Status] | None
    standing: StandingView | None
    reasons: tuple[StatusReason, ...]
    missing_sources: tuple[Uuid, ...]
    contested_count: int
    incomplete: tuple[Open[Short], ...]


class StatusCoverage(Answer, frozen=True, kw_only=True):
    """How much was looked at; `complete` where no bound was met. `dependency_work`: ancestors, each once."""

    fact_entries_examined: int
    adjacency_entries_examined: int
    dependency_work: DependencyWork
    complete: bool


class ValidateCoverage(Answer, frozen=True, kw_only=True):
    """How much was looked at: the newest records first. `record_limit`: more than 10,000; `scan_limit`: other rows."""

    scanned_records: int
    complete: bool
    stop_reasons: tuple[Open[ValidateStop], ...]


class StatusAnswer(Answer, frozen=True, kw_only=True):
    """The statuses of records, in the order of the ids or of the filter's page."""

    contract_version: Literal[1]
    scope: Scope
    statuses: tuple[RecordStatus, ...]
    coverage: StatusCoverage
    scanned_records: int
    stop_reason: Open[StopReason]
    next_cursor: str | None


class ValidateAnswer(Answer, frozen=True, kw_only=True):
    """Which records are stale or in conflict; nothing is changed."""

    contract_version: Literal[1]
    scope: Scope
    checked: int
    stale_ids: tuple[Uuid, ...]
    stale_count: int
    conflict_ids: tuple[Uuid, ...]
    conflict_count: int
    coverage: ValidateCoverage
