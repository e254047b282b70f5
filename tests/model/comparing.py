"""Compares what a ledger answers with what an oracle says, read by read and row by row."""

from __future__ import annotations

from collections import Counter
from typing import Any

from relatum.core.answers.records import Record
from relatum.core.answers.relations import Relation
from relatum.core.ids import Ref
from relatum.core.queries import RecordFilter, RelationFilter
from relatum.errors import Refusal
from relatum.ledger.reads import receipts, record_query, records, relation_query, relations
from relatum.store import adjacency
from relatum.store.keys import Table, Use, beyond
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView
from tests.model.oracle import Link, Oracle, Page, Paper
from tests.support.builders import PARTITION, unknown_id


class Comparison:
    """One view of a ledger beside an oracle. `served` is whatever `reads` found to be eligible, as it was answered."""

    def __init__(self, view: LedgerView, oracle: Oracle) -> None:
        self.reader: PartitionReader = view.partition(PARTITION)
        self.now = view.now_millis
        self.store_key = view.store_key
        self.oracle = oracle
        self.served: dict[str, Record | Relation] = {}

    # After every step

    def reads(self) -> None:
        for paper in self.oracle.papers.values():
            self._paper(paper)
        for link in self.oracle.links.values():
            self._link(link)
        assert isinstance(records.read(self.reader, self.now, unknown_id()), Refusal)
        assert isinstance(relations.inspect(self.reader, self.now, unknown_id()), Refusal)
        assert sum(self.oracle.commands.values()) == self.reader.head().sequence

    def _paper(self, paper: Paper) -> None:
        verdict = self.oracle.judge_paper(paper, self.now)
        inspection = records.inspect(self.reader, self.now, paper.id)
        assert not isinstance(inspection, Refusal)
        told, first = inspection.eligibility, inspection.eligibility.first_failure
        assert (verdict.reason, verdict.culprit) == (
            first.reason if first else None,
            first.record_id if first else None,
        )
        assert (verdict.reason is None) == told.eligible
        assert len(verdict.looked_at) == told.dependency_work.records_examined == told.dependencies_checked
        assert_record(paper, paper.revision, inspection.record)
        read = records.read(self.reader, self.now, paper.id)
        assert told.eligible == (not isinstance(read, Refusal))
        if not isinstance(read, Refusal):
            assert inspection.record == read
            self.served[paper.id] = read

    def _link(self, link: Link) -> None:
        verdict = self.oracle.judge_link(link, self.now)
        inspection = relations.inspect(self.reader, self.now, link.id)
        assert not isinstance(inspection, Refusal)
        relation, told = inspection.relation, inspection.eligibility
        assert (verdict.reason or "eligible") == told.reason
        assert (verdict.reason is None) == told.eligible
        assert len(verdict.looked_at) == told.dependency_work.records_examined
        of_end, of_proof = told.endpoint, told.evidence_failure
        if told.reason.startswith("endpoint"):
            assert of_end is not None
            assert verdict.culprit == of_end.record_id
        if told.reason == "evidence_unavailable":
            assert verdict.culprit == getattr(of_proof, "record_id", None)
        assert (link.revision, link.reporter, "retired" if link.now.retired else "active", link.now.verdict) == (
            relation.revision,
            relation.reported_by,
            relation.state,
            relation.review.disposition if relation.review else None,
        )
        assert (link.marks[0].written, link.now.written) == (relation.created_at_millis, relation.modified_at_millis)
        assert (link.given.source, link.given.target, link.given.kind) == (
            relation.input.source,
            relation.input.target,
            relation.input.kind,
        )
        read = relations.read(self.reader, self.now, link.id)
        assert told.eligible == (not isinstance(read, Refusal))
        if not isinstance(read, Refusal):
            assert inspection.relation == read
            self.served[link.id] = read

    # Now and then

    def history(self) -> None:
        """Every revision of everything, and every receipt."""
        for paper in self.oracle.papers.values():
            for number in range(1, paper.revision + 1):
                told = records.revision(self.reader, paper.id, number)
                assert not isinstance(told, Refusal)
                assert number == told.receipt.revision
                assert_record(paper, number, told.record)
            for number in (0, paper.revision + 1):
                assert isinstance(records.revision(self.reader, paper.id, number), Refusal)
        for link in self.oracle.links.values():
            for number, mark in enumerate(link.marks, start=1):
                kept = relations.revision(self.reader, link.id, number)
                assert not isinstance(kept, Refusal)
                assert (number, mark.written) == (kept.receipt.revision, kept.relation.modified_at_millis)
                assert mark.retired == (kept.relation.state == "retired")
            for number in (0, link.revision + 1):
                assert isinstance(relations.revision(self.reader, link.id, number), Refusal)
        for (family, subject, key), (_, receipt) in self.oracle.answered.items():
            assert receipt == receipts.read(self.reader, subject, family, key)  # type: ignore[arg-type]  # a family

    def pages(self, limit: int) -> None:
        """All pages of both queries, oldest first: they give everything once, in order."""
        oracle = self.oracle
        found = self._all_pages(record_query.query, RecordFilter, limit)
        eligible = [paper.id for paper in oracle.papers.values() if oracle.judge_paper(paper, self.now).reason is None]
        assert sorted(eligible) == [record.record_id for page in found for record in page.records]
        kept = self._all_pages(relation_query.query, RelationFilter, limit)
        listed = [(each.relation.relation_id, each.eligibility.reason) for page in kept for each in page.relations]
        judged = [(link.id, oracle.judge_link(link, self.now).reason or "eligible") for link in oracle.links.values()]
        assert sorted(judged) == listed

    def _all_pages(self, query: Any, filter_type: Any, limit: int) -> list[Any]:
        pages, cursor = [], None
        while True:
            wanted = filter_type(limit=limit, order="created_asc", cursor=cursor)
            page = query(self.reader, self.now, self.store_key, wanted)
            assert not isinstance(page, Refusal)
            pages.append(page)
            cursor = page.next_cursor
            if cursor is None:
                return pages

    def indexes(self) -> None:
        """Adjacency in both directions, reverse dependencies and topic slots agree with everything else."""
        links, papers = self.oracle.links.values(), self.oracle.papers.values()
        for paper in papers:
            for end in _contents(paper):
                outgoing = sorted(link.id for link in links if link.indexed and self._content(link.given.source) == end)
                incoming = sorted(link.id for link in links if link.indexed and self._content(link.given.target) == end)
                assert outgoing == [entry.relation_id for entry in adjacency.entries(self.reader, Table.OUTGOING, end)]
                assert incoming == [entry.relation_id for entry in adjacency.entries(self.reader, Table.INCOMING, end)]
        assert self._expected_uses() == self._found_uses()
        for paper in papers:
            topic = paper.now.given.topic_key
            if topic is not None and not paper.now.deleted:
                assert paper.id == self.reader.topic_holder(topic)
        slots = Counter(paper.now.given.topic_key for paper in papers if not paper.now.deleted)
        slots.pop(None, None)
        table = self.reader.keys.table(Table.TOPIC)
        assert len(slots) == len(list(self.reader.reader.scan(table, beyond(table))))

    def erasures(self) -> None:
        """A deleted record has no erasable row left, a living one those that its revisions brought."""
        for paper in self.oracle.papers.values():
            prefix = self.reader.keys.payloads(paper.id)
            found = [
                int.from_bytes(key[len(prefix) :], "big") for key, _ in self.reader.reader.scan(prefix, beyond(prefix))
            ]
            assert found == ([] if paper.now.deleted else list(range(1, paper.revision + 1)))

    def _expected_uses(self) -> Counter[tuple[Ref, Use]]:
        uses: Counter[tuple[Ref, Use]] = Counter()
        for paper in self.oracle.papers.values():
            uses.update(self._use(source, Use.DERIVED) for source in paper.sources)
        for link in self.oracle.links.values():
            uses[self._use(link.given.source, Use.SOURCE)] += 1
            uses[self._use(link.given.target, Use.TARGET)] += 1
            uses.update(self._use(proof, Use.EVIDENCE) for proof in link.given.evidence_sources)
        return uses

    def _use(self, pin: Ref, use: Use) -> tuple[Ref, Use]:
        return self._content(pin), use

    def _content(self, pin: Ref) -> Ref:
        return Ref(record_id=pin.record_id, revision=self.oracle.papers[pin.record_id].content_of(pin.revision))

    def _found_uses(self) -> Counter[tuple[Ref, Use]]:
        uses: Counter[tuple[Ref, Use]] = Counter()
        for paper in self.oracle.papers.values():
            for content in _contents(paper):
                uses.update((content, use) for use, _ in adjacency.dependents(self.reader, content))
        return uses


def _contents(paper: Paper) -> list[Ref]:
    numbers = [number for number, page in enumerate(paper.pages, 1) if page.brings_content]
    return [Ref(record_id=paper.id, revision=number) for number in numbers]


def assert_record(paper: Paper, number: int, told: Record) -> None:
    """The record at one revision; its content is gone from every revision once the record is deleted."""
    page = paper.pages[number - 1]
    assert (paper.id, number, page.author, "deleted" if page.deleted else "active") == (
        told.record_id,
        told.revision,
        told.author,
        told.state,
    )
    assert (paper.pages[0].written, page.written) == (told.created_at_millis, told.modified_at_millis)
    assert paper.content_of(number) == told.content_revision
    assert paper.sources == (told.derivation.sources if told.derivation else ())
    if paper.now.deleted:
        assert (None, None) == (told.input, told.review)
    else:
        _assert_content(page, told)


def _assert_content(page: Page, told: Record) -> None:
    assert told.input is not None
    given = page.given
    for member in ("type", "content", "title", "topic_key", "event_time_millis", "valid_until_millis"):
        assert getattr(given, member) == getattr(told.input, member)
    review = told.review
    assert (page.verdict, page.note) == ((review.disposition, review.evidence_ref) if review else (None, None))
