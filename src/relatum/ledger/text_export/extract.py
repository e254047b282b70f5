"""From a partition of a store to what is carried of it, and what is not.

What always holds: every active record, relation and link is either carried or counted under the reason why it is not.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Final, get_args

from msgspec.structs import replace

from relatum.core.answers.judgments import Status
from relatum.core.decide.verdicts import default_provenance
from relatum.core.eligibility import Evaluator
from relatum.core.ids import Ref
from relatum.core.kinds import LINK_TOKENS, REGISTRY
from relatum.core.records import RecordInput, RecordMeta
from relatum.core.relations import StoredRelation
from relatum.core.state import RecordVersion
from relatum.errors import StorageInconsistency
from relatum.ledger.text_export.manifest import LeftOut
from relatum.ledger.text_export.model import (
    CarriedDerivation,
    CarriedLink,
    CarriedMark,
    CarriedPartition,
    CarriedRecord,
    CarriedRelation,
    CarriedReview,
    CarriedVerdict,
)
from relatum.ledger.text_export.serializer import LINK_PREFIX
from relatum.store.partition import PartitionReader

DELETED: Final = "deleted"
RETIRED: Final = "retired"
ANOTHER_REVISION: Final = "pinned-to-another-revision"
END_LEFT_OUT: Final = "end-deleted-or-left-out"
END_INELIGIBLE: Final = "end-ineligible"
EVIDENCE_INELIGIBLE: Final = "evidence-ineligible"
ANCESTRY_INELIGIBLE: Final = "ancestry-ineligible"
TOPIC_SHARED: Final = "topic-shared-with-its-superseder"
COMES_BACK_ARCHIVED: Final = "superseder-left-out-so-archived"
NO_ORDER: Final = "no-order"
EXPECTED: Final = frozenset({DELETED, RETIRED})
"""Nobody counts on what was taken away; everything else is left out only where somebody says so."""


class _BeforeRejections:
    """The records as they were before they were rejected: what was made of them then is suspended, and not lost."""

    def __init__(self, reader: PartitionReader) -> None:
        self._reader = reader

    def record(self, record_id: str) -> RecordVersion | None:
        """A record, without a review that rejects it."""
        version = self._reader.record(record_id)
        if version is None or version.meta.disposition != "rejected":
            return version
        return version._replace(meta=replace(version.meta, review=None))


class Gathering:
    """One partition at one instant, gathered once."""

    def __init__(self, reader: PartitionReader, now_millis: int) -> None:
        self._reader = reader
        self._before_rejections = _BeforeRejections(reader)
        self._now_millis = now_millis
        self._left_out: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.history: Counter[str] = Counter()
        """What an export never has: earlier revisions, candidates, confirmations."""
        self._inputs: dict[str, tuple[RecordMeta, RecordInput]] = {}
        self._read_records()
        self._relations: defaultdict[str, list[CarriedRelation]] = defaultdict(list)
        self._superseded: dict[str, str] = {}
        for version in reader.relations():
            self._read_relation(version.relation)
        records = {record_id: self._record(record_id) for record_id in self._inputs}
        self.carried = CarriedPartition(partition=reader.partition, records=records)
        for status in get_args(Status):
            self.history[f"{status}_candidates"] += sum(1 for _ in reader.candidates(status))

    @property
    def left_out(self) -> LeftOut:
        """What this partition has and is not carried."""
        return {why: dict(counts) for why, counts in self._left_out.items()}

    def _read_records(self) -> None:
        for version in self._reader.records():
            meta = version.meta
            self.history["earlier_revisions"] += meta.revision - 1
            if meta.state == "deleted":
                self._left_out[DELETED][meta.facts.type] += 1
            elif not self._can_be_derived(version):
                self._left_out[ANCESTRY_INELIGIBLE][meta.facts.type] += 1
            else:
                self._inputs[meta.record_id] = meta, self._input(meta)

    def _can_be_derived(self, version: RecordVersion) -> bool:
        derivation = version.meta.derivation
        if derivation is None:
            return True
        evaluator = Evaluator(self._before_rejections, self._now_millis)  # one for each question, since each is bounded
        return evaluator.derivation_failure(derivation.sources) is None

    def _input(self, meta: RecordMeta) -> RecordInput:
        payload, facts = self._reader.payload(meta), meta.facts
        if payload is None:
            raise StorageInconsistency("a payload is missing")
        return RecordInput(
            content=payload.content,
            type=facts.type,
            title=payload.title,
            data=payload.data,
            tags=payload.tags,
            category=payload.category,
            topic_key=payload.topic_key,
            fact_key=payload.fact_key,
            provenance=payload.provenance,
            confidence=payload.confidence,
            event_time_millis=facts.event_time_millis,
            valid_until_millis=facts.valid_until_millis,
        )

    # Relations

    def _read_relation(self, relation: StoredRelation) -> None:
        verdict = self._verdict(relation)
        why = self._obstacle(relation, verdict)
        if why is not None:
            self._left_out[why][LINK_TOKENS[relation.input.kind]] += 1
            return
        if verdict is None:
            self.history["verdicts_that_do_not_count"] += self._reader.verdict(relation.relation_id) is not None
        given = relation.input
        if self._supersedes(relation):
            self._superseded[given.target.record_id] = relation.relation_id
        review = relation.review
        self._relations[given.source.record_id].append(
            CarriedRelation(
                relation_id=relation.relation_id,
                kind=given.kind,
                target_id=given.target.record_id,
                author=relation.reported_by,
                provenance=given.provenance,
                valid_from_millis=given.valid_from_millis,
                valid_until_millis=given.valid_until_millis,
                evidence_ids=tuple(source.record_id for source in given.evidence_sources),
                earlier_ids=self._earlier(relation),
                review=None
                if review is None
                else CarriedReview(
                    disposition=review.disposition, evidence_ref=review.evidence_ref, author=review.author
                ),
                verdict=verdict,
            )
        )

    def _obstacle(self, relation: StoredRelation, verdict: CarriedVerdict | None) -> str | None:
        """Why a relation can't be carried, or None."""
        given = relation.input
        ends = given.source, given.target
        if relation.state == "retired":
            return RETIRED
        if not all(end.record_id in self._inputs for end in ends):
            return END_LEFT_OUT
        if self._supersedes(relation):  # which holds whatever the ends have become
            return None if self._can_supersede(relation, verdict) else TOPIC_SHARED
        if not self._still_makes_sense(relation):
            return ANOTHER_REVISION
        if verdict is not None:
            return None
        if not all(map(self._can_be_related, ends)):
            return END_INELIGIBLE
        return None if all(map(self._can_be_related, given.evidence_sources)) else EVIDENCE_INELIGIBLE

    def _is_current(self, end: Ref) -> bool:
        return self._inputs[end.record_id][0].holds(end.revision)

    def _earlier(self, relation: StoredRelation) -> tuple[str, ...]:
        """The records of which a relation pins an earlier content."""
        given = relation.input
        spoken_of = (given.source, given.target, *given.evidence_sources)
        return tuple(ref.record_id for ref in spoken_of if not self._is_current(ref))

    def _still_makes_sense(self, relation: StoredRelation) -> bool:
        """Whether the kind of a relation goes with what its ends are now: what they were earlier is not carried."""
        given, row = relation.input, REGISTRY[relation.input.kind]
        source, target = (self._inputs[end.record_id][0].facts for end in (given.source, given.target))
        if (source.type, target.type) != (row.source_type, row.target_type):
            return False
        times = source.event_time_millis, target.event_time_millis
        return given.kind != "temporal_before" or (None not in times and times[0] < times[1])  # type: ignore[operator]

    def _can_be_related(self, ref: Ref) -> bool:
        """Whether a relation can speak of a record before it is reviewed; its ancestry was judged when it was read."""
        known = self._inputs.get(ref.record_id)
        if known is None:
            return False
        until = known[0].facts.valid_until_millis
        return until is None or self._now_millis < until

    def _supersedes(self, relation: StoredRelation) -> bool:
        """Whether a standing rests on a relation."""
        by = self._reader.standing(relation.input.target.record_id).superseded_by
        return by is not None and by.relation_id == relation.relation_id

    def _can_supersede(self, relation: StoredRelation, verdict: CarriedVerdict | None) -> bool:
        """Two records of one topic come one after the other only by a save that takes the slot."""
        took_over = verdict is not None and verdict.takeover_id is not None
        return took_over or not self._share_a_topic(relation)

    def _share_a_topic(self, relation: StoredRelation) -> bool:
        source, target = (self._inputs[end.record_id][1] for end in (relation.input.source, relation.input.target))
        return source.topic_key is not None and source.topic_key == target.topic_key

    def _verdict(self, relation: StoredRelation) -> CarriedVerdict | None:
        """The verdict that a relation is, if it is in force and the last one on its pair."""
        source_id, target_id = relation.input.source.record_id, relation.input.target.record_id
        stored = self._reader.verdict(relation.relation_id)
        if stored is None or not relation.indexed or not {source_id, target_id} <= self._inputs.keys():
            return None
        by = self._reader.standing(target_id).superseded_by
        counts = self._reader.verdict_between(source_id, target_id)
        if by is not None and by.record_id == source_id:
            counts = by.relation_id
        if counts != relation.relation_id:
            return None
        words = self._reader.words(stored.words_at)
        return CarriedVerdict(
            confidence=stored.confidence,
            reason=words.reason if words else None,
            evidence=words.evidence if words else None,
            takeover_id=stored.candidate_id if self._took_over(relation, stored.candidate_id) else None,
        )

    def _took_over(self, relation: StoredRelation, candidate_id: str | None) -> bool:
        """Whether the source came to be by taking the topic slot of the target, and would do so again."""
        source_id, target_id = relation.input.source.record_id, relation.input.target.record_id
        replaced = dict(self._reader.replaces(source_id)).get(target_id)
        return (
            replaced is not None
            and replaced.for_topic
            and self._inputs[source_id][0].derivation is None
            and self._share_a_topic(relation)
            and relation.input.provenance == default_provenance(f"candidate:{candidate_id}")
        )

    # Records

    def _record(self, record_id: str) -> CarriedRecord:
        meta, given = self._inputs[record_id]
        standing, derivation = self._reader.standing(record_id), meta.derivation
        superseded_by = self._superseded.get(record_id)
        lost = standing.superseded_by is not None and superseded_by is None
        if lost:
            self._left_out[COMES_BACK_ARCHIVED][given.type or "memory"] += 1
        confirmed = standing.affirmed_at_millis, standing.refuted_at_millis
        self.history["confirmations"] += sum(at_millis is not None for at_millis in confirmed)
        return CarriedRecord(
            record_id=record_id,
            author=meta.author,
            input=given,
            review=self._review(meta),
            derivation=None
            if derivation is None
            else CarriedDerivation(
                source_ids=tuple(source.record_id for source in derivation.sources),
                method=derivation.method,
                method_revision=derivation.method_revision,
                evidence_ref=derivation.evidence_ref,
            ),
            superseded_by=superseded_by,
            archived=standing.archived or lost,
            pinned=standing.pinned_at_millis is not None,
            marks=self._marks(record_id),
            links=tuple(self._links(record_id)),
            relations=tuple(self._relations[record_id]),
        )

    def _review(self, meta: RecordMeta) -> CarriedReview | None:
        evidence_ref = self._reader.review_evidence(meta)
        if meta.review is None or evidence_ref is None:
            return None
        return CarriedReview(disposition=meta.review.disposition, evidence_ref=evidence_ref, author=meta.review.author)

    def _marks(self, record_id: str) -> tuple[CarriedMark, ...]:
        """The marks in force, by what they are because of. With a record that is deleted its marks are lifted."""
        marks = {mark.because.record_id: mark.confidence for mark in self._reader.standing(record_id).stale_marks}
        for because_id in marks.keys() - self._inputs.keys():
            because = self._reader.record(because_id)
            if because is not None and because.meta.state != "deleted":
                self._left_out[END_LEFT_OUT]["stale-mark"] += 1
        kept = sorted(marks.keys() & self._inputs.keys())
        return tuple(CarriedMark(because_id=because_id, confidence=marks[because_id]) for because_id in kept)

    def _links(self, record_id: str) -> list[CarriedLink]:
        links = []
        for _, link in self._reader.links_of(record_id):
            if {link.source_id, link.target_id} <= self._inputs.keys():
                if link.source_id == record_id:
                    links.append(CarriedLink(target_id=link.target_id, kind=link.kind, author=link.author))
            else:
                self._left_out[END_LEFT_OUT][f"{LINK_PREFIX}{link.kind}"] += 1
        return links
