"""The work that comes with a context block, and what the lines of the block say of records (views.md, context)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relatum.clock import ManualClock
from relatum.core.ids import Ref
from relatum.ledger import Ledger
from relatum.ledger.reads import context_marks
from relatum.ledger.reads.context_work import Wanted
from relatum.limits import DAY_MILLIS
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.views.asking import Asking


@pytest.fixture
def judge(ledger: Ledger) -> JudgingDesk:
    return JudgingDesk(ledger)


@pytest.fixture
def asking(ledger: Ledger) -> Asking:
    return Asking(ledger)


def line(asking: Asking, content: str) -> str:
    """The line of the block that shows a record."""
    [found] = [one for one in asking.context("ferry").block.splitlines() if content in one]
    return found


# The work


def test_pending_pairs_come_oldest_first_once_they_are_of_age(
    desk: Desk, judge: JudgingDesk, asking: Asking, clock: ManualClock
) -> None:
    long = "ü" * 400
    one, two, three = desk.create(long, title="One"), desk.create("two"), desk.create("three")
    judge.submit((one, two))
    clock.advance(1)
    judge.submit((two, three))
    fresh = asking.context("ferry")
    assert ((), 2) == (fresh.pending_judgments, fresh.pending_candidates)
    clock.advance(DAY_MILLIS)
    first, second = asking.context("ferry").pending_judgments
    assert (one, two, "pending") == (first.source, first.target, first.status)
    assert ("One", long[:350], None, "two") == (
        first.source_title,
        first.source_snippet,
        first.target_title,
        first.target_snippet,
    )
    assert (two, three) == (second.source, second.target)
    assert (first,) == asking.context("ferry", wanted=Wanted(judgments_max=1)).pending_judgments
    assert () == asking.context("ferry", wanted=Wanted(judgments_max=0)).pending_judgments
    judge.judge(first.candidate_id, "compatible")
    assert (second,) == asking.context("ferry").pending_judgments


def test_an_end_that_is_not_eligible_is_named_and_not_shown(
    desk: Desk, judge: JudgingDesk, asking: Asking, clock: ManualClock
) -> None:
    hidden, shown = desk.create("hidden", title="Hidden"), desk.create("shown")
    judge.submit((hidden, shown))
    desk.review(hidden, "rejected")
    clock.advance(DAY_MILLIS)
    [found] = asking.context("ferry").pending_judgments
    assert (None, None, "shown") == (found.source_title, found.source_snippet, found.target_snippet)
    assert hidden.record_id == found.source.record_id


def test_due_records_come_freshly_refuted_first_then_the_oldest(
    desk: Desk, judge: JudgingDesk, asking: Asking, clock: ManualClock
) -> None:
    made = []
    for number in range(5):
        made.append(desk.create(f"{number} " + "ü" * 300, category="procedural", title=f"Number {number}"))
        clock.advance(1)
    desk.create("for ever")
    assert () == asking.context("ferry").due_records
    clock.advance(60 * DAY_MILLIS)
    judge.confirm(made[3], "refuted")
    desk.review(made[0], "rejected")
    found = asking.context("ferry")
    assert [made[3], made[1], made[2]] == [
        Ref(record_id=one.record_id, revision=one.revision) for one in found.due_records
    ]
    assert 4 == found.needs_review
    first = found.due_records[0]
    assert ("Number 3", 200) == (first.title, len(first.snippet))
    assert first.needs_review.refuted_at_millis is not None
    assert 4 == len(asking.context("ferry", wanted=Wanted(records_max=50)).due_records)
    assert () == asking.context("ferry", wanted=Wanted(records_max=0)).due_records


# What lines say

Story = Callable[[Desk, JudgingDesk, Ref, Ref], object]
"""What happens to the ferry, and to another record."""

MARKED: dict[str, tuple[Story, str]] = {
    "nothing": (lambda desk, judge, ferry, other: None, ""),
    "superseded by a verdict": (
        lambda desk, judge, ferry, other: judge.compare(other, ferry, "supersedes"),
        " (superseded)",
    ),
    "the superseder": (lambda desk, judge, ferry, other: judge.compare(ferry, other, "supersedes"), ""),
    "contradicted": (lambda desk, judge, ferry, other: desk.relate(other, ferry, "contradicts"), " (in conflict)"),
    "contradicting": (lambda desk, judge, ferry, other: desk.relate(ferry, other, "contradicts"), " (in conflict)"),
    "supported": (lambda desk, judge, ferry, other: desk.relate(other, ferry, "supports"), ""),
    "contradicted once": (
        lambda desk, judge, ferry, other: desk.retire(desk.relate(other, ferry, "contradicts")),
        "",
    ),
    "contradicted by what is rejected": (
        lambda desk, judge, ferry, other: (desk.relate(other, ferry, "contradicts"), desk.review(other, "rejected")),
        "",
    ),
    "judged to be in conflict": (
        lambda desk, judge, ferry, other: judge.compare(other, ferry, "conflicts_with"),
        " (in conflict)",
    ),
    "judged compatible": (lambda desk, judge, ferry, other: judge.compare(other, ferry, "compatible"), ""),
    "suspected": (lambda desk, judge, ferry, other: judge.submit((other, ferry)), " (in conflict)"),
    "suspected of what is rejected": (
        lambda desk, judge, ferry, other: (judge.submit((other, ferry)), desk.review(other, "rejected")),
        "",
    ),
    "both": (
        lambda desk, judge, ferry, other: (
            judge.compare(other, ferry, "supersedes"),
            desk.relate(desk.create("a third"), ferry, "contradicts"),
        ),
        " (superseded) (in conflict)",
    ),
}


@pytest.mark.parametrize("story", MARKED)
def test_a_line_says_what_stands_against_its_record(desk: Desk, judge: JudgingDesk, asking: Asking, story: str) -> None:
    ferry, other = desk.create("the ferry leaves at nine"), desk.create("it leaves at ten")
    happen, mark = MARKED[story]
    happen(desk, judge, ferry, other)
    assert f"- the ferry leaves at nine{mark}" == line(asking, "at nine")


def test_a_line_that_is_cut_keeps_its_mark_and_its_length(desk: Desk, asking: Asking) -> None:
    ferry, other = desk.create("ferry " * 400), desk.create("it leaves at ten")
    desk.relate(other, ferry, "contradicts")
    found = line(asking, "ferry ferry")
    assert found.endswith("… (in conflict)")
    assert 600 == len(found)


def test_a_bound_on_what_is_looked_at_is_told(desk: Desk, asking: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = desk.create("the ferry")
    for number in range(4):
        desk.relate(desk.create(f"note {number}"), hub)
    assert asking.context("ferry").coverage.complete
    monkeypatch.setattr(context_marks, "ENTRIES_MAX", 3)
    assert ("scan_limit",) == asking.context("ferry").coverage.stop_reasons
