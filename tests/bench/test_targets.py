"""Targets are judged by the ratio of single rounds, and what was not measured is never met."""

from __future__ import annotations

import pytest

from relatum.bench import guard
from relatum.bench.series import Series
from relatum.bench.targets import TARGETS, Target, Verdict, judged, ratio

ECHO = "commands/floor/echo/rate"
SINGLE = "commands/single/64/rate"


def series(name: str, *samples: float, unit: str = "commands/s") -> Series:
    return Series(name, unit, samples)


def verdict_on(product: str, floor: str, found: list[Series]) -> Verdict:
    [verdict] = [one for one in judged(found) if (one.target.product, one.target.floor) == (product, floor)]
    return verdict


def test_a_ratio_is_the_median_of_those_of_the_rounds() -> None:
    # The second round was twice as slow for both, the third for the floor alone.
    assert 0.5 == ratio(series("a", 50, 25, 50), series("b", 100, 50, 50))


def test_series_of_different_lengths_are_compared_by_their_medians() -> None:
    assert 2.0 == ratio(series("a", 10, 20, 30), series("b", 10))


@pytest.mark.parametrize(("rate", "met"), [(40.0, True), (39.9, False)])
def test_a_target_is_met_at_its_limit_and_not_below(rate: float, met: bool) -> None:
    verdict = verdict_on(SINGLE, ECHO, [series(SINGLE, rate), series(ECHO, 100.0)])
    assert (met, rate / 100, rate, 100.0) == (verdict.met, verdict.ratio, verdict.product, verdict.floor)


def test_a_bound_that_must_not_be_come_to_is_missed_at_it() -> None:
    target = Target(what="x", product="x", bound="below", limit=30.0)
    assert (True, False) == (target.reached(29.9, 30.0), target.reached(30.0, 30.0))


def test_the_greatest_sample_counts_where_it_is_a_matter_of_never() -> None:
    resident = series("growth/loading/resident", 90.0, 500.0, 100.0, unit="MiB")
    verdict = verdict_on("growth/loading/resident", "", [resident])
    assert (500.0, False) == (verdict.product, verdict.met)


def test_what_was_not_measured_is_told_and_not_met() -> None:
    verdicts = judged([])
    assert len(TARGETS) == len(verdicts)
    assert {None} == {one.met for one in verdicts}
    half_measured = verdict_on(SINGLE, ECHO, [series(SINGLE, 1.0)])
    assert half_measured.met is None


def test_the_guard_lets_half_of_a_target_pass_and_not_a_tenth() -> None:
    def failed(rate: float) -> int:
        return len(guard.failures(judged([series(SINGLE, rate), series(ECHO, 100.0)])))

    assert [0, 0, 1, 1] == [failed(40.0), failed(20.0), failed(19.0), failed(4.0)]


def test_the_guard_turns_its_margin_round_where_less_is_better() -> None:
    p50, floor = "commands/single/1/p50", "commands/floor/write/1/p50"

    def failed(millis: float) -> int:
        found = [series(p50, millis, unit="ms"), series(floor, 1.0, unit="ms")]
        return len(guard.failures(judged(found)))

    assert [0, 0, 1] == [failed(3.0), failed(6.0), failed(30.0)]


def test_the_guard_looks_at_no_time_of_this_machine() -> None:
    slow = judged([series("commands/single/64/p99", 1e9, unit="ms"), series("mixed/64/stall", 1e9, unit="ms")])
    assert [] == guard.failures(slow)


def test_the_guard_counts_syncs() -> None:
    syncing = judged([series("commands/replay/syncs", 1.0, unit="syncs/command")])
    assert ["commands/replay/syncs"] == [one.target.product for one in guard.failures(syncing)]
