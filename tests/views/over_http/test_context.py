"""Context over the wire: tiers, order, budget, and what is answered beside the block (views.md, context)."""

from __future__ import annotations

import pytest

from tests.http.client import ABSENT, INVALID, Caller, Json, accepted, refusal
from tests.judgments.over_http.calling import answered, change, compare, submit
from tests.views.over_http.calling import CONTEXT, context, ids, linked, mark, order, stand


def tiers(caller: Caller, prompt: str) -> list[tuple[str, str]]:
    return [(one["tier"], one["record_id"]) for one in context(caller, prompt)["entries"]]


def test_an_empty_partition_has_an_empty_block(caller: Caller) -> None:
    found = context(caller, "ferry")
    assert ("", [], 0, 0, 0) == tuple(
        found[name] for name in ("block", "entries", "left_out", "pending_candidates", "needs_review")
    )
    assert found["coverage"]["complete"]


def test_the_tiers_stand_in_their_order(caller: Caller) -> None:
    pinned, matching, tied = caller.create("always"), caller.create("the ferry"), caller.create("a harbour")
    linked_too, rest = caller.create("a pier"), caller.create("something else")
    newer_pin = caller.create("always too")
    caller.relate(tied, matching, kind="part_of")
    linked(caller, linked_too, matching)
    accepted(stand(caller, "pin", pinned))
    accepted(stand(caller, "pin", newer_pin))
    found = tiers(caller, "When does the ferry leave?")
    assert [
        ("pinned", newer_pin["record_id"]),
        ("pinned", pinned["record_id"]),
        ("matched", matching["record_id"]),
        ("matched", linked_too["record_id"]),
        ("matched", tied["record_id"]),
        ("rest", rest["record_id"]),
    ] == found


def test_the_block_shows_a_line_for_each_entry(caller: Caller) -> None:
    caller.create("leaves\n\n at   nine ", title="The ferry")
    caller.create("another\u2028ferry")
    assert "- another ferry\n- The ferry: leaves at nine" == context(caller, "ferry")["block"]


def test_more_matched_words_rank_higher_whatever_the_category(caller: Caller) -> None:
    two, one = caller.create("ferry harbour"), caller.create("ferry", category="security")
    plain = caller.create("ferry")
    assert ids(two, one, plain) == order(context(caller, "ferry harbour"))


@pytest.mark.parametrize("category", ["preference", "constraint", "security"])
def test_what_guards_is_lifted_over_equals_that_are_newer(caller: Caller, category: str) -> None:
    guard = caller.create("ferry", category=category)
    newer = caller.create("ferry", category="project")
    assert ids(guard, newer) == order(context(caller, "ferry"))


def test_of_equals_the_newer_ranks_higher(caller: Caller) -> None:
    older, newer = caller.create("ferry"), caller.create("ferry")
    assert ids(newer, older) == order(context(caller, "ferry"))
    assert ids(older, newer) == order(context(caller, "ferry", shown=ids(older)))
    assert ids(older, newer) == order(context(caller, "ferry", shown=[older["record_id"].upper()]))


def test_a_superseded_record_ranks_below_its_superseder_by_verdict_and_by_link(caller: Caller) -> None:
    old, new = caller.create("ferry ferry harbour"), caller.create("ferry")
    answered(compare(caller, new, old, "supersedes"))
    assert ids(new, old) == order(context(caller, "ferry harbour"))
    demoted, above = caller.create("lantern wick oil"), caller.create("lantern")
    assert ids(demoted, above) == order(context(caller, "lantern wick oil"))[:2]
    linked(caller, above, demoted, "supersedes")
    found = context(caller, "lantern wick oil")
    assert ids(above, demoted) == [one for one in order(found) if one in ids(above, demoted)]
    assert (
        "current"
        == next(one for one in found["entries"] if one["record_id"] == demoted["record_id"])["standing"]["state"]
    )
    accepted(stand(caller, "archive", above))
    assert demoted["record_id"] == order(context(caller, "lantern wick oil"))[0], "the link is inactive"


@pytest.mark.parametrize("contents", [("ferry harbour", "pier"), ("pier", "ferry harbour")])
def test_a_record_that_several_others_supersede_ranks_below_all_of_them(
    caller: Caller, contents: tuple[str, str]
) -> None:
    old = caller.create("ferry harbour tide noon oil")
    by_link, by_link_too = (caller.create(content) for content in contents)
    linked(caller, by_link, old, "supersedes")
    linked(caller, by_link_too, old, "supersedes")
    assert old["record_id"] == order(context(caller, "ferry harbour tide noon oil"))[-1]
    by_verdict = caller.create("quay")
    answered(compare(caller, by_verdict, old, "supersedes"))
    assert old["record_id"] == order(context(caller, "ferry harbour tide noon oil"))[-1]


def test_a_superseded_record_does_not_outrank_a_superseder_that_matches_nothing(caller: Caller) -> None:
    match, old = caller.create("ferry"), caller.create("old")
    new = caller.create("new")
    answered(compare(caller, new, old, "supersedes"))
    linked(caller, old, match)
    change(caller, "review", new, disposition="approved", evidence_ref="n")  # their relation holds no longer
    found = [one for one in order(context(caller, "ferry")) if one in ids(old, new)]
    assert ids(new, old) == found


