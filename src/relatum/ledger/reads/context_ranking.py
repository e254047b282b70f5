"""Which records a context block is made of, and in which order (views.md, context).

Here: the ranking of records in outline, from what the search index knows and from the standings, links and relations of
a partition. Records themselves are read by `look`, as they come into the block: most never are.

What always holds: a superseded record comes after its superseders, unless it is pinned; the number of rows looked at is
bounded whatever the partition holds, and `coverage` names each bound that was met.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final, NamedTuple, get_args

from relatum.core.ancestry import DependencyBudgetExhausted, own_failure
from relatum.core.answers.context import ContextCoverage, ContextStop, Tier
from relatum.core.context_records import Surroundings
from relatum.core.eligibility import Evaluator
from relatum.core.ids import uuid_bytes, uuid_text
from relatum.core.ranking import Traits, score, superseders_first, whole_days
from relatum.core.records import Payload, RecordMeta
from relatum.core.staleness import MONTHS_TO_LIVE, staleness
from relatum.core.standings import Standing
from relatum.ledger.reads.context_edges import Ties
from relatum.ledger.reads.context_marks import IN_CONFLICT, SUPERSEDED, Conflicts
from relatum.ledger.reads.context_work import Due, Wanted, Work
from relatum.ledger.reads.judgment_scans import standings, waiting
from relatum.ledger.reads.records import payload_of
from relatum.limits import DAY_MILLIS
from relatum.store.partition import PartitionReader

STOPS: Final[tuple[ContextStop, ...]] = get_args(ContextStop)

STANDINGS_MAX: Final = 10_000
SUPERSEDED_MAX: Final = 256
PENDING_MAX: Final = 10_000
BELOW: Final = 1e-6
"""How much worse than its superseder a superseded record is at least."""

_UNTOUCHED: Final = Standing()


class Ranked(NamedTuple):
    """A record in its place."""

    record_id: bytes
    tier: Tier
    score: float


class Content(NamedTuple):
    """A record that may be shown."""

    meta: RecordMeta
    payload: Payload


class Ranking:
    """The records of one partition in the order of the block."""

    def __init__(
        self, partition: PartitionReader, now_millis: int, around: Surroundings, shown: frozenset[bytes]
    ) -> None:
        self._partition = partition
        self._now_millis = now_millis
        self._around = around
        self._shown = shown
        self._evaluator = Evaluator(partition, now_millis)
        self._stops: set[ContextStop] = set() if around.complete else {"record_limit"}
        if around.behind:
            self._stops.add("index_behind")
        self._standings = self._read_standings()
        self._pinned = {uuid_bytes(one) for one in partition.pinned()}
        self._outlines = {one.record_id: one for one in around.outlines if one.is_eligible(now_millis)}
        self._superseded = self._read_superseded()
        known = self._outlines.keys() | self._superseded.keys()
        self._ties = Ties(partition, self._evaluator, around.matches, known)
        self._superseders = self._all_superseders()
        self._conflicts = Conflicts(partition, self._evaluator)
        self._unfit = 0

    def left_out(self, added: Iterable[Ranked]) -> int:
        """How many records there are for the block, as far as they were looked at, besides those in it."""
        inside = sum(self._is_known(ranked.record_id) for ranked in added)
        return len(self._outlines) + len(self._superseded) - self._unfit - inside

    def coverage(self, *, is_cut: bool) -> ContextCoverage:
        """How much was looked at so far; `is_cut`: the block has as many entries as a block may have."""
        stops: set[ContextStop] = self._stops | self._ties.stops
        if is_cut:
            stops.add("entry_limit")
        return ContextCoverage(
            scanned_records=len(self._around.outlines),
            adjacency_entries_examined=self._ties.entries_examined,
            links_examined=self._ties.links_examined,
            complete=not stops,
            stop_reasons=tuple(stop for stop in STOPS if stop in stops),
        )

    def look(self, ranked: Ranked) -> Content | None:
        """What a record says; None where it is not eligible."""
        version = self._evaluator.record(uuid_text(ranked.record_id))
        payload = None
        try:
            if version is not None and self._evaluator.is_eligible(version):
                payload = payload_of(self._partition, version.meta)
        except DependencyBudgetExhausted:
            self._stops.add("dependency_limit")
        if version is None or payload is None:
            self._unfit += self._is_known(ranked.record_id)
            return None
        return Content(version.meta, payload)

    # Tiers

    def pinned(self) -> list[Ranked]:
        """The pinned records that are not archived, the newest pin first."""
        standings = [(one, self._standing(one)) for one in sorted(self._pinned, reverse=True)]
        kept = [(one, found) for one, found in standings if not found.archived]
        kept.sort(key=lambda each: -(each[1].pinned_at_millis or 0))
        return [Ranked(one, "pinned", self._score(one, self._age(one))) for one, _ in kept]

    def matched(self) -> list[Ranked]:
        """Records that match or are tied to a match, the best first; of equals the newest."""
        near = {*self._around.matches, *self._ties.tied} - self._pinned - self._lowered.keys()
        found = [self._natural(one) for one in sorted(filter(self._is_known, near), reverse=True)]
        found += [ranked for ranked in self._lowered.values() if ranked.tier == "matched"]
        return sorted(found, key=lambda one: -one.score)

    def rest(self) -> list[Ranked]:
        """The other records, the best first; of those of one day the one that has been there longest."""
        elsewhere = {*self._around.matches, *self._ties.tied, *self._pinned, *self._lowered}
        worth: dict[tuple[int, str | None, bool], float] = {}
        others: list[Ranked] = []
        for one, outline in reversed(self._outlines.items()):
            if one not in elsewhere:
                alike = outline.created_at_millis // DAY_MILLIS, outline.category, one in self._shown
                if alike not in worth:
                    worth[alike] = self._natural(one).score
                others.append(Ranked(one, "rest", worth[alike]))
        others += [ranked for ranked in self._lowered.values() if ranked.tier == "rest"]
        return sorted(others, key=lambda one: -one.score)

    @cached_property
    def _lowered(self) -> dict[bytes, Ranked]:
        """The superseded records in their places."""
        placed: dict[bytes, Ranked] = {}
        for one in superseders_first(self._superseders):
            if self._is_known(one) and one not in self._pinned:
                placed[one] = self._placed(one, placed)
        return placed

    def _placed(self, record_id: bytes, placed: Mapping[bytes, Ranked]) -> Ranked:
        """A record in its place, which is after those of its superseders. Links can make a circle, which is cut."""
        own = self._natural(record_id)
        for by in self._superseders[record_id]:
            if by in self._pinned or not self._is_known(by) or (by in self._superseders and by not in placed):
                continue
            above = placed[by] if by in placed else self._natural(by)
            if (own.tier == "rest", -own.score) <= (above.tier == "rest", -above.score):
                own = Ranked(record_id, above.tier, above.score - BELOW)
        return own

    def _natural(self, record_id: bytes) -> Ranked:
        if self._is_near(record_id):
            return Ranked(record_id, "matched", self._score(record_id, self._age(record_id)))
        age = whole_days(self._created_at_millis(record_id), self._now_millis)
        return Ranked(record_id, "rest", self._score(record_id, age))

    def _is_near(self, record_id: bytes) -> bool:
        return record_id in self._around.matches or record_id in self._ties.tied

    def _is_known(self, record_id: bytes) -> bool:
        return record_id in self._outlines or record_id in self._superseded

    def _age(self, record_id: bytes) -> int:
        return self._now_millis - self._created_at_millis(record_id)

    def _created_at_millis(self, record_id: bytes) -> int:
        """When a record was created here; its id may be older, from before an import."""
        outline = self._outlines.get(record_id)
        if outline is not None:
            return outline.created_at_millis
        version = self._evaluator.record(uuid_text(record_id))
        return self._now_millis if version is None else version.meta.created_at_millis

    def _score(self, record_id: bytes, age_millis: int) -> float:
        outline = self._outlines.get(record_id)
        return score(
            Traits(
                matched_words=self._around.matches.get(record_id, 0),
                age_millis=age_millis,
                tied_matches=self._ties.number(record_id),
                category=None if outline is None else outline.category,
                superseded=bool(self._superseders.get(record_id)),
                shown=record_id in self._shown,
            )
        )

    # What awaits whoever starts to work

    def due(self) -> list[Due]:
        """The records that should be looked at again: freshly refuted first, then the oldest."""
        due: list[tuple[tuple[bool, int], Due]] = []
        for record_id, outline in self._outlines.items():
            standing = self._standings.get(record_id, _UNTOUCHED)
            if outline.category in MONTHS_TO_LIVE or standing.refuted_at_millis is not None:
                found = staleness(outline.created_at_millis, outline.category, standing, self._now_millis)
                if found is not None:
                    due.append((found.order(self._now_millis), Due(uuid_text(record_id), found)))
        due.sort(key=lambda each: (each[0], each[1].record_id))
        return [one for _, one in due]

    def work(self, wanted: Wanted) -> Work:
        """The work itself, of the same view."""
        return Work(self._partition, self._evaluator, wanted, self._stop_scanning)

    def _stop_scanning(self) -> None:
        self._stops.add("scan_limit")

    def mark(self, meta: RecordMeta) -> str:
        """What is said of a record at the end of its line."""
        record_id = uuid_bytes(meta.record_id)
        superseded = self._standing(record_id).superseded_by is not None or bool(self._superseders.get(record_id))
        in_conflict = self._conflicts.has(meta)
        if self._conflicts.is_cut:
            self._stop_scanning()
        return f"{SUPERSEDED if superseded else ''}{IN_CONFLICT if in_conflict else ''}"

    def pending_candidates(self) -> int:
        """How many pairs wait for a verdict whose ends are both active and current."""
        fit = {uuid_text(one.record_id) for one in self._around.outlines}
        oldest = None if self._around.complete else min(fit, default=None)
        found = waiting(self._partition, lambda one: one in fit or (oldest is not None and one < oldest), PENDING_MAX)
        if not found.complete:
            self._stops.add("scan_limit")
        return found.number

    # Standings

    def _standing(self, record_id: bytes) -> Standing:
        found = self._standings.get(record_id)
        return self._partition.standing(uuid_text(record_id)) if found is None else found

    def _read_standings(self) -> dict[bytes, Standing]:
        found, are_all = standings(self._partition, STANDINGS_MAX)
        if not are_all:
            self._stops.add("scan_limit")
        return {uuid_bytes(record_id): standing for record_id, standing in found.items()}

    def _all_superseders(self) -> dict[bytes, tuple[bytes, ...]]:
        """By which active records, by a verdict or links, each superseded one is."""
        by_links = self._ties.superseders
        found: dict[bytes, tuple[bytes, ...]] = {}
        for one in sorted(self._superseded.keys() | by_links.keys()):
            by = self._superseded.get(one)
            found[one] = tuple(sorted(by_links.get(one, set()) | ({by} if by is not None else set())))
        return found

    def _read_superseded(self) -> dict[bytes, bytes | None]:
        """The newest records that a verdict has superseded, each with its superseder as long as that is active."""
        superseded = [
            (one, standing.superseded_by.record_id)
            for one, standing in self._standings.items()
            if standing.superseded_by is not None and not standing.archived
        ]
        if len(superseded) > SUPERSEDED_MAX:
            self._stops.add("scan_limit")
        found: dict[bytes, bytes | None] = {}
        for one, by in superseded[:SUPERSEDED_MAX]:
            version, above = self._evaluator.record(uuid_text(one)), self._evaluator.record(by)
            if version is not None and own_failure(version.meta, self._now_millis) is None:
                active = above is not None and above.meta.state == "active"
                found[one] = uuid_bytes(by) if active else None
        return found
