"""Every answer about judgments held against the book."""

from __future__ import annotations

from typing import Any

import msgspec

from crash_tests.judgment_model.expected_state import Book, Claim, Pair
from crash_tests.violation import Violation, require_same
from relatum.core.answers.annotated import AnnotatedRecord
from relatum.core.ids import Scope
from relatum.core.judgment_queries import JudgmentsQuery
from relatum.errors import Refusal
from relatum.ledger.reads import judgments, needs_review, standings
from relatum.store.partition import PartitionReader

RANKS = ["conflicts_with", "supersedes", "superseded_by", "pending_conflict", "scoped", "compatible", "related"]
SCOPE = Scope(project_id="any", agent_id="any", visibility="shared")
"""What a query names; the partition is given already."""
KINDS = {"conflicts_with": "contradicts", "related": "semantic_related"}


class JudgmentsCompared:
    """Asks about one partition, as a view shows it at an instant."""

    def __init__(self, partition: PartitionReader, now_millis: int, book: Book) -> None:
        self._partition = partition
        self._now = now_millis
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
            found = plain(standings.checked_standing(self._partition, name))
            require_same(f"the standing of record {name}", expected, found)
        for topic in {sheet.topic for sheet in book.sheets.values() if sheet.topic}:
            holder = book.holder(topic)
            require_same(
                f"who holds {topic!r}", holder.id if holder else None, self._partition.topic_holder(topic or "")
            )

    def links(self) -> None:
        """The kind of each link, at both ends."""
        found = {
            name: {other: link.kind for other, link in self._partition.links_of(name)} for name in self._book.sheets
        }
        expected: dict[str, dict[str, str]] = {name: {} for name in self._book.sheets}
        for pair, kind in self._book.links.items():
            one, other = pair
            expected[one][other] = expected[other][one] = kind
        require_same("the links", expected, found)

    def promotions(self) -> None:
        """What promotions count, for each day and each pair."""
        book = self._book
        for day, count in book.promoted.items():
            require_same(f"how many edges were promoted for {day}", count, self._partition.promoted_on(day))
        for pair, days in book.suspected.items():
            one, other = pair
            require_same("on which days a pair was suspected", tuple(days), self._partition.suspicion(one, other))

    def queue(self, min_age: int | None, limit: int) -> None:
        """The candidates of each status."""
        for status in (None, "pending", "judged", "orphaned"):
            asked = JudgmentsQuery(contract_version=1, scope=SCOPE, status=status, min_age_millis=min_age, limit=limit)
            book = self._book
            page = judgments.query(self._partition, self._now, asked, book.resurfacing, book.deadline)
            expected = book.offered(status, min_age, self._now)
            require_same(f"how many {status or 'offered'} candidates there are", len(expected), page.total)
            shown = [self._shown(pair) for pair in expected[:limit]]
            require_same(f"the {status or 'offered'} candidates", shown, [plain(one) for one in page.candidates])

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

    def annotations(self, limit: int, names: list[str] | None = None) -> None:
        """What judgments say of each record, or of those that are named, from its own point of view."""
        names = list(self._book.sheets) if names is None else names
        for at in range(0, len(names), 20):
            part = tuple(names[at : at + 20])
            answers = judgments.annotated(self._partition, self._now, part, limit)
            if isinstance(answers, Refusal):
                raise Violation(f"annotations were refused: {answers}")
            for name, answer in zip(part, answers, strict=True):
                require_same(f"whether record {name} is shown", self._book.eligible(name), answer is not None)
                if answer is not None:
                    self._annotated(name, answer, limit, alone=len(part) == 1)

    def _annotated(self, name: str, answer: AnnotatedRecord, limit: int, *, alone: bool) -> None:
        mentions = sorted(self._mentions(name, alone=alone), key=lambda one: one[0])
        require_same(f"how much is said of record {name}", len(mentions), answer.relations_total)
        found = [plain(one) for one in answer.relations]
        require_same(f"what is said of record {name}", [shown for _, shown in mentions[:limit]], found)

    def _mentions(self, name: str, *, alone: bool) -> list[tuple[tuple[int, int, str], Any]]:
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
                    **self._details(thing, alone=alone),
                }
                found.append(((RANKS.index(kind), -thing.made, thing.id), shown))
        return found

    def _details(self, thing: Claim | Pair, *, alone: bool) -> dict[str, Any]:
        if isinstance(thing, Pair):
            return {"candidate_id": thing.id, "status": "pending"}
        reason = self._book.said(thing)
        details: dict[str, Any] = {"status": "judged"}
        if thing.candidate is not None:
            details["candidate_id"] = thing.candidate
        if reason is not None:
            details["reason"] = reason if alone else reason[:350]
        if thing.confidence is not None:
            details["confidence"] = thing.confidence
        return details

    def reviews(self, limit: int) -> None:
        """What should be looked at again."""
        queue = needs_review.needs_review(self._partition, self._now, limit)
        expected = self._book.to_review(self._now)
        totals = len(expected), True, len(self._book.sheets)
        coverage = queue.coverage
        require_same("what was to be reviewed", totals, (queue.total, coverage.complete, coverage.scanned_records))
        found = [
            (
                one.record.record_id,
                one.needs_review.baseline_at_millis,
                one.needs_review.refuted_at_millis,
                one.needs_review.escalated,
            )
            for one in queue.records
        ]
        require_same("the records to be reviewed", expected[:limit], found)


def _seen(thing: Claim | Pair, outgoing: bool) -> str:
    if isinstance(thing, Pair):
        return "pending_conflict"
    return "superseded_by" if thing.verdict == "supersedes" and not outgoing else thing.verdict


def plain(value: Any) -> Any:
    """A struct as JSON would have it."""
    return msgspec.json.decode(msgspec.json.encode(value))
