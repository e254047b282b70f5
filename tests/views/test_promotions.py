"""The table of promotion: floor, cap, strongest first, two dates for a contradiction (views.md, derived edges)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest import mock

import pytest

from relatum.core.ids import Ref
from relatum.core.promotions import PromotedKind, PromotionOutcome
from relatum.ledger import Ledger
from relatum.limits import PROMOTIONS_MAX
from relatum.store.projection.staged_partition import Staging
from tests.support import builders
from tests.support.builders import unknown_id
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.support.stores import assert_rebuilds
from tests.views.mining import MONDAY, TUESDAY, WEDNESDAY, Miner, propose

NOWHERE = Ref(record_id=unknown_id(), revision=1)


class Pair(NamedTuple):
    """Two records that a case is about."""

    desk: Desk
    one: Ref
    other: Ref


@pytest.fixture
def miner(ledger: Ledger) -> Miner:
    return Miner(ledger)


@pytest.fixture
def pair(desk: Desk) -> Pair:
    return Pair(desk, desk.create("one"), desk.create("other"))


@pytest.mark.parametrize(
    ("kind", "confidence", "outcome"),
    [
        ("caused_by", 0.7, "promoted"),
        ("leads_to", 0.7, "promoted"),
        ("example_of", 0.7, "promoted"),
        ("supports", 0.7, "promoted"),
        ("part_of", 0.7, "promoted"),
        ("supports", 1.0, "promoted"),
        ("supports", 0.6999999999999999, "below_floor"),
        ("supports", 0.0, "below_floor"),
        ("contradicts", 0.7, "awaits_second_date"),
        ("contradicts", 0.6999999999999999, "below_floor"),
        ("none", 1.0, "nothing"),
        ("none", 0.0, "nothing"),
    ],
)
def test_the_floor_is_inclusive(
    miner: Miner, pair: Pair, kind: PromotedKind, confidence: float, outcome: PromotionOutcome
) -> None:
    assert [outcome] == miner.promote(propose(pair.one, pair.other, kind, confidence))


def plainly(pair: Pair) -> None:
    pair.desk.accept(builders.assertion(pair.one, pair.other, "semantic_related"))


def the_other_way_round(pair: Pair) -> None:
    pair.desk.accept(builders.assertion(pair.other, pair.one, "supports"))


def and_retired(pair: Pair) -> None:
    pair.desk.retire(pair.desk.relate(pair.one, pair.other))


def and_rejected(pair: Pair) -> None:
    pair.desk.judge(pair.desk.relate(pair.one, pair.other), "rejected")


def by_verdict(pair: Pair) -> None:
    JudgingDesk(pair.desk.ledger).compare(pair.one, pair.other, "compatible")


@pytest.mark.parametrize("relate", [plainly, the_other_way_round, and_retired, and_rejected, by_verdict])
def test_a_pair_with_an_authored_relation_is_skipped(miner: Miner, pair: Pair, relate: Callable[[Pair], None]) -> None:
    relate(pair)
    assert ["related_already"] * 2 == miner.promote(propose(pair.one, pair.other), propose(pair.other, pair.one))


def test_a_relation_to_an_earlier_revision_stands_in_nobodys_way(miner: Miner, pair: Pair) -> None:
    plainly(pair)
    other = pair.desk.revise(pair.other)
    assert ["promoted"] == miner.promote(propose(pair.one, other))


def test_each_end_is_asked_once_a_command_what_it_is_joined_with(miner: Miner, desk: Desk) -> None:
    hub, *spokes = (desk.create(f"record {number}") for number in range(6))
    for spoke in spokes[:3]:
        desk.retire(desk.relate(hub, spoke))
    joined = Counter[Ref]()
    with _counted("joined_with", joined):
        outcomes = miner.promote(*(propose(hub, spoke) for spoke in spokes))
    assert ["related_already"] * 3 + ["promoted"] * 2 == outcomes
    assert dict.fromkeys(spokes, 1) == joined


@contextmanager
def _counted(name: str, asked: Counter[Ref]) -> Iterator[None]:
    """How often each end is asked something."""
    answer = getattr(Staging, name)

    def counting(staging: Staging, end: Ref) -> frozenset[Ref]:
        asked[end] += 1
        found: frozenset[Ref] = answer(staging, end)
        return found

    with mock.patch.object(Staging, name, counting):
        yield


def test_a_link_and_a_relation_of_others_stand_in_nobodys_way(miner: Miner, pair: Pair) -> None:
    pair.desk.relate(pair.one, pair.desk.create("third"))
    assert ["promoted"] == miner.promote(propose(pair.one, pair.other))


def test_a_pair_is_promoted_once_by_its_strongest_proposal(miner: Miner, pair: Pair) -> None:
    given = [
        propose(pair.one, pair.other, "leads_to", 0.75),
        propose(pair.other, pair.one, "caused_by", 0.875),
        propose(pair.one, pair.other, "supports", 0.8125),
    ]
    assert ["related_already", "promoted", "related_already"] == miner.promote(*given)


def test_of_equally_strong_proposals_the_first_is_taken(miner: Miner, pair: Pair) -> None:
    given = [propose(pair.one, pair.other, "leads_to", 0.75), propose(pair.one, pair.other, "part_of", 0.75)]
    assert ["promoted", "related_already"] == miner.promote(*given)


@pytest.mark.parametrize("unfit", ["missing", "deleted", "rejected", "expired", "of another type"])
def test_unfit_ends_are_told_and_never_suspected(miner: Miner, desk: Desk, unfit: str) -> None:
    one = desk.create("one")
    members: dict[str, dict[str, Any]] = {"expired": {"valid_until_millis": 1}, "of another type": {"type": "person"}}
    other = NOWHERE if unfit == "missing" else desk.create("other", **members.get(unfit, {}))
    if unfit == "deleted":
        desk.delete(other)
    elif unfit == "rejected":
        other = desk.review(other, "rejected")
    for day in (MONDAY, TUESDAY, WEDNESDAY):
        given = [propose(one, other), propose(other, one, "contradicts")]
        assert ["unfit_ends"] * 2 == miner.promote(*given, day=day)
    with desk.view() as view:
        assert () == view.partition(desk.partition).suspicion(one.record_id, other.record_id)


def test_the_cap_is_fifty_a_day_strongest_first_over_all_commands_of_the_day(miner: Miner, desk: Desk) -> None:
    hub = desk.create("hub")
    spokes = [desk.create(f"spoke {number}") for number in range(PROMOTIONS_MAX + 4)]
    first = miner.promote(*(propose(hub, spoke, confidence=0.75) for spoke in spokes[:3]))
    assert ["promoted"] * 3 == first
    strengths = [0.75 + (number % 17) / 100 for number in range(3, len(spokes))]
    outcomes = miner.promote(
        *(propose(hub, spoke, confidence=strength) for spoke, strength in zip(spokes[3:], strengths, strict=True))
    )
    room = PROMOTIONS_MAX - 3
    assert room == outcomes.count("promoted")
    assert len(strengths) - room == outcomes.count("over_cap")
    taken = [strength for strength, outcome in zip(strengths, outcomes, strict=True) if outcome == "promoted"]
    left = [strength for strength, outcome in zip(strengths, outcomes, strict=True) if outcome == "over_cap"]
    assert min(taken) >= max(left)
    refused = [spoke for spoke, outcome in zip(spokes[3:], outcomes, strict=True) if outcome == "over_cap"]
    assert ["over_cap"] == miner.promote(propose(hub, refused[0], confidence=1))
    assert ["promoted"] == miner.promote(propose(hub, refused[0], confidence=0.7), day=TUESDAY)
    assert_rebuilds(desk.ledger)


def test_what_is_not_promoted_takes_no_room(miner: Miner, desk: Desk) -> None:
    hub = desk.create("hub")
    spokes = [desk.create(f"spoke {number}") for number in range(PROMOTIONS_MAX)]
    waste = [
        propose(hub, spokes[0], "none", 1),
        propose(hub, NOWHERE, confidence=1),
        propose(hub, spokes[1], confidence=0),
    ]
    outcomes = miner.promote(*waste, *(propose(hub, spoke) for spoke in spokes))
    assert ["nothing", "unfit_ends", "below_floor"] == outcomes[:3]
    assert ["promoted"] * PROMOTIONS_MAX == outcomes[3:]


@pytest.mark.parametrize(
    ("days", "last"),
    [
        ([MONDAY], "awaits_second_date"),
        ([MONDAY, MONDAY], "awaits_second_date"),
        ([MONDAY, MONDAY, MONDAY], "awaits_second_date"),
        ([MONDAY, TUESDAY], "promoted"),
        ([TUESDAY, MONDAY], "promoted"),
        ([MONDAY, MONDAY, WEDNESDAY], "promoted"),
        ([MONDAY, TUESDAY, WEDNESDAY], "related_already"),
    ],
)
def test_a_contradiction_needs_two_distinct_dates(
    miner: Miner, pair: Pair, days: list[str], last: PromotionOutcome
) -> None:
    outcomes = [miner.promote(propose(pair.one, pair.other, "contradicts"), day=day) for day in days]
    assert [last] == outcomes[-1]
    assert_rebuilds(pair.desk.ledger)


def test_dates_are_counted_for_the_unordered_pair_and_once_in_a_command(miner: Miner, pair: Pair) -> None:
    there, back = propose(pair.one, pair.other, "contradicts"), propose(pair.other, pair.one, "contradicts")
    assert ["awaits_second_date"] * 3 == miner.promote(there, back, there)
    third = pair.desk.create("third")
    assert ["awaits_second_date"] == miner.promote(propose(pair.one, third, "contradicts"), day=TUESDAY)
    assert ["promoted"] == miner.promote(back, day=TUESDAY)


def test_a_detection_below_the_floor_does_not_count(miner: Miner, pair: Pair) -> None:
    assert ["below_floor"] == miner.promote(propose(pair.one, pair.other, "contradicts", 0.5))
    assert ["awaits_second_date"] == miner.promote(propose(pair.one, pair.other, "contradicts"), day=TUESDAY)


def test_a_detection_counts_on_a_day_that_has_no_room_left(miner: Miner, pair: Pair) -> None:
    hub = pair.desk.create("hub")
    spokes = [pair.desk.create(f"spoke {number}") for number in range(PROMOTIONS_MAX)]
    assert {"promoted"} == set(miner.promote(*(propose(hub, spoke) for spoke in spokes)))
    contradiction = propose(pair.one, pair.other, "contradicts")
    assert ["awaits_second_date"] == miner.promote(contradiction)
    assert ["promoted"] == miner.promote(contradiction, day=TUESDAY)


def test_other_kinds_do_not_count_as_detections(miner: Miner, pair: Pair) -> None:
    assert ["below_floor"] == miner.promote(propose(pair.one, pair.other, "supports", 0.5))
    assert ["awaits_second_date"] == miner.promote(propose(pair.one, pair.other, "contradicts"), day=TUESDAY)
