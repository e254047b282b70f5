"""Which records should be looked at again, with the clock moving past every age (judgments.md, needs review)."""

from __future__ import annotations

from typing import Any

import pytest

from relatum.clock import ManualClock
from relatum.core.answers.standings import Outcome
from relatum.core.ids import Ref
from relatum.ledger.reads.needs_review import ReviewQueue, needs_review
from relatum.limits import DAY_MILLIS
from tests.support import builders
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk

MONTH_MILLIS = 30 * DAY_MILLIS
MONTHS = {"procedural": 2, "project": 3, "feedback": 6, "user": 12}
FOR_EVER = ["reference", "preference", "Project", None]


def queue(judging: JudgingDesk, records_max: int = 50) -> ReviewQueue:
    with judging.ledger.view() as view:
        return needs_review(view.partition(judging.partition), view.now_millis, records_max)


def ids(judging: JudgingDesk) -> list[str]:
    return [one.record.record_id for one in queue(judging).records]


@pytest.mark.parametrize(("category", "months"), MONTHS.items())
def test_a_record_needs_review_from_the_very_end_of_its_time_to_live(
    judging: JudgingDesk, clock: ManualClock, category: str, months: int
) -> None:
    record = judging.save(category=category)
    clock.advance(months * MONTH_MILLIS - 1)
    assert [] == ids(judging)
    clock.advance(1)
    [found] = queue(judging).records
    assert (record.record_id, False) == (found.record.record_id, found.needs_review.escalated)
    assert (found.record.created_at_millis, None) == (
        found.needs_review.baseline_at_millis,
        found.needs_review.refuted_at_millis,
    )
    clock.advance(2 * months * MONTH_MILLIS - 1)
    assert [False] == [one.needs_review.escalated for one in queue(judging).records]
    clock.advance(1)
    assert [True] == [one.needs_review.escalated for one in queue(judging).records]


@pytest.mark.parametrize("category", FOR_EVER)
def test_other_categories_live_for_ever_until_they_are_refuted(
    judging: JudgingDesk, clock: ManualClock, category: str | None
) -> None:
    record = judging.save(category=category)
    clock.advance(100 * 12 * MONTH_MILLIS)
    assert [] == ids(judging)
    judging.confirm(record, "refuted")
    clock.advance(100 * 12 * MONTH_MILLIS)
    assert [False] == [one.needs_review.escalated for one in queue(judging).records]


def test_an_affirmation_is_a_new_baseline_and_ends_a_refutation(judging: JudgingDesk, clock: ManualClock) -> None:
    record = judging.save(category="procedural")
    clock.advance(3 * MONTH_MILLIS)
    assert [record.record_id] == ids(judging)
    judging.confirm(record, "affirmed")
    assert [] == ids(judging)
    clock.advance(1)
    judging.confirm(record, "refuted")
    assert [record.record_id] == ids(judging)
    clock.advance(1)
    judging.confirm(record, "affirmed")
    assert [] == ids(judging)
    clock.advance(2 * MONTH_MILLIS)
    assert [record.record_id] == ids(judging)
    assert [None] == [one.needs_review.refuted_at_millis for one in queue(judging).records]


@pytest.mark.parametrize("outcomes", [("refuted", "affirmed"), ("affirmed", "refuted")])
def test_of_two_confirmations_in_one_millisecond_the_later_one_counts(
    judging: JudgingDesk, clock: ManualClock, outcomes: tuple[Outcome, Outcome]
) -> None:
    record = judging.save()
    clock.advance(1)
    for outcome in outcomes:
        judging.confirm(record, outcome)
    assert ([record.record_id] if outcomes[-1] == "refuted" else []) == ids(judging)


def test_a_revision_is_no_affirmation(desk: Desk, judging: JudgingDesk, clock: ManualClock) -> None:
    record = judging.save(category="procedural")
    clock.advance(2 * MONTH_MILLIS)
    desk.revise(record, "a new text", category="procedural")
    assert [record.record_id] == ids(judging)


def test_freshly_refuted_records_come_first_and_then_the_oldest_baseline(
    judging: JudgingDesk, clock: ManualClock
) -> None:
    made = []
    for name in ("oldest", "older", "old", "refuted long ago", "refuted"):
        made.append(judging.save(name, category="procedural"))
        clock.advance(1)
    oldest, older, old, long_ago, fresh = (one.record_id for one in made)
    clock.advance(3 * MONTH_MILLIS)
    judging.confirm(made[3], "refuted")
    clock.advance(1)
    judging.confirm(made[4], "refuted")
    clock.advance(14 * DAY_MILLIS)
    assert [fresh, oldest, older, old, long_ago] == ids(judging)
    clock.advance(1)
    assert [oldest, older, old, long_ago, fresh] == ids(judging)
    judging.confirm(made[0], "refuted")
    judging.confirm(made[2], "affirmed")
    assert [oldest, older, long_ago, fresh] == ids(judging)


def test_what_is_not_active_and_current_or_is_ineligible_is_left_out(
    desk: Desk, judging: JudgingDesk, clock: ManualClock
) -> None:
    given: dict[str, Any] = {"category": "procedural"}
    kept, archived, superseded, deleted, rejected = (judging.save(name, **given) for name in "abcde")
    judging.save("f", valid_until_millis=builders.START_MILLIS + MONTH_MILLIS, **given)
    source = desk.create("g")
    sound, unsound = desk.derive(desk.create("h"), **given), desk.derive(source, **given)
    clock.advance(2 * MONTH_MILLIS)
    judging.archive(archived)
    judging.compare(kept, superseded, "supersedes")
    desk.delete(deleted)
    desk.review(rejected, "rejected")
    assert {kept.record_id, sound.record_id, unsound.record_id} == set(ids(judging))
    desk.revise(source)
    assert {kept.record_id, sound.record_id} == set(ids(judging))
    judging.unarchive(archived)
    assert {kept.record_id, sound.record_id, archived.record_id} == set(ids(judging))


def test_the_limit_cuts_the_records_and_not_their_number(judging: JudgingDesk, clock: ManualClock) -> None:
    made: list[Ref] = []
    for number in range(5):
        made.append(judging.save(f"record {number}", category="project"))
        clock.advance(1)
    clock.advance(3 * MONTH_MILLIS)
    found = queue(judging, 2)
    assert [one.record_id for one in made[:2]] == [one.record.record_id for one in found.records]
    assert (5, 5, True) == (found.total, found.coverage.scanned_records, found.coverage.complete)


def test_a_scan_that_ends_early_says_so(
    judging: JudgingDesk, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        judging.save(f"record {number}", category="project")
    clock.advance(3 * MONTH_MILLIS)
    for bound, complete in ((4, False), (5, True)):
        monkeypatch.setattr("relatum.ledger.reads.needs_review.SCANNED_MAX", bound)
        found = queue(judging)
        assert (bound, bound, complete) == (found.total, found.coverage.scanned_records, found.coverage.complete)


def test_a_scan_ends_early_where_derived_records_use_up_the_budget(
    desk: Desk, judging: JudgingDesk, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(4):
        desk.derive(desk.create(f"source {number}"), category="project")
    clock.advance(3 * MONTH_MILLIS)
    assert 4 == queue(judging).total
    monkeypatch.setattr("relatum.limits.DEPENDENCY_LOOKUPS_MAX", 2)
    found = queue(judging)
    assert (2, False) == (found.total, found.coverage.complete)
