"""What must hold of the weights of a context block, whatever else is true of the records (views.md, context)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.core.ranking import (
    HALF_LIFE_MILLIS,
    LIFTED_CATEGORIES,
    WEIGHTS,
    Traits,
    recency,
    score,
    superseders_first,
    whole_days,
)
from relatum.limits import DAY_MILLIS

TRAITS = st.builds(
    Traits,
    matched_words=st.integers(0, 256),
    age_millis=st.integers(0, 4000 * DAY_MILLIS),
    tied_matches=st.integers(0, 64),
    category=st.sampled_from([None, "project", *LIFTED_CATEGORIES]),
    superseded=st.booleans(),
    shown=st.booleans(),
)


def test_recency_at_thirty_days_is_half_of_recency_at_none() -> None:
    assert recency(0) == 2 * recency(30 * DAY_MILLIS) == 4 * recency(60 * DAY_MILLIS) == 1
    assert HALF_LIFE_MILLIS == 30 * DAY_MILLIS


@given(TRAITS, st.integers(1, 4000 * DAY_MILLIS))
def test_the_older_of_two_equals_never_ranks_higher(traits: Traits, older_by: int) -> None:
    assert score(traits._replace(age_millis=traits.age_millis + older_by)) <= score(traits)


@given(TRAITS, TRAITS)
def test_a_superseded_record_ranks_below_an_equal_match_whatever_else_speaks_for_it(one: Traits, other: Traits) -> None:
    superseded = one._replace(superseded=True, matched_words=other.matched_words)
    assert score(superseded) < score(other._replace(superseded=False))


@given(TRAITS, TRAITS, st.integers(1, 64))
def test_linked_to_a_match_beats_unlinked_whatever_its_age_category_and_showing(
    one: Traits, other: Traits, ties: int
) -> None:
    unlinked = other._replace(tied_matches=0, matched_words=one.matched_words, superseded=one.superseded)
    assert score(one._replace(tied_matches=ties)) > score(unlinked)


@given(TRAITS, st.sampled_from(sorted(LIFTED_CATEGORIES)))
def test_the_category_lift_never_beats_one_more_matched_term(traits: Traits, category: str) -> None:
    lifted = traits._replace(category=category)
    more = traits._replace(category=None, matched_words=traits.matched_words + 1)
    assert score(lifted) < score(more)


@given(TRAITS)
def test_the_shown_lift_is_smaller_than_one_matched_term_and_larger_than_a_day_of_decay(traits: Traits) -> None:
    fresh, shown = traits._replace(shown=False), traits._replace(shown=True)
    assert score(shown) < score(fresh._replace(matched_words=traits.matched_words + 1))
    yesterday = shown._replace(age_millis=traits.age_millis + DAY_MILLIS)
    assert score(yesterday) > score(fresh)


@given(TRAITS, st.integers(0, 4000 * DAY_MILLIS))
def test_what_was_shown_outranks_an_equal_of_any_age(traits: Traits, age: int) -> None:
    assert score(traits._replace(shown=True, age_millis=age)) > score(traits._replace(shown=False, age_millis=0))


def test_every_weight_but_the_penalty_is_a_lift() -> None:
    for name, weight in WEIGHTS._asdict().items():
        assert (weight < 0) is (name == "superseded"), name


@pytest.mark.parametrize(
    ("created", "now", "days"), [(0, 0, 0), (1, DAY_MILLIS - 1, 0), (DAY_MILLIS - 1, DAY_MILLIS, 1)]
)
def test_records_of_one_day_are_of_one_age(created: int, now: int, days: int) -> None:
    assert days * DAY_MILLIS == whole_days(created, now)


def test_superseders_come_first_in_chains_of_any_length_and_circles_are_cut() -> None:
    chain = {bytes([number // 256, number % 256]): [(number + 1).to_bytes(2)] for number in range(5_000)}
    assert sorted(chain, reverse=True) == list(superseders_first(chain))
    circle = {b"a": [b"b", b"x"], b"b": [b"c"], b"c": [b"a"], b"d": [b"a", b"b"]}
    assert [b"c", b"b", b"a", b"d"] == list(superseders_first(circle))
