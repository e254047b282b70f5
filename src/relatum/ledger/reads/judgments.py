"""The queue of candidates, annotated records, and what a save has surfaced (judgments.md, routes)."""

from __future__ import annotations

from collections.abc import Iterator

from relatum import limits
from relatum.core.answers.annotated import AnnotatedRecord
from relatum.core.answers.commands import SurfacedCandidate
from relatum.core.answers.judgments import CandidateView
from relatum.core.candidates import Candidate, Opened, candidate_view
from relatum.core.eligibility import Evaluator
from relatum.core.events import RecordEvent, RecordSaved
from relatum.core.judgment_queries import JudgmentsQuery
from relatum.core.wire import Closed
from relatum.errors import Refusal, Refused, StorageInconsistency, invalid
from relatum.ledger.reads.annotations import Annotator
from relatum.ledger.reads.needs_review import why
from relatum.ledger.reads.records import payload_of, record_view
from relatum.ledger.reads.standings import Standings
from relatum.store.partition import PartitionReader


class CandidatesPage(Closed, frozen=True, kw_only=True):
    """Candidates, oldest first, and how many there are in all that the query wants."""

    candidates: tuple[CandidateView, ...]
    total: int


class Surfaced(Closed, frozen=True, kw_only=True):
    """What a save has surfaced; `detected` counts those beyond the cap too."""

    candidates: tuple[SurfacedCandidate, ...]
    detected: int


def query(
    partition: PartitionReader, now_millis: int, wanted: JudgmentsQuery, resurfacing_millis: int, deadline_millis: int
) -> CandidatesPage:
    """Candidates of a status. Pending ones only while both ends are active and current, and not past the deadline."""
    status = wanted.status or "pending"
    default = resurfacing_millis if status == "pending" else 0
    age = default if wanted.min_age_millis is None else wanted.min_age_millis
    total = 0
    page: list[CandidateView] = []
    fit = Fitness(partition)
    for candidate in partition.candidates(status):
        waited = max(0, now_millis - candidate.since_millis)  # it may have come while the clock was ahead
        if waited < age:
            break
        if status == "pending" and (waited > deadline_millis or not fit.both(candidate)):
            continue
        total += 1
        if len(page) < wanted.candidates_max:
            page.append(view_of(partition, candidate))
    return CandidatesPage(candidates=tuple(page), total=total)


def view_of(partition: PartitionReader, candidate: Candidate) -> CandidateView:
    """A candidate as answered. Its words may be gone with one of its ends only."""
    words = partition.words(candidate.words_at)
    said = words is not None or candidate.words_at is None
    if not said and not any(partition.is_erased(end.record_id) for end in (candidate.source, candidate.target)):
        raise StorageInconsistency("the words of a verdict are missing")
    return candidate_view(candidate, words)


def candidates_by_id(partition: PartitionReader, candidate_ids: tuple[str, ...]) -> tuple[CandidateView, ...]:
    """Candidates as they are now, in the order of their ids as given."""

    def views() -> Iterator[CandidateView]:
        for candidate_id in candidate_ids:
            candidate = partition.candidate(candidate_id)
            if candidate is None:
                raise StorageInconsistency("a candidate is missing")
            yield view_of(partition, candidate)

    return tuple(views())


def surfaced(partition: PartitionReader, commit_sequence: int) -> Surfaced:
    """What the save at a place of the partition has surfaced."""
    event = partition.event(commit_sequence)
    if not isinstance(event, RecordEvent) or not isinstance(event.operation, RecordSaved):
        raise StorageInconsistency("the event of a save is missing")
    changes = event.consequences.candidates if event.consequences else ()
    pending = [one for one in changes if isinstance(one, Opened) and one.channel == "lexical"]
    return Surfaced(candidates=tuple(_surfaced(partition, one) for one in pending), detected=event.operation.detected)


def _surfaced(partition: PartitionReader, opened: Opened) -> SurfacedCandidate:
    version = partition.record(opened.target.record_id)
    payload = None if version is None else payload_of(partition, version.meta)
    return SurfacedCandidate(
        candidate_id=opened.candidate_id,
        target_id=opened.target.record_id,
        title=None if payload is None else payload.title,
        snippet=None if payload is None else payload.content[: limits.SNIPPET_CHARACTERS_MAX],
        similarity=opened.similarity,
        channel=opened.channel,
        topic_key=None if payload is None else payload.topic_key,
    )


def annotated(
    partition: PartitionReader, now_millis: int, record_ids: tuple[str, ...], relations_max: int
) -> tuple[AnnotatedRecord | None, ...] | Refusal:
    """1 to 20 distinct eligible records with what judgments say of them; null for an absent or ineligible one."""
    if not 1 <= len(record_ids) <= limits.ANNOTATED_MAX or len(set(record_ids)) != len(record_ids):
        return invalid("record_ids must be 1 to 20 distinct ids")
    try:
        return tuple(_annotated(partition, now_millis, record_ids, relations_max))
    except Refused as refused:
        return refused.refusal


def _annotated(
    partition: PartitionReader, now_millis: int, record_ids: tuple[str, ...], relations_max: int
) -> Iterator[AnnotatedRecord | None]:
    evaluator = Evaluator(partition, now_millis)
    annotator = annotator_of(partition, evaluator, len(record_ids))
    standings = Standings(partition)
    for record_id in record_ids:
        version = evaluator.record(record_id)
        if version is None or not evaluator.is_eligible(version):
            yield None
            continue
        standing = standings.of(record_id)
        relations, total = annotator.annotations(record_id, standing, relations_max)
        yield AnnotatedRecord(
            record=record_view(partition, version),
            standing=standing,
            relations=relations,
            relations_total=total,
            needs_review=why(partition, version, now_millis),
        )


def annotator_of(partition: PartitionReader, evaluator: Evaluator, records: int) -> Annotator:
    """What annotates so many records: reasons are cut short where there is more than one."""
    short = limits.REASON_SHOWN_CHARACTERS_MAX if records > 1 else limits.REASON_CHARACTERS_MAX
    return Annotator(partition, evaluator, short)


class Fitness:
    """Which records are active and current, each looked up once."""

    def __init__(self, partition: PartitionReader) -> None:
        self._partition = partition
        self._known: dict[str, bool] = {}

    def both(self, candidate: Candidate) -> bool:
        """Whether both ends of a pair are."""
        return self._is_fit(candidate.source.record_id) and self._is_fit(candidate.target.record_id)

    def _is_fit(self, record_id: str) -> bool:
        if record_id not in self._known:
            version = self._partition.record(record_id)
            active = version is not None and version.meta.state == "active"
            self._known[record_id] = active and self._partition.standing(record_id).state == "current"
        return self._known[record_id]
