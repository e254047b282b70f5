"""Every answer about judgments held against the book."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import msgspec

from relatum.core.judgment_queries import JudgmentsQuery, SearchQuery
from relatum.ledger import Ledger
from relatum.reads import judgments, needs_review, search, standings
from relatum.reads.annotations import AnnotatedRecord
from relatum.store.view import LedgerView
from tests.judgments.model.book import DEADLINE, RESURFACING, Book, Claim, Pair
from tests.judgments.model.finding import scores
from tests.support.builders import PARTITION, SCOPE

RANKS = ["conflicts_with", "supersedes", "superseded_by", "pending_conflict", "scoped", "compatible", "related"]
KINDS = {"conflicts_with": "contradicts", "related": "semantic_related"}


class JudgmentsCompared:
    """Asks one view everything."""

    def __init__(self, view: LedgerView, book: Book) -> None:
        self._partition = view.partition(PARTITION)
        self._now = view.now_millis
        self._book = book

    def standings(self) -> None:
        """What stands beside each record, and who holds each slot."""
        book = self._book
        for name, sheet in book.sheets.items():
            by = book.superseder(name)
            expected = {
                "state": book.state(name),
                "pinned": sheet.pinned,
                "superseded_by": None if by is None else by.source.record_id,
                "replaces": book.replaces(name),
            }
            assert expected == plain(standings.Standings(self._partition).of(name)), name
        for topic in {sheet.topic for sheet in book.sheets.values() if sheet.topic}:
            holder = book.holder(topic)
            assert (holder.id if holder else None) == self._partition.topic_holder(topic)

    def queue(self, min_age: int | None, limit: int) -> None:
        """The candidates of each status."""
        for status in (None, "pending", "judged", "orphaned"):
            asked = JudgmentsQuery(contract_version=1, scope=SCOPE, status=status, min_age_millis=min_age, limit=limit)
            page = judgments.query(self._partition, self._now, asked, RESURFACING, DEADLINE)
            expected = self._book.offered(status, min_age, self._now)
            assert len(expected) == page.total
            assert [self._shown(pair) for pair in expected[:limit]] == [plain(one) for one in page.candidates]

    def _shown(self, pair: Pair) -> Any:
        marker = None if pair.marker is None else {"kind": pair.marker, "author": plain(pair.author)}
        return {
            "candidate_id": pair.id,
            "source": plain(pair.source),
            "target": plain(pair.target),
            "status": pair.status,
            "detection": {"channel": pair.channel, "similarity": pair.similarity},
            "relation_kind": None if pair.verdict is None else KINDS.get(pair.verdict, pair.verdict),
            "relation_id": pair.claim,
            "reason": self._book.said(pair),
            "evidence": None,
            "confidence": pair.confidence,
            "marked_by": marker,
            "created_at_millis": pair.made,
            "judged_at_millis": pair.judged,
        }

    def annotations(self, limit: int) -> None:
        """What judgments say of each record, from its own point of view."""
        names = list(self._book.sheets)
        for at in range(0, len(names), 20):
            part = tuple(names[at : at + 20])
            answers = judgments.annotated(self._partition, self._now, part, limit)
            assert isinstance(answers, tuple)
            for name, answer in zip(part, answers, strict=True):
                assert self._book.eligible(name) == (answer is not None)
                if answer is not None:
                    self._annotated(name, answer, limit)

    def _annotated(self, name: str, answer: AnnotatedRecord, limit: int) -> None:
        expected = sorted(self._mentions(name), key=lambda one: one[0])
        assert len(expected) == answer.relations_total
        assert [shown for _, shown in expected[:limit]] == [plain(one) for one in answer.relations]

    def _mentions(self, name: str) -> list[tuple[tuple[int, int, str], Any]]:
        book = self._book
        found = []
        claims = [claim for claim in book.claims.values() if claim.holds and claim.verdict != "not_conflict"]
        things: list[Claim | Pair] = [*claims, *book.oldest("pending")]
        for thing in things:
            if name not in thing.ends:
                continue
            outgoing = thing.ends[0] == name
            other = thing.ends[outgoing]
            if book.eligible(other):
                kind = _seen(thing, outgoing)
                shown = {
                    "kind": kind,
                    "direction": "outgoing" if outgoing else "incoming",
                    "target_id": other,
                    "preview": book.sheets[other].content[:120],
                    **self._details(thing),
                }
                found.append(((RANKS.index(kind), -thing.made, thing.id), shown))
        return found

    def _details(self, thing: Claim | Pair) -> dict[str, Any]:
        if isinstance(thing, Pair):
            return {"candidate_id": thing.id, "status": "pending"}
        reason = self._book.said(thing)
        details: dict[str, Any] = {"status": "judged"}
        if thing.candidate is not None:
            details["candidate_id"] = thing.candidate
        if reason is not None:
            details["reason"] = reason[:350] if len(self._book.sheets) > 1 else reason
        if thing.confidence is not None:
            details["confidence"] = thing.confidence
        return details

    def reviews(self, limit: int) -> None:
        """What should be looked at again."""
        queue = needs_review.needs_review(self._partition, self._now, limit)
        expected = self._book.to_review(self._now)
        assert len(expected) == queue.total
        assert queue.coverage.complete
        assert len(self._book.sheets) == queue.coverage.scanned_records
        found = [
            (
                one.record.record_id,
                one.needs_review.baseline_at_millis,
                one.needs_review.refuted_at_millis,
                one.needs_review.escalated,
            )
            for one in queue.records
        ]
        assert expected[:limit] == found

    def searches(self, ledger: Ledger, text: str) -> None:
        """Eligible, current records by their words, the best first."""
        hits = ledger.judgments.search(self._partition, text)
        asked = SearchQuery(contract_version=1, scope=SCOPE, text=text, limit=50, relations_limit=0)
        answers = search.search(self._partition, self._now, asked, (hit.record_id for hit in hits))
        assert isinstance(answers, tuple)
        expected = scores(self._book, text)
        found = [one.record.record_id for one in answers]
        assert sorted(expected) == sorted(found)
        ranked = [expected[name] for name in found]
        assert all(first >= second - 1e-9 for first, second in pairwise(ranked)), ranked


def _seen(thing: Claim | Pair, outgoing: bool) -> str:
    if isinstance(thing, Pair):
        return "pending_conflict"
    return "superseded_by" if thing.verdict == "supersedes" and not outgoing else thing.verdict


def plain(value: Any) -> Any:
    """A struct as JSON would have it."""
    return msgspec.json.decode(msgspec.json.encode(value))