def test_chains_and_circles_of_supersession_have_an_order(caller: Caller) -> None:
    first, second, third = (caller.create(f"ferry {word}") for word in ("x y", "x", ""))
    linked(caller, third, second, "supersedes")
    linked(caller, second, first, "supersedes")
    assert ids(third, second, first) == order(context(caller, "ferry x y"))
    linked(caller, first, third, "supersedes")
    assert set(ids(first, second, third)) == set(order(context(caller, "ferry x y")))


def test_archived_deleted_rejected_and_expired_records_are_not_in_it(caller: Caller) -> None:
    kept, archived, gone, rejected = (caller.create(f"ferry {number}") for number in range(4))
    caller.create("ferry", valid_until_millis=1)
    for pinned in (archived, rejected, gone):
        accepted(stand(caller, "pin", pinned))
    accepted(stand(caller, "archive", archived))
    change(caller, "delete", gone)
    change(caller, "review", rejected, disposition="rejected", evidence_ref="n")
    found = context(caller, "ferry")
    assert (ids(kept), 0) == (order(found), found["left_out"])


def test_a_derived_record_whose_source_has_changed_is_not_in_it(caller: Caller) -> None:
    source = caller.create("source")
    derivation = {"sources": [source], "method": "m", "method_revision": "1", "evidence_ref": "e"}
    operation: Json = {"record": {"content": "ferry"}, "derivation": derivation}
    child = accepted(caller.command("/api/v1/memory/records", type="derive", **operation))
    assert child["record_id"] in order(context(caller, "ferry"))
    change(caller, "revise", source, record={"content": "another"})
    found = context(caller, "ferry")
    assert (ids(source), 0) == (order(found), found["left_out"])


def test_a_review_of_its_source_leaves_a_derived_record_out_only_while_it_rejects(caller: Caller) -> None:
    source = caller.create("source")
    derivation = {"sources": [source], "method": "m", "method_revision": "1", "evidence_ref": "e"}
    operation: Json = {"record": {"content": "ferry"}, "derivation": derivation}
    child = accepted(caller.command("/api/v1/memory/records", type="derive", **operation))
    for disposition, brought in (
        ("approved", ids(child, source)),
        ("rejected", []),
        ("unreviewed", ids(child, source)),
    ):
        source = change(caller, "review", source, disposition=disposition, evidence_ref="n")
        found = context(caller, "ferry")
        assert (brought, 0) == (order(found), found["left_out"]), disposition


def test_the_rest_takes_a_quarter_of_the_budget(caller: Caller) -> None:
    for number in range(40):
        caller.create(f"{number:02} " + "x" * 200)
    found = context(caller, "nothing of the kind", budget_characters=4000)
    assert {"rest"} == {one["tier"] for one in found["entries"]}
    assert 0 < len(found["block"]) <= 1000
    assert 40 == len(found["entries"]) + found["left_out"]


def test_pinned_records_are_always_in_it_cut_if_need_be(caller: Caller) -> None:
    pins = [caller.create(f"{number:02} " + "é" * 700) for number in range(20)]
    for one in pins:
        accepted(stand(caller, "pin", one))
    caller.create("ferry")
    for budget in (6000, 1000, 200):
        found = context(caller, "ferry", budget_characters=budget)
        assert set(ids(*pins)) <= set(order(found))
        assert len(found["block"]) <= budget


def test_what_awaits_whoever_starts_to_work(caller: Caller) -> None:
    one, other = caller.create("one"), caller.create("other")
    submit(caller, (one, other))
    refuted = {"record_id": other["record_id"], "outcome": "refuted", "evidence_ref": "n"}
    answered(caller.ask("/api/v1/memory/records/confirm", idempotency_key="k", confirmations=[refuted]))
    found = context(caller, "ferry")
    assert (1, 1) == (found["pending_candidates"], found["needs_review"])
    accepted(mark(caller, one, other))
    accepted(stand(caller, "archive", other))
    found = context(caller, "ferry")
    assert (0, 0) == (found["pending_candidates"], found["needs_review"])


@pytest.mark.parametrize(
    "members",
    [
        {"budget_characters": 0},
        {"budget_characters": 100_001},
        {"budget_characters": 1.5},
        {"shown": ["nobody"]},
        {"shown": [ABSENT] * 1001},
        {"prompt": None},
        {"prompt": "p", "tier": "rest"},
    ],
    ids=lambda one: str(one)[:40],
)
def test_what_is_wrong_with_a_query(caller: Caller, members: dict[str, object]) -> None:
    assert INVALID == refusal(caller.ask(CONTEXT, **{"prompt": "ferry", **members}))


def test_shown_records_that_are_gone_do_no_harm(caller: Caller) -> None:
    kept = caller.create("ferry")
    assert ids(kept) == order(context(caller, "ferry", shown=[ABSENT, ABSENT]))
