"""Records with what judgments say of them: annotated, search, confirm, needs-review, topics (judgments.md)."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, UnsetType

from relatum.core.answers.base import Answer, Open
from relatum.core.answers.records import Record
from relatum.core.answers.standings import Outcome, StandingView
from relatum.core.ids import Scope
from relatum.core.wire import Millis, Uuid

AnnotationKind = Literal[
    "conflicts_with", "supersedes", "superseded_by", "pending_conflict", "scoped", "compatible", "related"
]


class Annotation(Answer, frozen=True, kw_only=True):
    """What one judgment says, from the reader's point of view. Absent members are not known or were erased."""

    kind: Open[AnnotationKind]
    direction: Open[Literal["outgoing", "incoming"]]
    target_id: Uuid
    preview: str
    candidate_id: Uuid | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    confidence: float | UnsetType = UNSET
    status: Open[Literal["judged", "pending"]]


class NeedsReview(Answer, frozen=True, kw_only=True):
    """Why a record should be looked at again. `refuted_at_millis` is set where a refutation is the reason."""

    baseline_at_millis: Millis
    refuted_at_millis: Millis | None
    escalated: bool


class AnnotatedRecord(Answer, frozen=True, kw_only=True):
    """A record with its standing and what judgments say of it; `relations_total` counts those past the limit too.

    `needs_review` is null where nothing asks for another look at it.
    """

    record: Record
    standing: StandingView
    relations: tuple[Annotation, ...]
    relations_total: int
    needs_review: NeedsReview | None


class FoundRecord(AnnotatedRecord, frozen=True, kw_only=True):
    """A record that a search found. `score` is the share of the query's distinct words found in it, 0 to 1."""

    score: float


class RecordToReview(Answer, frozen=True, kw_only=True):
    """A record that should be looked at again."""

    record: Record
    standing: StandingView
    needs_review: NeedsReview


class Coverage(Answer, frozen=True, kw_only=True):
    """How far a bounded scan has come: newest first, `complete` where it saw every record."""

    scanned_records: int
    complete: bool


class TopicOccupant(Answer, frozen=True, kw_only=True):
    """Who holds a topic slot. The title is null where the holder is not eligible: a reader is not given it."""

    record_id: Uuid
    revision: int
    title: str | None


class NearbyTopic(Answer, frozen=True, kw_only=True):
    """A topic of a record that resembles the one at hand."""

    topic_key: str
    record_id: Uuid


class AnnotatedAnswer(Answer, frozen=True, kw_only=True):
    """Annotated records in the order of the ids asked for; null for an absent or ineligible one."""

    contract_version: Literal[1]
    scope: Scope
    records: tuple[AnnotatedRecord | None, ...]


class SearchCoverage(Answer, frozen=True, kw_only=True):
    """How many changes of the partition's records the search index has taken in, of how many.

    Where it is behind, after a large load for one, it is brought up in the background: ask again.
    """

    indexed_changes: int
    changes: int
    complete: bool


class SearchAnswer(Answer, frozen=True, kw_only=True):
    """Annotated records, the best first."""

    contract_version: Literal[1]
    scope: Scope
    records: tuple[FoundRecord, ...]
    coverage: SearchCoverage


class ConfirmedRecord(Answer, frozen=True, kw_only=True):
    """What a record was found to be, and when."""

    record_id: Uuid
    outcome: Open[Outcome]
    at_millis: Millis


class ConfirmAnswer(Answer, frozen=True, kw_only=True):
    """The confirmations in the order of the request."""

    contract_version: Literal[1]
    confirmations: tuple[ConfirmedRecord, ...]


class NeedsReviewAnswer(Answer, frozen=True, kw_only=True):
    """Records that should be looked at again, the most urgent first."""

    contract_version: Literal[1]
    scope: Scope
    records: tuple[RecordToReview, ...]
    total: int
    coverage: Coverage


class TopicSuggestionAnswer(Answer, frozen=True, kw_only=True):
    """A topic key, or why there is none; who holds its slot; topics nearby."""

    contract_version: Literal[1]
    scope: Scope
    topic_key: str | None
    reason: str | None
    occupied: bool
    occupant: TopicOccupant | None
    nearby: tuple[NearbyTopic, ...]
