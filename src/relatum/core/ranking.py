"""The score of a record in a context block (views.md, context): one table of weights, and what must hold of them.

A score is a sum: how many words of the prompt the record has, its ties to records that match, its recency, a lift for
what guards (preferences, constraints, security) and for what was shown already, less a penalty while it is superseded.
tests/core/test_ranking.py holds the inequalities, each whatever the other parts are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from relatum.limits import DAY_MILLIS

HALF_LIFE_MILLIS = 30 * DAY_MILLIS
LIFTED_CATEGORIES = frozenset({"preference", "constraint", "security"})


class Weights(NamedTuple):
    """What each part of a score is worth.

    A tie outweighs recency, category and having been shown together. Having been shown outweighs recency, so that a
    block that is asked for again stays as it was until something matches better.
    """

    matched_word: float = 1.0
    tie: float = 0.4
    ties_max: int = 2
    shown: float = 0.2
    recency: float = 0.1
    category: float = 0.05
    superseded: float = -2.0


WEIGHTS = Weights()


class Traits(NamedTuple):
    """What of a record its score depends on."""

    matched_words: int = 0
    age_millis: int = 0
    tied_matches: int = 0
    category: str | None = None
    superseded: bool = False
    shown: bool = False


def recency(age_millis: int) -> float:
    """1 for what was written now, half as much every 30 days."""
    return float(2.0 ** (-max(age_millis, 0) / HALF_LIFE_MILLIS))


def whole_days(created_at_millis: int, now_millis: int) -> int:
    """The age of a record from day to day: of two records of one day neither is the newer, now and later."""
    return (now_millis // DAY_MILLIS - created_at_millis // DAY_MILLIS) * DAY_MILLIS


def score(traits: Traits, weights: Weights = WEIGHTS) -> float:
    """How much a record belongs into the block."""
    return (
        weights.matched_word * traits.matched_words
        + weights.tie * min(traits.tied_matches, weights.ties_max)
        + weights.shown * traits.shown
        + weights.recency * recency(traits.age_millis)
        + weights.category * (traits.category in LIFTED_CATEGORIES)
        + weights.superseded * traits.superseded
    )


def superseders_first(superseders: Mapping[bytes, Sequence[bytes]]) -> Iterator[bytes]:
    """The superseded records, each after those of its superseders that are superseded too.

    Circles are cut: one record of a circle comes before a superseder of its own.
    """
    seen: set[bytes] = set()
    for first in superseders:
        path = [] if first in seen else [(first, iter(superseders[first]))]
        seen.add(first)
        while path:
            record_id, rest = path[-1]
            above = next((by for by in rest if by in superseders and by not in seen), None)
            if above is None:
                yield record_id
                path.pop()
            else:
                seen.add(above)
                path.append((above, iter(superseders[above])))
