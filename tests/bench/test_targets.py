"""Targets are judged by the ratio of single rounds, and what was not measured is never met."""

from __future__ import annotations

import pytest

from relatum.cli.bench import guard
from relatum.cli.bench.samples import Series
from relatum.cli.bench.targets import TARGETS, Target, Verdict, judged, ratio

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
    syncs = series("commands/replay/syncs", 0.0, 0.5, 0.0, unit="syncs/command")
    verdict = verdict_on("commands/replay/syncs", "", [syncs])
    assert (0.5, False) == (verdict.product, verdict.met)


@pytest.mark.parametrize("target", [target for target in TARGETS if target.given], ids=lambda target: target.what)
def test_a_run_is_judged_only_where_it_was_as_large_as_the_target_speaks_of(target: Target) -> None:
    def judged_with(relations: float) -> Verdict:
        good = series(target.product, 2.0 if target.bound == "at least" else 0.5)
        given = series(target.given, relations, unit="relations")
        found = [good, given, *([series(target.floor, 1.0)] if target.floor else [])]
        [verdict] = [one for one in judged(found) if target == one.target]
        return verdict

    enough, less = judged_with(target.given_least), judged_with(target.given_least - 1)
    assert target.given_least >= 100_000
    assert (True, False) == (enough.met, enough.too_small)
    assert (None, True, enough.figure) == (less.met, less.too_small, less.figure)


def test_a_target_that_speaks_of_a_size_is_not_judged_without_knowing_it() -> None:
    verdict = verdict_on("upkeep/start", "", [series("upkeep/start", 0.5, unit="s")])
    assert (None, None, False) == (verdict.met, verdict.product, verdict.too_small)


def test_what_was_not_measured_is_told_and_not_met() -> None:
    verdicts = judged([])
    assert len(TARGETS) == len(verdicts)
    assert {None} == {one.met for one in verdicts}
    half_measured = verdict_on(SINGLE, ECHO, [series(SINGLE, 1.0)])
    assert half_measured.met is None


# The guard


def guards(target: Target, figure: float, margin: float = guard.MARGIN) -> bool:
    """Whether the guard lets a figure of a target pass."""
    unit = "syncs/command" if target.product.endswith("/syncs") else "commands/s"
    found = [series(target.product, figure, unit=unit)] + ([series(target.floor, 1.0)] if target.floor else [])
    [verdict] = [one for one in judged(found) if target == one.target]
    assert guard.guarded(verdict)
    return not guard.failures([verdict], margin)


def measured(target: Target) -> float:
    """What was last found, or the limit where that is met."""
    return target.limit if target.guarded is None else target.guarded


def worse(target: Target, figure: float, times: float) -> float:
    """A figure so many times as bad; one sync a command is much worse than none."""
    if figure == 0:
        return 1.0
    return figure / times if target.bound == "at least" else figure * times


GUARDED = [
    target
    for target in TARGETS
    if target.product.startswith(tuple(f"{part}/" for part in guard.PARTS))
    and (target.floor or target.product.endswith("/syncs"))
]
"""What a short run looks at."""


def test_the_guard_looks_at_every_ratio_and_count_of_its_parts() -> None:
    assert {"commands", "engine", "reads"} == {target.product.partition("/")[0] for target in GUARDED}
    assert 9 == len(GUARDED)


@pytest.mark.parametrize("target", GUARDED, ids=lambda target: target.what)
def test_the_guard_lets_pass_what_was_measured_and_not_what_is_ten_times_as_bad(target: Target) -> None:
    figure = measured(target)
    assert guards(target, figure)
    assert not guards(target, worse(target, figure, 10))


@pytest.mark.parametrize("target", GUARDED, ids=lambda target: target.what)
def test_the_margin_of_the_guard_is_how_many_times_as_bad_a_figure_may_be(target: Target) -> None:
    figure = measured(target)
    if figure:
        for margin in (2, 10):
            assert guards(target, worse(target, figure, margin - 0.1), margin)
            assert not guards(target, worse(target, figure, margin + 0.1), margin)


def test_a_sync_for_each_command_does_not_pass_the_guard() -> None:
    syncing = [target for target in GUARDED if not target.floor]
    assert 2 == len(syncing)
    assert [False, False] == [guards(target, 1.0) for target in syncing]


def test_only_what_misses_its_target_is_held_against_anything_else() -> None:
    for target in TARGETS:
        if target.guarded is not None:
            assert target.floor, "a time of one machine is nothing to hold another one against"
            assert not target.reached(target.guarded, target.limit), target.what


def test_the_guard_looks_at_no_time_of_this_machine() -> None:
    slow = judged([series("commands/single/64/p99", 1e9, unit="ms"), series("mixed/64/stall", 1e9, unit="ms")])
    assert [] == guard.failures(slow)


def test_the_guard_counts_syncs() -> None:
    syncing = judged([series("commands/replay/syncs", 1.0, unit="syncs/command")])
    assert ["commands/replay/syncs"] == [one.target.product for one in guard.failures(syncing)]
