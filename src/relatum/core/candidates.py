"""Candidates: pairs of records that somebody with the context should judge (judgments.md)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from relatum.core.answers.judgments import CandidateView, Channel, Detection, MarkedBy, Marker, Status
from relatum.core.ids import Author, Ref
from relatum.core.kinds import Kind
from relatum.core.wire import Sparse, Uuid


class Opened(Sparse, tag="opened", frozen=True, kw_only=True):
    """A pair was surfaced; it is pending."""

    candidate_id: Uuid
    source: Ref
    target: Ref
    channel: Channel
    similarity: float


class Judged(Sparse, tag="judged", frozen=True, kw_only=True):
    """A candidate was judged: the relation that says how, and who closed it."""

    candidate_id: Uuid
    kind: Kind
    relation_id: Uuid
    marker: Marker
    confidence: float | None = None


class Orphaned(Sparse, tag="orphaned", frozen=True, kw_only=True):
    """Nobody judged a candidate in time."""

    candidate_id: Uuid
    operation_id: Uuid


class Resumed(Sparse, tag="resumed", frozen=True, kw_only=True):
    """An orphaned candidate is pending again, its age counted from now."""

    candidate_id: Uuid


CandidateChange = Opened | Judged | Orphaned | Resumed


class Candidate(Sparse, frozen=True, kw_only=True):
    """A candidate as stored.

    `since_millis` is what its age is counted from; `words_at` is the sequence of the event whose erasable row has the
    verdict's reason and evidence.
    """

    candidate_id: Uuid
    source: Ref
    target: Ref
    status: Status
    channel: Channel
    similarity: float
    created_at_millis: int
    since_millis: int
    kind: Kind | None = None
    relation_id: Uuid | None = None
    confidence: float | None = None
    marker: Marker | None = None
    marked_by: Author | None = None
    closed_at_millis: int | None = None
    operation_id: Uuid | None = None
    words_at: int | None = None


class Words(Sparse, frozen=True, kw_only=True):
    """What a verdict says in words; goes when either end is deleted. Salted, so that its digest tells nothing."""

    salt: bytes
    reason: str | None = None
    evidence: Any = None


def opened(change: Opened, at_millis: int) -> Candidate:
    """The candidate that a surfaced pair becomes."""
    return Candidate(
        candidate_id=change.candidate_id,
        source=change.source,
        target=change.target,
        status="pending",
        channel=change.channel,
        similarity=change.similarity,
        created_at_millis=at_millis,
        since_millis=at_millis,
    )


def candidate_after(
    before: Candidate, change: Judged | Orphaned | Resumed, at_millis: int, author: Author | None, words_at: int | None
) -> Candidate:
    """The candidate that a change leaves. `author` is null for the sweep of the timer."""
    match change:
        case Judged():
            return replace(
                before,
                status="judged",
                kind=change.kind,
                relation_id=change.relation_id,
                confidence=change.confidence,
                marker=change.marker,
                marked_by=author,
                closed_at_millis=at_millis,
                operation_id=None,
                words_at=words_at,
            )
        case Orphaned():
            return replace(
                before,
                status="orphaned",
                marker="sweep",
                marked_by=author,
                closed_at_millis=at_millis,
                operation_id=change.operation_id,
            )
        case Resumed():
            return replace(
                before,
                status="pending",
                since_millis=at_millis,
                marker=None,
                marked_by=None,
                closed_at_millis=None,
                operation_id=None,
            )


def candidate_view(stored: Candidate, words: Words | None) -> CandidateView:
    """`stored` as answered, with its words where they are still there."""
    return CandidateView(
        candidate_id=stored.candidate_id,
        source=stored.source,
        target=stored.target,
        status=stored.status,
        detection=Detection(channel=stored.channel, similarity=stored.similarity),
        relation_kind=stored.kind,
        relation_id=stored.relation_id,
        reason=words.reason if words else None,
        evidence=words.evidence if words else None,
        confidence=stored.confidence,
        marked_by=None if stored.marker is None else MarkedBy(kind=stored.marker, author=stored.marked_by),
        created_at_millis=stored.created_at_millis,
        judged_at_millis=stored.closed_at_millis if stored.status == "judged" else None,
    )
