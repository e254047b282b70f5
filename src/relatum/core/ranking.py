"""The score of a record in a context block (views.md, context): one table of weights, and what must hold of them.

A score is a sum: how many words of the prompt the record has, its recency, its ties to records that match, a lift for
what guards (preferences, constraints, security) and for what was shown already, less a penalty while it is superseded.
tests/core/test_ranking.py holds the inequalities.
"""

from __future__ import annotations

from typing import NamedTuple

from relatum.limits import DAY_MILLIS

HALF_LIFE_MILLIS = 30 * DAY_MILLIS
LIFTED_CATEGORIES = frozenset({"preference", "constraint", "security"})


class Weights(NamedTuple):
    """What each part of a score is worth."""

    matched_word: float = 1.0
    recency: float = 0.5
    tie: float = 0.25
    ties_max: int = 3
    category: float = 0.1
    superseded: float = -2.0
    shown: float = 0.2


WEIGHTS = Weights()


class Traits(NamedTuple):
    """What of a record its score depends on."""

    matched_words: int
    age_millis: int
    tied_matches: int
    category: str | None
    superseded: bool
    shown: bool


def recency(age_millis: int) -> float:
    """1 for what was written now, half as much every 30 days."""
    return float(2.0 ** (-max(age_millis, 0) / HALF_LIFE_MILLIS))


def score(traits: Traits, weights: Weights = WEIGHTS) -> float:
    """How much a record belongs into the block."""
    return (
        weights.matched_word * traits.matched_words
        + weights.recency * recency(traits.age_millis)
        + weights.tie * min(traits.tied_matches, weights.ties_max)
        + weights.category * (traits.category in LIFTED_CATEGORIES)
        + weights.superseded * traits.superseded
        + weights.shown * traits.shown
    )
