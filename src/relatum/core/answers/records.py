"""Records as answered, and the answers of their reads (records.md)."""

from __future__ import annotations

from typing import Any, Literal

from relatum.core.answers.base import Answer, Open
from relatum.core.answers.eligibility import DependencyWork, RecordEligibility
from relatum.core.answers.pages import StopReason
from relatum.core.answers.receipts import RecordReceipt
from relatum.core.answers.standings import StandingView
from relatum.core.ids import Author, Ref, Scope
from relatum.core.kinds import RecordType
from relatum.core.wire import Millis, Uuid

Disposition = Literal["approved", "rejected", "unreviewed"]

RecordState = Literal["active", "deleted"]


class Review(Answer, frozen=True, kw_only=True):
    """A review as answered."""

    disposition: Open[Disposition]
    evidence_ref: str
    author: Author
    reviewed_at_millis: Millis


class DerivationView(Answer, frozen=True, kw_only=True):
    """The records that a derived record was made from, at exact revisions, in the order given."""

    sources: tuple[Ref, ...]
    method: str
    method_revision: str
    evidence_ref: str


class RecordProvenanceView(Answer, frozen=True, kw_only=True):
    """A provenance as answered."""

    source_id: str
    source_hash: str | None
    source_revision: str | None


class RecordInputView(Answer, frozen=True, kw_only=True):
    """An input as answered: every member is present."""

    type: Open[RecordType]
    title: str | None
    content: str
    data: dict[str, Any] | None
    tags: tuple[str, ...]
    category: str | None
    topic_key: str | None
    fact_key: str | None
    provenance: RecordProvenanceView | None
    confidence: float | None
    event_time_millis: Millis | None
    valid_until_millis: Millis | None


class Record(Answer, frozen=True, kw_only=True):
    """A record as answered. `input` and `review` are null once the record is deleted.

    `content_revision` is the revision that brought the present content: pins from there on hold.
    """

    schema_version: Literal[1]
    record_id: Uuid
    revision: int
    content_revision: int
    created_at_millis: Millis
    modified_at_millis: Millis
    author: Author
    state: Open[RecordState]
    input: RecordInputView | None
    review: Review | None
    derivation: DerivationView | None


class RecordBatchEntry(Answer, frozen=True, kw_only=True):
    """One id of a batch, and its record unless that is absent or ineligible."""

    record_id: Uuid
    record: Record | None


class RecordBatchAnswer(Answer, frozen=True, kw_only=True):
    """Records in the order in which they were asked for. `record_bytes` counts the stored bytes of those returned."""

    evaluated_at_millis: Millis
    entries: tuple[RecordBatchEntry, ...]
    record_bytes: int
    dependency_work: DependencyWork


class RecordInspection(Answer, frozen=True, kw_only=True):
    """A retained record in whatever state, and the verdict on it."""

    record: Record
    standing: StandingView
    eligibility: RecordEligibility


class RecordHistory(Answer, frozen=True, kw_only=True):
    """A record as it was at one revision, and the receipt of the command that brought that revision."""

    record: Record
    receipt: RecordReceipt


class RecordPage(Answer, frozen=True, kw_only=True):
    """Eligible records. `record_bytes` counts the stored bytes of those returned."""

    records: tuple[Record, ...]
    evaluated_at_millis: Millis
    scanned_records: int
    record_bytes: int
    dependency_work: DependencyWork
    stop_reason: Open[StopReason]
    next_cursor: str | None


class RecordReadAnswer(Answer, frozen=True, kw_only=True):
    """An eligible record."""

    contract_version: Literal[1]
    scope: Scope
    record: Record


class RecordBatchReadAnswer(Answer, frozen=True, kw_only=True):
    """Records in the order of the ids asked for; null for an absent or ineligible one."""

    contract_version: Literal[1]
    scope: Scope
    batch: RecordBatchAnswer


class RecordQueryAnswer(Answer, frozen=True, kw_only=True):
    """A page of eligible records."""

    contract_version: Literal[1]
    scope: Scope
    page: RecordPage


class RecordInspectAnswer(Answer, frozen=True, kw_only=True):
    """A retained record and the verdict on it."""

    contract_version: Literal[1]
    scope: Scope
    inspection: RecordInspection


class RecordRevisionAnswer(Answer, frozen=True, kw_only=True):
    """A record as it was at one revision, with the receipt of that revision."""

    contract_version: Literal[1]
    scope: Scope
    history: RecordHistory
