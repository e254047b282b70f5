"""A ranked block for a model's prompt, in three tiers (views.md, context).

    pinned    the pinned records, newest pin first: always there
    matched   records that match the prompt or are tied to one that does, best score first
    rest      the others, best score first, in at most a quarter of the budget

What always holds: the block never has more characters than the budget; a tier ends at the first record that does not
fit, so that a weaker one never slips in where a stronger one had no room.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Literal, NamedTuple

from relatum.core.ancestry import own_failure
from relatum.core.eligibility import Evaluator
from relatum.core.ranking import Traits, score
from relatum.core.records import Payload, RecordMeta
from relatum.core.staleness import staleness
from relatum.core.standings import Standing
from relatum.core.wire import Closed, Uuid
from relatum.errors import Refusal, Refused, StorageInconsistency
from relatum.reads.records import payload_of
from relatum.reads.survey import Survey, SurveyCoverage
from relatum.store.partition import PartitionReader

Tier = Literal["pinned", "matched", "rest"]
ENTRY_CHARACTERS_MAX = 600
REST_SHARE = 4


class ContextEntry(Closed, frozen=True, kw_only=True):
    """A record of the block."""

    record_id: Uuid
    revision: int
    tier: Tier
    score: float


class Context(Closed, frozen=True, kw_only=True):
    """The block, what it is made of, and what awaits whoever starts to work."""

    block: str
    entries: tuple[ContextEntry, ...]
    left_out: int
    pending_candidates: int
    needs_review: int
    coverage: SurveyCoverage


class _Ranked(NamedTuple):
    meta: RecordMeta
    payload: Payload
    standing: Standing
    tier: Tier
    score: float


def context(
    partition: PartitionReader,
    now_millis: int,
    matches: Mapping[str, int],
    budget_characters: int,
    shown: Collection[str],
) -> Context | Refusal:
    """A block of at most `budget_characters`. `matches`: how many distinct words of the prompt each record has."""
    try:
        composer = _Composer(partition, now_millis, matches, frozenset(shown))
        ranked = composer.ranked()
    except Refused as refused:
        return refused.refusal
    block = _Block(budget_characters)
    pinned = [one for one in ranked if one.tier == "pinned"]
    share = min(ENTRY_CHARACTERS_MAX, budget_characters // max(1, len(pinned)) - 1)
    for one in pinned:
        block.add(one, share)
    block.add_all((one for one in ranked if one.tier == "matched"), budget_characters)
    block.add_all((one for one in ranked if one.tier == "rest"), block.used + budget_characters // REST_SHARE)
    return Context(
        block=block.text,
        entries=tuple(block.entries),
        left_out=len(ranked) - len(block.entries),
        pending_candidates=sum(1 for _ in partition.candidates("pending")),
        needs_review=composer.due,
        coverage=composer.survey.coverage,
    )


class _Block:
    """The text so far."""

    def __init__(self, budget: int) -> None:
        self.entries: list[ContextEntry] = []
        self._budget = budget
        self._lines: list[str] = []
        self.used = 0

    @property
    def text(self) -> str:
        return "\n".join(self._lines)

    def add_all(self, ranked: Iterable[_Ranked], room: int) -> None:
        """Adds records up to the first that would make the block longer than `room`."""
        for one in ranked:
            if not self.add(one, ENTRY_CHARACTERS_MAX, room):
                return

    def add(self, ranked: _Ranked, characters_max: int, room: int | None = None) -> bool:
        """Adds a record, its text cut to `characters_max`; False where it would make the block longer than `room`."""
        line = _line(ranked.payload, characters_max)
        length = len(line) + bool(self._lines)
        if self.used + length > min(self._budget, self._budget if room is None else room):
            return False
        self._lines.append(line)
        self.used += length
        self.entries.append(
            ContextEntry(
                record_id=ranked.meta.record_id,
                revision=ranked.meta.revision,
                tier=ranked.tier,
                score=round(ranked.score, 6),
            )
        )
        return True


class _Composer:
    """Puts the records of a partition in the order of the block."""

    def __init__(
        self, partition: PartitionReader, now_millis: int, matches: Mapping[str, int], shown: frozenset[str]
    ) -> None:
        self.survey = Survey(partition)
        self.due = 0
        self._pinned: set[str] = set()
        self._superseded: set[tuple[str, str]] = set()
        self._partition = partition
        self._now_millis = now_millis
        self._matches = matches
        self._shown = shown
        self._evaluator = Evaluator(partition, now_millis)
        self._tied = self._ties_to_matches()

    def ranked(self) -> list[_Ranked]:
        """The eligible, unarchived records: tiers in their order, in each the best first."""
        found = [one for meta in self.survey.metas.values() if (one := self._rank(meta)) is not None]
        self._check_standings()
        scores = {one.meta.record_id: one.score for one in found}
        found = [self._below_superseder(one, scores) for one in found]
        tiers: dict[Tier, int] = {"pinned": 0, "matched": 1, "rest": 2}
        return sorted(found, key=lambda one: (tiers[one.tier], *self._order(one)))

    def _check_standings(self) -> None:
        """The standings that were read are those of the lists: of what is pinned, and of what was superseded."""
        metas = self.survey.metas
        pinned = {one for one in self._partition.pinned() if one in metas}
        superseded = {(by, one) for by, one in self._partition.supersessions() if one in metas}
        if (pinned, superseded) != (self._pinned, self._superseded):
            raise StorageInconsistency("a standing does not match the lists of standings")

    def _order(self, ranked: _Ranked) -> tuple[float, str]:
        if ranked.tier == "pinned":
            return -(ranked.standing.pinned_at_millis or 0), ranked.meta.record_id
        return -ranked.score, ranked.meta.record_id

    def _ties_to_matches(self) -> dict[str, int]:
        """How many records that match the prompt each record is tied to."""
        tied: dict[str, set[str]] = {}
        for record_id in self._matches:
            if record_id in self.survey.metas:
                for tie in self.survey.ties(record_id):
                    other = tie.target_id if tie.source_id == record_id else tie.source_id
                    tied.setdefault(other, set()).add(record_id)
        return {record_id: len(others) for record_id, others in tied.items()}

    def _rank(self, meta: RecordMeta) -> _Ranked | None:
        record_id = meta.record_id
        standing = self._partition.standing(record_id)
        if standing.pinned_at_millis is not None:
            self._pinned.add(record_id)
        if standing.superseded_by is not None:
            self._superseded.add((standing.superseded_by.record_id, record_id))
        if standing.archived or own_failure(meta, self._now_millis) is not None:
            return None
        if meta.derivation is not None:
            version = self._evaluator.record(record_id)
            if version is None or not self._evaluator.is_eligible(version):
                return None
        payload = payload_of(self._partition, meta)
        if payload is None:
            return None
        current = standing.superseded_by is None
        if current and staleness(meta.created_at_millis, payload.category, standing, self._now_millis) is not None:
            self.due += 1
        traits = Traits(
            matched_words=self._matches.get(record_id, 0),
            age_millis=self._now_millis - meta.created_at_millis,
            tied_matches=self._tied.get(record_id, 0),
            category=payload.category,
            superseded=self._is_superseded(standing),
            shown=record_id in self._shown,
        )
        tier: Tier = "matched" if traits.matched_words or traits.tied_matches else "rest"
        if standing.pinned_at_millis is not None:
            tier = "pinned"
        return _Ranked(meta, payload, standing, tier, score(traits))

    def _is_superseded(self, standing: Standing) -> bool:
        """By another record that is still active."""
        by = standing.superseded_by
        return by is not None and not self._partition.is_erased(by.record_id)

    def _below_superseder(self, ranked: _Ranked, scores: Mapping[str, float]) -> _Ranked:
        """A superseded record never ranks above its superseder, however well it matches."""
        by = ranked.standing.superseded_by
        above = None if by is None else scores.get(by.record_id)
        if above is None or ranked.score < above or ranked.tier == "pinned":
            return ranked
        return ranked._replace(score=above - 1e-6)


def _line(payload: Payload, characters_max: int) -> str:
    """A record on one line: its title, then its content, cut where it is too long."""
    title = f"{payload.title}: " if payload.title else ""
    text = "- " + " ".join(f"{title}{payload.content}".split())
    return text if len(text) <= characters_max else text[: max(0, characters_max - 1)].rstrip() + "…"
