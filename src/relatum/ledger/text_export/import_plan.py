"""From what is carried to the commands that bring it back, in an order in which each is accepted.

What must come before what: a record before whatever speaks of it, and with the content that is spoken of; a link
before its ends are archived; of two records of one topic, the first gives its slot up before the other asks for it.
Records are reviewed last of all: a pin holds over a review, and what pins a rejected record could not be made then.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from itertools import pairwise
from typing import Final, NamedTuple

from msgspec.structs import replace

from relatum.core.commands import (
    ArchiveRecord,
    AssertRelation,
    CreateRecord,
    DeriveRecord,
    MarkStale,
    PinRecord,
    RecordOperation,
    RelationOperation,
    ReviewRecord,
    ReviewRelation,
    ReviseRecord,
    SaveRecord,
)
from relatum.core.decide.judgment_rules import judgment_problem
from relatum.core.ids import Author, Ref
from relatum.core.judgments import Comparing, Comparison, Judgment
from relatum.core.kinds import LINK_TOKENS
from relatum.core.links import Link, LinkOperation
from relatum.core.records import Derivation
from relatum.core.relations import RelationInput
from relatum.core.verdicts import VERDICTS
from relatum.ledger.text_export.export_errors import TextUnusable
from relatum.ledger.text_export.model import CarriedPartition, CarriedRecord, CarriedRelation, CarriedVerdict
from relatum.ledger.text_export.serializer import LINK_PREFIX
from relatum.ledger.text_export.successions import Successions

_REVIEW: Final = "record-review/"


class NoOrder(TextUnusable):
    """There is no order of commands that brings back what is carried."""


class Step(NamedTuple):
    """One command. `name` tells it from all others; `of` says what comes to be, as counts call it."""

    name: str
    author: Author
    operation: RecordOperation | RelationOperation | LinkOperation | Comparing
    given_ids: dict[str, str]
    of: str | None


class Plan:
    """The steps of one partition and which of them each needs done before it. Raises TextUnusable for unknown ends."""

    def __init__(self, carried: CarriedPartition) -> None:
        self._records = carried.records
        self._steps: dict[str, Step] = {}
        self._earlier = {
            end for record in carried.records.values() for one in record.relations for end in one.earlier_ids
        }
        self.needs: defaultdict[str, set[str]] = defaultdict(set)
        self._successions = Successions(carried.records)
        for record in carried.records.values():
            self._plan_record(record)
            for relation in record.relations:
                self._plan_relation(record.record_id, relation)
        self._plan_topics()

    def in_order(self) -> list[Step]:
        """The steps, each after those it needs; in one order. Raises NoOrder where there is none."""
        waiting = {name: len(self.needs[name]) for name in self._steps}
        followers: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._steps:
            for needed in self.needs[name]:
                followers[needed].append(name)
        ready = [(_is_last(name), name) for name, count in waiting.items() if count == 0]
        heapq.heapify(ready)
        ordered: list[Step] = []
        while ready:
            _, name = heapq.heappop(ready)
            ordered.append(self._steps[name])
            for follower in followers[name]:
                waiting[follower] -= 1
                if waiting[follower] == 0:
                    heapq.heappush(ready, (_is_last(follower), follower))
        if len(ordered) < len(self._steps):
            raise NoOrder("there is no order in which its records could have come to be as they are")
        return ordered

    def _record(self, record_id: str) -> CarriedRecord:
        record = self._records.get(record_id)
        if record is None:
            raise TextUnusable(f"{record_id} is spoken of, and has no file")
        return record

    def _step(
        self,
        name: str,
        author: Author,
        operation: RecordOperation | RelationOperation | LinkOperation | Comparing,
        of: str | None,
        *needs: str,
        **given_ids: str,
    ) -> None:
        if name in self._steps:
            raise TextUnusable("something is there twice")
        self._steps[name] = Step(name, author, operation, given_ids, of)
        self.needs[name].update(needs)

    # How far a record is

    def _revised(self, record: CarriedRecord) -> bool:
        """Whether it has its content from a second command.

        So it is where somebody else than its present author took over the topic slot with it, where it comes late, and
        where a relation pins an earlier content.
        """
        takeover = self._successions.takeovers.get(record.record_id)
        by_another = takeover is not None and takeover.author != record.author
        return by_another or record.record_id in self._earlier or record.record_id in self._successions.late

    def _ref(self, record_id: str) -> Ref:
        """A record with the content that it has in the end."""
        return Ref(record_id=record_id, revision=1 + self._revised(self._record(record_id)))

    def _done(self, record_id: str) -> str:
        """The step that leaves a record with that content."""
        return _content_step(record_id) if self._revised(self._record(record_id)) else f"record/{record_id}"

    # Records

    def _plan_record(self, record: CarriedRecord) -> None:
        record_id, of, done = record.record_id, record.input.type or "memory", self._done(record.record_id)
        self._plan_birth(record, of)
        if self._revised(record):
            content = ReviseRecord(record_id=record_id, expected_revision=1, record=record.input)
            needed = self._successions.freed(record) if record_id in self._successions.late else f"record/{record_id}"
            self._step(_content_step(record_id), record.author, content, None, needed)
        if record.review is not None:
            review = ReviewRecord(
                record_id=record_id,
                expected_revision=self._ref(record_id).revision,
                disposition=record.review.disposition,
                evidence_ref=record.review.evidence_ref,
            )
            self._step(f"{_REVIEW}{record_id}", record.review.author, review, None, done)
        self._plan_standing(record, done)
        for link in record.links:
            name = f"link/{record_id}/{link.target_id}"
            operation = Link(source_id=record_id, target_id=link.target_id, kind=link.kind)
            born = f"record/{record_id}", f"record/{link.target_id}"
            self._step(name, link.author, operation, f"{LINK_PREFIX}{link.kind}", *born)
            for end in (record, self._record(link.target_id)):
                if end.archived:
                    self.needs[f"archive/{end.record_id}"].add(name)

    def _plan_birth(self, record: CarriedRecord, of: str) -> None:
        record_id, author, derivation = record.record_id, record.author, record.derivation
        name, relation = f"record/{record_id}", self._successions.takeovers.get(record_id)
        if relation is not None:
            assert relation.verdict is not None and relation.verdict.takeover_id is not None
            given = {"relation": relation.relation_id, "candidate": relation.verdict.takeover_id}
            needed = self._reached(relation.target_id, relation)
            save = SaveRecord(record=record.input)
            self._step(name, relation.author, save, of, needed, record=record_id, **given)
        elif derivation is None:
            first = replace(record.input, topic_key=None) if record_id in self._successions.late else record.input
            self._step(name, author, CreateRecord(record=first), of, record=record_id)
        else:
            sources = tuple(map(self._ref, derivation.source_ids))
            derive = DeriveRecord(
                record=record.input,
                derivation=Derivation(
                    sources=sources,
                    method=derivation.method,
                    method_revision=derivation.method_revision,
                    evidence_ref=derivation.evidence_ref,
                ),
            )
            self._step(name, author, derive, of, *map(self._done, derivation.source_ids), record=record_id)

    def _plan_standing(self, record: CarriedRecord, done: str) -> None:
        record_id, author = record.record_id, record.author
        revision = self._ref(record_id).revision
        if record.archived:
            early = record_id in self._successions.late and record.superseded_by is None
            archive = ArchiveRecord(record_id=record_id, expected_revision=1 if early else revision)
            self._step(f"archive/{record_id}", author, archive, None, f"record/{record_id}" if early else done)
        if record.pinned:
            self._step(
                f"pin/{record_id}", author, PinRecord(record_id=record_id, expected_revision=revision), None, done
            )
        for mark in record.marks:
            stale = MarkStale(record_id=record_id, because=self._ref(mark.because_id), confidence=mark.confidence)
            name = f"stale/{record_id}/{mark.because_id}"
            self._step(name, author, stale, "stale-mark", done, self._done(mark.because_id))

    # Relations

    def _plan_relation(self, source_id: str, relation: CarriedRelation) -> None:
        own, target_id, of = relation.relation_id, relation.target_id, LINK_TOKENS[relation.kind]
        if source_id == target_id:
            raise TextUnusable(f"{source_id} is related to itself")
        name = f"relation/{own}"
        ends = [self._reached(end, relation) for end in (source_id, target_id, *relation.evidence_ids)]
        if self._record(target_id).superseded_by == own:
            name = self._successions.supersession(target_id)
            self._plan_supersession(source_id, target_id, name)
        if relation.verdict is None:
            self._step(name, relation.author, self._assertion(source_id, relation), of, *ends, relation=own)
        elif relation.verdict.takeover_id is None:
            self._step(name, relation.author, _comparing(source_id, relation), of, *ends, relation=own)
        elif self._successions.takeovers.get(source_id) is not relation:
            raise TextUnusable("a takeover that supersedes nothing")
        for end in relation.earlier_ids:
            self.needs[_content_step(end)].add(name)
        if relation.review is not None:
            review = ReviewRelation(
                relation_id=own,
                expected_revision=1,
                disposition=relation.review.disposition,
                evidence_ref=relation.review.evidence_ref,
            )
            self._step(f"relation-review/{own}", relation.review.author, review, None, name)

    def _assertion(self, source_id: str, relation: CarriedRelation) -> AssertRelation:
        given = RelationInput(
            source=self._spoken_of(source_id, relation),
            target=self._spoken_of(relation.target_id, relation),
            kind=relation.kind,
            provenance=relation.provenance,
            valid_from_millis=relation.valid_from_millis,
            valid_until_millis=relation.valid_until_millis,
            evidence_sources=tuple(self._spoken_of(source, relation) for source in relation.evidence_ids),
        )
        return AssertRelation(relation=given)

    def _spoken_of(self, record_id: str, relation: CarriedRelation) -> Ref:
        earlier = record_id in relation.earlier_ids
        return Ref(record_id=record_id, revision=1) if earlier else self._ref(record_id)

    def _reached(self, record_id: str, relation: CarriedRelation) -> str:
        """The step after which a relation can speak of a record."""
        return f"record/{record_id}" if record_id in relation.earlier_ids else self._done(record_id)

    def _plan_supersession(self, source_id: str, target_id: str, name: str) -> None:
        """Both ends are current when one supersedes the other, so what ends that comes later."""
        for end in (source_id, target_id):
            if self._record(end).archived:
                self.needs[f"archive/{end}"].add(name)
        if self._record(source_id).superseded_by is not None:
            self.needs[self._successions.supersession(source_id)].add(name)

    # Topics

    def _plan_topics(self) -> None:
        """Whoever asks for a topic slot comes after whoever has given it up; who holds it in the end comes last."""
        topics: defaultdict[str, list[list[str]]] = defaultdict(list)
        for line in self._successions.lines():
            topic = self._record(line[0]).input.topic_key
            if topic is not None:
                topics[topic].append(line)
        for lines in topics.values():
            lines.sort(key=lambda line: (self._record(line[-1]).current, line))
            for before, after in pairwise(lines):
                last = self._record(before[-1])
                if last.current:
                    raise TextUnusable("two records hold one topic slot")
                self.needs[f"record/{after[0]}"].add(self._successions.freed(last))


def planned(carried: CarriedPartition) -> tuple[Plan, list[Step]]:
    """A plan of a partition and its steps in order. Raises TextUnusable."""
    plan = Plan(carried)
    return plan, plan.in_order()


def _content_step(record_id: str) -> str:
    """The step that gives a record its content by a second command."""
    return f"record-content/{record_id}"


def _is_last(name: str) -> bool:
    """Whether a step comes after all others: nothing needs a review of a record."""
    return name.startswith(_REVIEW)


def _comparing(source_id: str, relation: CarriedRelation) -> Comparing:
    verdict = relation.verdict
    if verdict is None or relation.kind not in VERDICTS:
        raise TextUnusable("a verdict of a kind that no verdict has")
    _require_sound(relation, verdict)
    return Comparing(
        comparison=Comparison(
            source_id=source_id,
            target_id=relation.target_id,
            relation=VERDICTS[relation.kind],
            confidence=verdict.confidence,
            reason=verdict.reason,
            evidence=verdict.evidence,
            provenance=relation.provenance,
        )
    )


def _require_sound(relation: CarriedRelation, verdict: CarriedVerdict) -> None:
    """The static rules of verdicts, which a decision takes for granted."""
    problem = judgment_problem(
        Judgment(
            candidate_id=relation.relation_id,
            relation=VERDICTS[relation.kind],
            reason=verdict.reason,
            confidence=verdict.confidence,
            provenance=relation.provenance,
        )
    )
    if problem is not None:
        raise TextUnusable(f"{relation.relation_id}: {problem}")
