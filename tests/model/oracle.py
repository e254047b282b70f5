"""The ledger as a child would keep it: dictionaries of papers and links, and rules written out as plainly as they read.

Written from the contract alone and slow on purpose: nothing is remembered between two questions, every path is walked
again, and no code of the ledger's own rules is used. What is shared are the structs in which commands are given.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from relatum.core.commands import (
    AssertRelation,
    CreateRecord,
    DeleteRecord,
    DeriveRecord,
    RestoreRelation,
    RetireRelation,
    ReviewRecord,
    ReviewRelation,
    ReviseRecord,
)
from relatum.core.ids import Author, Ref
from relatum.core.receipts import Receipt, RecordReceipt, RelationReceipt
from relatum.core.records import RecordInput
from relatum.core.relations import RelationInput
from relatum.core.streams import RECORDS, RELATIONS, Stream
from tests.model.journal import Journal
from tests.model.notebook import Notebook
from tests.model.words import BAD, CONFLICT, MISSING, STALE
from tests.support.steps import Operation

DEEPEST, WIDEST = 8, 64


@dataclass(frozen=True)
class Page:
    """A record at one revision."""

    given: RecordInput
    author: Author
    written: int
    deleted: bool = False
    verdict: str | None = None
    note: str | None = None
    brings_content: bool = True


@dataclass
class Paper:
    """A record with all its revisions, and what it was made from."""

    id: str
    sources: tuple[Ref, ...]
    pages: list[Page] = field(default_factory=list)

    @property
    def revision(self) -> int:
        return len(self.pages)

    @property
    def now(self) -> Page:
        return self.pages[-1]

    @property
    def content(self) -> int:
        return self.content_of(self.revision)

    def content_of(self, pinned: int) -> int:
        """The last revision up to a pin that no review has brought."""
        return max(number for number, page in enumerate(self.pages[:pinned], 1) if page.brings_content)

    def holds(self, pinned: int) -> bool:
        return self.content <= pinned <= self.revision


@dataclass(frozen=True)
class Mark:
    """A relation at one revision."""

    written: int
    retired: bool = False
    verdict: str | None = None


@dataclass
class Link:
    """A relation with all its revisions."""

    id: str
    given: RelationInput
    reporter: Author
    marks: list[Mark] = field(default_factory=list)

    @property
    def revision(self) -> int:
        return len(self.marks)

    @property
    def now(self) -> Mark:
        return self.marks[-1]

    @property
    def indexed(self) -> bool:
        return not self.now.retired and self.now.verdict != "rejected"


@dataclass(frozen=True)
class Verdict:
    """Why something is not eligible: nothing at all if `reason` is None. `looked_at` are the dependencies asked for."""

    reason: str | None
    culprit: str | None
    looked_at: frozenset[str]


class Oracle:
    """One partition."""

    def __init__(self) -> None:
        self.papers: dict[str, Paper] = {}
        self.links: dict[str, Link] = {}
        self.answered: dict[tuple[str, str, str], tuple[Operation, Receipt]] = {}
        self.journals: dict[Stream, Journal] = {stream: Journal(stream) for stream in (RECORDS, RELATIONS)}
        self.notebook = Notebook()
        self.commands = {"record": 0, "relation": 0, "checkpoint": 0, "activation": 0}
        self.latest = 0

    # What must be answered

    def expect(self, author: Author, key: str, operation: Operation, now: int) -> Receipt | str | None:
        """The receipt of a replay, the code of a refusal, or None for a command that must be accepted."""
        known = self.answered.get((family_of(operation), author.subject_id, key))
        if known is not None:
            return known[1] if known[0] == operation else CONFLICT
        match operation:
            case CreateRecord(record=record):
                return BAD if blank(record) else self._topic(record, None)
            case DeriveRecord(record=record, derivation=derivation):
                return self._derivable(record, derivation.sources, now)
            case ReviseRecord() | DeleteRecord() | ReviewRecord():
                return self._changeable(operation)
            case AssertRelation(relation=relation):
                return BAD if senseless(relation) else self._assertable(relation, now)
            case RetireRelation() | RestoreRelation() | ReviewRelation():
                return self._alterable(operation, now)
            case _:
                raise AssertionError("the machine gives no such command")

    def _topic(self, record: RecordInput, own_id: str | None) -> str | None:
        for paper in self.papers.values():
            holds = not paper.now.deleted and paper.now.given.topic_key == record.topic_key is not None
            if holds and paper.id != own_id:
                return STALE
        return None

    def _derivable(self, record: RecordInput, sources: tuple[Ref, ...], now: int) -> str | None:
        if blank(record) or len({source.record_id for source in sources}) < len(sources):
            return BAD
        trouble = self._first_trouble(sources, now, 1)
        if trouble.reason is None:
            return self._topic(record, None)
        return {"source_missing": MISSING, "depth_limit": BAD, "node_limit": BAD}.get(trouble.reason, STALE)

    def _changeable(self, operation: ReviseRecord | DeleteRecord | ReviewRecord) -> str | None:
        revises = isinstance(operation, ReviseRecord)
        if operation.expected_revision == 0 or (isinstance(operation, ReviseRecord) and blank(operation.record)):
            return BAD
        paper = self.papers.get(operation.record_id)
        if paper is None:
            return MISSING
        if paper.revision != operation.expected_revision:
            return STALE
        if paper.now.deleted:
            return MISSING
        if revises and paper.sources:
            return STALE
        return self._topic(operation.record, paper.id) if isinstance(operation, ReviseRecord) else None

    def _alterable(self, operation: RetireRelation | RestoreRelation | ReviewRelation, now: int) -> str | None:
        if operation.expected_revision == 0:
            return BAD
        link = self.links.get(operation.relation_id)
        if link is None:
            return MISSING
        if link.revision != operation.expected_revision:
            return STALE
        if isinstance(operation, RetireRelation):
            return BAD if link.now.retired else None
        if isinstance(operation, RestoreRelation):
            return self._assertable(link.given, now) if link.now.retired else BAD
        return None

    def _assertable(self, relation: RelationInput, now: int) -> str | None:
        if self._end_trouble(relation, now)[0] is not None:
            return STALE
        ends = [self.papers[end.record_id].now.given for end in (relation.source, relation.target)]
        wanted = {"authored_by": ["memory", "person"]}.get(relation.kind, ["memory", "memory"])
        if [end.type for end in ends] != wanted:
            return BAD
        if relation.kind == "temporal_before":
            first, second = (end.event_time_millis for end in ends)
            if first is None or second is None or not first < second:
                return BAD
        trouble = self._first_trouble(relation.evidence_sources, now, 0).reason
        return None if trouble is None else BAD if trouble in {"depth_limit", "node_limit"} else STALE

    # What is eligible

    def judge_paper(self, paper: Paper, now: int) -> Verdict:
        own = own_trouble(paper.now, now)
        if own is not None:
            return Verdict(own, paper.id, frozenset())
        return self._first_trouble(paper.sources, now, 1)

    def judge_link(self, link: Link, now: int) -> Verdict:
        given, mark = link.given, link.now
        rules = [
            ("retired", mark.retired),
            ("rejected", mark.verdict == "rejected"),
            ("not_yet_valid", given.valid_from_millis is not None and now < given.valid_from_millis),
            ("expired", given.valid_until_millis is not None and not now < given.valid_until_millis),
        ]
        for rule, applies in rules:
            if applies:
                return Verdict(rule, None, frozenset())
        reason_of_end, culprit, looked_at = self._end_trouble(given, now)
        if reason_of_end is not None:
            return Verdict(reason_of_end, culprit, looked_at)
        proof = self._first_trouble(given.evidence_sources, now, 0)
        reason = None if proof.reason is None else "evidence_unavailable"
        return Verdict(reason, proof.culprit, looked_at | proof.looked_at)

    def _end_trouble(self, given: RelationInput, now: int) -> tuple[str | None, str | None, frozenset[str]]:
        looked_at: frozenset[str] = frozenset()
        for end in (given.source, given.target):
            paper = self.papers.get(end.record_id)
            if paper is None:
                return "endpoint_unavailable", end.record_id, looked_at
            if not paper.holds(end.revision):
                return "endpoint_revision_changed", end.record_id, looked_at
            verdict = self.judge_paper(paper, now)
            looked_at |= verdict.looked_at
            if verdict.reason is not None:
                return "endpoint_unavailable", end.record_id, looked_at
        return None, None, looked_at

    def _first_trouble(self, sources: tuple[Ref, ...], now: int, depth: int) -> Verdict:
        looked_at: set[str] = set()
        reason, culprit = next(self._troubles(sources, now, depth, looked_at), (None, None))
        return Verdict(reason, culprit, frozenset(looked_at))

    def _troubles(
        self, sources: tuple[Ref, ...], now: int, depth: int, looked_at: set[str]
    ) -> Iterator[tuple[str, str]]:
        """Everything wrong with sources and what they are made of, depth first."""
        for source in sources:
            name = source.record_id
            if depth > DEEPEST:
                yield "depth_limit", name
            if name not in looked_at and len(looked_at) >= WIDEST:
                yield "node_limit", name
            looked_at.add(name)
            paper = self.papers.get(name)
            if paper is None:
                yield "source_missing", name
            elif not paper.holds(source.revision):
                yield "source_revision_changed", name
            else:
                own = own_trouble(paper.now, now)
                if own is not None:
                    yield own, name
                yield from self._troubles(paper.sources, now, depth + 1, looked_at)

    # What was accepted

    def accept(self, author: Author, key: str, operation: Operation, receipt: Receipt) -> None:
        """Writes down a command that was accepted as `receipt` says."""
        family = family_of(operation)
        self.commands[family] += 1
        self.answered[family, author.subject_id, key] = (operation, receipt)
        self.latest = written = receipt.committed_at_millis
        if isinstance(receipt, RecordReceipt):
            self._write_paper(receipt.record_id, operation, author, written)
            self.journals[RECORDS].tell_of_a_record(receipt)
        else:
            assert isinstance(receipt, RelationReceipt)
            self._write_link(receipt.relation_id, operation, author, written)
            self.journals[RELATIONS].tell_of_a_relation(receipt, self.links[receipt.relation_id].given)

    def activate(self, stream: Stream, now: int) -> None:
        """Only the first activation of a stream is a command."""
        if not self.journals[stream].active:
            self.journals[stream].active = True
            self.commands["activation"] += 1
            self.latest = now

    def _write_paper(self, record_id: str, operation: Any, author: Author, written: int) -> None:
        match operation:
            case CreateRecord(record=record):
                self.papers[record_id] = Paper(record_id, (), [Page(record, author, written)])
            case DeriveRecord(record=record, derivation=derivation):
                self.papers[record_id] = Paper(record_id, derivation.sources, [Page(record, author, written)])
            case ReviseRecord(record=record):
                self.papers[record_id].pages.append(Page(record, author, written))
            case DeleteRecord():
                paper = self.papers[record_id]
                paper.pages.append(replace(paper.now, written=written, deleted=True, brings_content=True))
            case ReviewRecord(disposition=disposition, evidence_ref=note):
                paper = self.papers[record_id]
                review = replace(paper.now, written=written, verdict=disposition, note=note, brings_content=False)
                paper.pages.append(review)

    def _write_link(self, relation_id: str, operation: Any, author: Author, written: int) -> None:
        match operation:
            case AssertRelation(relation=relation):
                self.links[relation_id] = Link(relation_id, relation, author, [Mark(written)])
            case RetireRelation() | RestoreRelation():
                link = self.links[relation_id]
                retired = isinstance(operation, RetireRelation)
                link.marks.append(replace(link.now, written=written, retired=retired))
            case ReviewRelation(disposition=disposition):
                link = self.links[relation_id]
                link.marks.append(replace(link.now, written=written, verdict=disposition))


def family_of(operation: Operation) -> str:
    of_relations = AssertRelation | RetireRelation | RestoreRelation | ReviewRelation
    return "relation" if isinstance(operation, of_relations) else "record"


def blank(record: RecordInput) -> bool:
    """Whether there is nothing but white space: separators, and six control characters."""
    return all(one in "\t\n\v\f\r\x85" or unicodedata.category(one) in ("Zs", "Zl", "Zp") for one in record.content)


def senseless(relation: RelationInput) -> bool:
    """What is wrong with an assertion whatever the records are."""
    source, target = relation.source.record_id, relation.target.record_id
    proofs = [proof.record_id for proof in relation.evidence_sources]
    begins, ends = relation.valid_from_millis, relation.valid_until_millis
    return (
        source == target
        or (begins is not None and ends is not None and begins >= ends)
        or len(set(proofs)) < len(proofs)
        or source in proofs
        or target in proofs
    )


def own_trouble(page: Page, now: int) -> str | None:
    if page.deleted:
        return "deleted"
    if page.verdict == "rejected":
        return "rejected"
    expiry = page.given.valid_until_millis
    return "expired" if expiry is not None and now >= expiry else None
