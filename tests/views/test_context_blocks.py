"""Context blocks over many partitions: never over the budget, in order, and stable (views.md, context)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relatum.clock import ManualClock
from relatum.core.ids import Ref
from relatum.errors import SearchUnavailable
from relatum.ledger import Ledger
from relatum.ledger.reads import context_block
from relatum.limits import DAY_MILLIS
from tests.support.builders import START_MILLIS, unknown_id
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.views.asking import Asking

WORDS = ["ferry", "harbour", "Überfahrt", "渡船", "🚢🌊", "e\u0301t\u0301", "\u202egnol", "x" * 90]
TEXT = st.lists(st.sampled_from(WORDS), min_size=1, max_size=60).map(" ".join)
MULTI_BYTE = st.text(st.characters(exclude_categories=("Cs", "Cc"), min_codepoint=0x80), min_size=1, max_size=800)
CONTENTS = st.lists(st.one_of(TEXT, MULTI_BYTE.filter(str.strip)), max_size=12)


@given(CONTENTS, st.integers(1, 2000), st.lists(st.sampled_from(WORDS), max_size=4), st.data())
def test_a_block_never_exceeds_its_budget_and_its_tiers_never_mix(
    contents: list[str], budget: int, prompt: list[str], data: st.DataObject
) -> None:
    with Ledger.in_memory(clock=ManualClock(START_MILLIS)) as ledger:
        desk, judging = Desk(ledger), JudgingDesk(ledger)
        refs = [desk.create(content, title=data.draw(st.sampled_from([None, "渡船"]))) for content in contents]
        for pinned in data.draw(st.lists(st.sampled_from(refs), unique=True, max_size=20)) if refs else []:
            judging.pin(pinned)
        for one, other in data.draw(pairs_of(refs)):
            judging.compare(one, other, "supersedes")
        found = Asking(ledger).context(" ".join(prompt), budget)
        assert len(found.block) <= budget
        lines = found.block.split("\n") if found.block else []
        assert len(lines) == len(found.entries)
        assert len(refs) == len(found.entries) + found.left_out
        order = [("pinned", "matched", "rest").index(one.tier) for one in found.entries]
        assert sorted(order) == order
        for tier in ("matched", "rest"):
            scores = [one.score for one in found.entries if one.tier == tier]
            assert sorted(scores, reverse=True) == scores
        rest = sum(1 + len(line) for line, one in zip(lines, found.entries, strict=True) if one.tier == "rest")
        assert rest <= 1 + budget // 4
        places = {one.record_id: place for place, one in enumerate(found.entries) if one.tier != "pinned"}
        for entry in found.entries:
            above = entry.standing.superseded_by
            if entry.record_id in places and above in places:
                assert places[above] < places[entry.record_id]


def pairs_of(refs: list[Ref]) -> st.SearchStrategy[list[tuple[Ref, Ref]]]:
    if len(refs) < 2:
        return st.just([])
    one = st.sampled_from(refs)
    return st.lists(st.tuples(one, one).filter(lambda pair: pair[0] != pair[1]), max_size=4)


@settings(max_examples=25)
@given(
    st.integers(20, 60), st.sampled_from(["ferry", "ferry harbour", "nothing", ""]), st.integers(500, 3000), st.data()
)
def test_adding_one_weak_record_changes_nothing_in_a_block_that_is_full(
    records: int, prompt: str, budget: int, data: st.DataObject
) -> None:
    clock = ManualClock(START_MILLIS)
    with Ledger.in_memory(clock=clock) as ledger:
        desk, asking = Desk(ledger), Asking(ledger)
        for number in range(records):
            clock.advance(data.draw(st.sampled_from([0, 1, DAY_MILLIS, 40 * DAY_MILLIS])))
            words = ["harbour", "ferry"][: number % 3] + ["filling"] * 40
            desk.create(f"{number} {' '.join(words)}")
        first = asking.context(prompt, budget)
        assert first.left_out, "the block is full"
        shown = [one.record_id for one in first.entries]
        assert first.block == asking.context(prompt, budget, shown).block, "asking again changes nothing"
        desk.create(data.draw(st.sampled_from(["x", "weak words of no account", "y " * 500])))
        assert first.block == asking.context(prompt, budget, shown).block


def test_records_of_one_day_come_into_the_rest_behind_those_that_are_there(
    desk: Desk, ledger: Ledger, clock: ManualClock
) -> None:
    for number in range(40):
        clock.advance(1)
        desk.create(f"{number} " + "filling " * 30)
    clock.advance(1)
    asking = Asking(ledger)
    before = asking.context("nothing of the kind").block
    desk.create("weak")
    assert before == asking.context("nothing of the kind").block, "even to somebody who says nothing of what was shown"


def test_a_block_has_a_bound_of_entries_and_of_looks(
    desk: Desk, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = desk.create("ferry")
    for _ in range(3):
        desk.derive(source, content="ferry ferry")
    source = desk.revise(source, "ferry")
    for number in range(6):
        desk.create(f"ferry {number}")
    asking = Asking(ledger)
    whole = asking.context("ferry")
    assert (7, 0, True) == (len(whole.entries), whole.left_out, whole.coverage.complete)
    monkeypatch.setattr(context_block, "ENTRIES_MAX", 5)
    few = asking.context("ferry")
    assert (5, ("entry_limit",)) == (len(few.entries), few.coverage.stop_reasons)
    assert 2 <= few.left_out <= 5, "of those that were not looked at nobody knows whether their ancestry holds"
    monkeypatch.setattr(context_block, "ENTRIES_MAX", 100)
    monkeypatch.setattr(context_block, "LOOKS_MAX", 6)
    fewer = asking.context("ferry")
    assert ("entry_limit",) == fewer.coverage.stop_reasons
    assert len(fewer.entries) <= 6


def test_a_better_match_does_change_the_block(desk: Desk, ledger: Ledger) -> None:
    for number in range(40):
        desk.create(f"{number} ferry " + "filling " * 30)
    asking = Asking(ledger)
    first = asking.context("ferry harbour")
    better = desk.create("ferry harbour")
    again = asking.context("ferry harbour", shown=[one.record_id for one in first.entries])
    assert better.record_id == again.entries[0].record_id


def test_recency_fades_with_a_half_life_of_thirty_days(desk: Desk, ledger: Ledger, clock: ManualClock) -> None:
    desk.create("ferry")
    asking = Asking(ledger)
    scores = []
    for _ in range(3):
        [entry] = asking.context("ferry").entries
        scores.append(entry.score - 1)
        clock.advance(30 * DAY_MILLIS)
    assert [scores[0] / 2, scores[1] / 2] == pytest.approx(scores[1:], abs=1e-6)


def test_a_block_is_made_without_the_index_too(desk: Desk, ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    refs = [desk.create(f"record {number}", category="project") for number in range(3)]
    asking = Asking(ledger)
    with_index = asking.context("nothing of the kind")

    def fail(*_: object) -> None:
        raise SearchUnavailable

    monkeypatch.setattr(ledger._index, "surroundings", fail)
    without = asking.context("nothing of the kind")
    assert (with_index.block, with_index.entries) == (without.block, without.entries)
    assert {one.record_id for one in refs} == {one.record_id for one in without.entries}


def test_shown_ids_that_nobody_knows_change_nothing(desk: Desk, ledger: Ledger) -> None:
    desk.create("ferry")
    asking = Asking(ledger)
    assert asking.context("ferry") == asking.context("ferry", shown=[unknown_id()])
