"""Judgments as a child would keep them: sheets of records, claims that verdicts have made, and pairs that wait.

Written from the contract alone. Nothing is kept that can be told from something else: whether a record is superseded is
read off the claims, who holds a topic slot off the sheets. What is slow stays slow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from relatum.core.ids import Author, Ref

BAD = "invalid_request"
MISSING = "record_not_found"
STALE = "revision_conflict"
"""The codes with which commands are refused."""
DAY = 24 * 60 * 60 * 1000
RESURFACING = DAY
DEADLINE = 14 * DAY
MONTHS_TO_LIVE = {"procedural": 2, "project": 3, "feedback": 6, "user": 12}


@dataclass
class Sheet:
    """A record, as it is now."""

    id: str
    type: str
    content: str
    title: str | None
    topic: str | None
    category: str | None
    made: int
    revision: int = 1
    content_revision: int = 1
    deleted: bool = False
    rejected: bool = False
    archived: bool = False
    pinned: bool = False
    affirmed: int | None = None
    refuted: int | None = None
    stale_since: set[str] = field(default_factory=set)
    """The later records that make this one out of date."""
    took_from: str | None = None
    """The earlier version of the topic, whose slot a save took for this record."""

    @property
    def ref(self) -> Ref:
        """The record at its revision."""
        return Ref(record_id=self.id, revision=self.revision)

    def holds(self, pinned: int) -> bool:
        """Whether a pin on one of its revisions holds: only reviews came since."""
        return self.content_revision <= pinned <= self.revision

    @property
    def words(self) -> list[str]:
        """What it can be found by."""
        return [*(self.title or "").split(), *self.content.split()]


@dataclass
class Claim:
    """A relation that a verdict has made."""

    id: str
    verdict: str
    source: Ref
    target: Ref
    made: int
    reason: str | None
    confidence: float | None
    candidate: str | None
    revision: int = 1
    retired: bool = False
    rejected: bool = False
    interrupted: bool = False
    """Whether it has ever ceased to hold."""

    @property
    def holds(self) -> bool:
        """Whether it counts."""
        return not self.retired and not self.rejected

    @property
    def ends(self) -> tuple[str, str]:
        """Source and target."""
        return self.source.record_id, self.target.record_id


@dataclass
class Pair:
    """A candidate."""

    id: str
    source: Ref
    target: Ref
    channel: str
    similarity: float
    made: int
    since: int
    status: Literal["pending", "judged", "orphaned"] = "pending"
    claim: str | None = None
    verdict: str | None = None
    reason: str | None = None
    confidence: float | None = None
    marker: str | None = None
    author: Author | None = None
    judged: int | None = None
    operation: str | None = None

    @property
    def ends(self) -> tuple[str, str]:
        """Source and target."""
        return self.source.record_id, self.target.record_id


@dataclass
class Book:
    """Everything in one partition."""

    sheets: dict[str, Sheet] = field(default_factory=dict)
    claims: dict[str, Claim] = field(default_factory=dict)
    pairs: dict[str, Pair] = field(default_factory=dict)
    runs: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    """By the id of a sweep's run: its operations, each with its candidate."""

    links: dict[frozenset[str], str] = field(default_factory=dict)
    """By the pair, what kind of link it has."""

    edges: dict[str, tuple[Ref, Ref]] = field(default_factory=dict)
    """By the id of a relation that was promoted: source and target."""

    asserted: dict[str, tuple[Ref, Ref]] = field(default_factory=dict)
    """By the id of a relation that a command of its own asserted: source and target."""

    promoted: Counter[str] = field(default_factory=Counter)
    """How many proposals became relations, by the day of their run."""

    suspected: dict[frozenset[str], list[str]] = field(default_factory=dict)
    """By the pair, on which days it was found to contradict itself, up to two."""

    latest: int = 0
    """When the last command was committed."""

    resurfacing: int = RESURFACING
    deadline: int = DEADLINE

    # Standing

    def superseder(self, record_id: str) -> Claim | None:
        """The claim that supersedes a record; there must never be two."""
        found = [
            one
            for one in self.claims.values()
            if one.holds and one.verdict == "supersedes" and one.target.record_id == record_id
        ]
        assert len(found) < 2, "a record with two superseders"
        return found[0] if found else None

    def state(self, record_id: str) -> str:
        """The standing of a record in a word."""
        if self.superseder(record_id) is not None:
            return "superseded"
        return "archived" if self.sheets[record_id].archived else "current"

    def fit(self, record_id: str) -> bool:
        """Active and current."""
        return not self.sheets[record_id].deleted and self.state(record_id) == "current"

    def replaces(self, record_id: str) -> list[str]:
        """What a record has superseded, in the order of creation."""
        superseding = (one for one in self.claims.values() if one.holds and one.verdict == "supersedes")
        return sorted(one.target.record_id for one in superseding if one.source.record_id == record_id)

    def holder(self, topic: str | None) -> Sheet | None:
        """Who holds a topic slot; there must never be two."""
        if topic is None:
            return None
        found = [sheet for sheet in self.sheets.values() if sheet.topic == topic and self.fit(sheet.id)]
        assert len(found) < 2, "a topic slot with two holders"
        return found[0] if found else None

    def finds_its_slot_taken(self, record_id: str) -> bool:
        """Whether a record that became current again would meet another holder of its slot."""
        sheet = self.sheets[record_id]
        return not sheet.deleted and self.holder(sheet.topic) is not None

    def earlier_versions(self, record_id: str) -> Iterator[str]:
        """A record and the earlier versions of its topic, up to ten."""
        name: str | None = record_id
        for _ in range(10):
            if name is None:
                return
            yield name
            before = self.sheets[name].took_from
            claim = None if before is None else self.superseder(before)
            replaced = claim is not None and claim.source.record_id == name and not claim.interrupted
            name = before if replaced else None

    # Claims and pairs

    def last_claim(self, source: str, target: str) -> Claim | None:
        """The last verdict on an ordered pair, whatever has become of it."""
        found = [one for one in self.claims.values() if one.ends == (source, target)]
        return found[-1] if found else None

    def no_conflict(self, one: str, other: str) -> bool:
        """Whether a verdict on a pair, either way, is that there is no conflict, and holds."""
        found = [claim for claim in self.claims.values() if {*claim.ends} == {one, other}]
        return any(claim.holds and claim.verdict == "not_conflict" for claim in found)

    def pending_between(self, one: str, other: str) -> Pair | None:
        """The pending candidate of an unordered pair; there must never be two."""
        found = [pair for pair in self.pairs.values() if pair.status == "pending" and {*pair.ends} == {one, other}]
        assert len(found) < 2, "a pair with two pending candidates"
        return found[0] if found else None

    def related(self, one: str, other: str) -> bool:
        """Whether any relation has ever joined two records with what they say now: both its pins hold."""
        joined = [(claim.source, claim.target) for claim in self.claims.values()]
        return any(
            {end.record_id for end in ends} == {one, other}
            and all(self.sheets[end.record_id].holds(end.revision) for end in ends)
            for ends in (*joined, *self.edges.values(), *self.asserted.values())
        )

    def said(self, thing: Claim | Pair) -> str | None:
        """The reason of a verdict, which goes with either end."""
        return None if any(self.sheets[end].deleted for end in thing.ends) else thing.reason

    def oldest(self, status: str) -> list[Pair]:
        """Candidates of a status, oldest first."""
        found = [pair for pair in self.pairs.values() if pair.status == status]
        return sorted(found, key=lambda pair: (pair.since, pair.id))

    def judged_at(self, committed_at_millis: int) -> int:
        """By which instant an event was judged; that of its commit, where nobody knows better."""
        return committed_at_millis

    def overdue(self, now: int) -> list[Pair]:
        """What a sweep orphans now."""
        return [pair for pair in self.oldest("pending") if now - pair.since > self.deadline][:50]

    # What readers see

    def eligible(self, record_id: str) -> bool:
        """Whether a reader is given a record."""
        sheet = self.sheets[record_id]
        return not sheet.deleted and not sheet.rejected

    def offered(self, status: str | None, min_age: int | None, now: int) -> list[Pair]:
        """What the queue answers, without its limit."""
        if (status or "pending") != "pending":
            return [pair for pair in self.oldest(status or "") if max(0, now - pair.since) >= (min_age or 0)]
        return [
            pair
            for pair in self.oldest("pending")
            if (self.resurfacing if min_age is None else min_age) <= max(0, now - pair.since) <= self.deadline
            and all(self.fit(end) for end in pair.ends)
        ]

    def to_review(self, now: int) -> list[tuple[str, int, int | None, bool]]:
        """Records that should be looked at again: baseline, refutation, and whether that is overdue three times."""
        found: list[tuple[tuple[bool, int, str], int | None, bool]] = []
        for sheet in self.sheets.values():
            if not self.fit(sheet.id) or sheet.rejected:
                continue
            baseline = max(sheet.made, sheet.affirmed or 0)
            months = MONTHS_TO_LIVE.get(sheet.category or "")
            life = None if months is None else months * 30 * DAY
            due = life is not None and now - baseline >= life
            if due or sheet.refuted is not None:
                fresh = sheet.refuted is not None and now - sheet.refuted <= 14 * DAY
                escalated = life is not None and now - baseline >= 3 * life
                found.append(((not fresh, baseline, sheet.id), sheet.refuted, escalated))
        found.sort(key=lambda one: one[0])
        return [(name, baseline, refuted, escalated) for (_, baseline, name), refuted, escalated in found]

    def moments(self) -> Iterator[int]:
        """The first instant of every age and deadline, and the last one before it."""
        for pair in self.pairs.values():
            if pair.status == "pending":
                yield from (pair.since + RESURFACING - 1, pair.since + RESURFACING)
                yield from (pair.since + DEADLINE, pair.since + DEADLINE + 1)
        for sheet in self.sheets.values():
            life = 30 * DAY * MONTHS_TO_LIVE.get(sheet.category or "", 0)
            if life:
                for age in (life, 3 * life):
                    baseline = max(sheet.made, sheet.affirmed or 0)
                    yield from (baseline + age - 1, baseline + age)
            if sheet.refuted is not None:
                yield from (sheet.refuted + 14 * DAY, sheet.refuted + 14 * DAY + 1)
