"""Annotated records over the wire: what judgments say of a record, from its point of view (judgments.md)."""

from __future__ import annotations

import pytest

from tests.http.client import ABSENT, INVALID, RECORDS, Caller, Json, accepted, fresh, issue, refusal
from tests.judgments.over_http.calling import (
    annotated,
    answered,
    candidate,
    change,
    compare,
    judge,
    relations_of,
    search,
)

PATH = f"{RECORDS}/annotated"
OTHER_WAY = {"supersedes": "superseded_by"}


@pytest.mark.parametrize("verdict", ["conflicts_with", "supersedes", "scoped", "compatible", "related"])
def test_both_ends_say_the_same_of_a_verdict_each_in_its_own_words(verdict: str, caller: Caller) -> None:
    source, target = caller.create("ten"), caller.create("nine")
    pending = candidate(caller, source, target)
    judge(caller, pending, verdict, reason="the later one", confidence=0.25)
    [out], [back] = relations_of(caller, source), relations_of(caller, target)
    assert {
        "kind": verdict,
        "direction": "outgoing",
        "target_id": target["record_id"],
        "preview": "nine",
        "candidate_id": pending,
        "reason": "the later one",
        "confidence": 0.25,
        "status": "judged",
    } == out
    mirrored = {"kind": OTHER_WAY.get(verdict, verdict), "direction": "incoming"}
    assert {**out, **mirrored, "target_id": source["record_id"], "preview": "ten"} == back


def test_what_a_verdict_did_not_say_is_left_out(caller: Caller) -> None:
    source, target = caller.create("ten"), caller.create("nine")
    judge(caller, candidate(caller, source, target), "related")
    [seen] = relations_of(caller, source)
    assert {"kind", "direction", "target_id", "preview", "candidate_id", "status"} == seen.keys()


def test_annotations_come_by_kind_and_the_newest_first_within_one(caller: Caller) -> None:
    hub = caller.create("the hub")
    order = ["related", "compatible", "scoped", "superseded_by", "supersedes", "conflicts_with", "conflicts_with"]
    expected: list[tuple[str, str]] = []
    for number, kind in enumerate(order):
        other = caller.create(f"spoke {number}")
        ends, verdict = ((other, hub), "supersedes") if kind == "superseded_by" else ((hub, other), kind)
        if kind == "superseded_by":
            continue  # makes the hub unfit for superseding; told last
        answered(compare(caller, *ends, verdict))
        expected.append((kind, other["record_id"]))
    waiting, later = caller.create("waiting"), caller.create("later")
    candidate(caller, waiting, hub)
    answered(compare(caller, later, hub, "supersedes"))
    ranked = [expected[-1], expected[-2], expected[-3]]
    ranked += [("superseded_by", later["record_id"]), ("pending_conflict", waiting["record_id"])]
    ranked += [expected[2], expected[1], expected[0]]
    assert ranked == [(one["kind"], one["target_id"]) for one in relations_of(caller, hub)]


def test_the_limit_cuts_annotations_and_not_their_number(caller: Caller) -> None:
    hub = caller.create("the hub")
    for number in range(12):
        answered(compare(caller, hub, caller.create(f"spoke {number}"), "related"))
    for limit, shown in ((None, 10), (0, 0), (11, 11), (50, 12)):
        [found] = annotated(caller, hub, relations_limit=limit)
        assert (shown, 12) == (len(found["relations"]), found["relations_total"])


@pytest.mark.parametrize("limit", [-1, 51])
def test_a_limit_out_of_bounds_is_refused(limit: int, caller: Caller) -> None:
    record = caller.create()
    assert INVALID == refusal(caller.ask(PATH, record_ids=[record["record_id"]], relations_limit=limit))


@pytest.mark.parametrize("number", [0, 21])
def test_one_to_twenty_distinct_records_are_read(number: int, caller: Caller) -> None:
    ids = [f"{each:08x}{ABSENT[8:]}" for each in range(21)]
    assert INVALID == refusal(caller.ask(PATH, record_ids=ids[:number]))
    assert 20 == len(answered(caller.ask(PATH, record_ids=ids[:20]))["records"])
    assert INVALID == refusal(caller.ask(PATH, record_ids=[ids[0], ids[0].upper()]))


def test_absent_and_ineligible_records_are_null_in_their_place(admin: Caller, caller: Caller) -> None:
    sound, rejected, foreign = caller.create("nine"), caller.create("ten"), issue(admin).create("noon")
    change(caller, "review", rejected, disposition="rejected", evidence_ref="note/1")
    found = annotated(caller, rejected, sound, foreign, {"record_id": ABSENT})
    assert [None, sound["record_id"], None, None] == [one and one["record"]["record_id"] for one in found]


def test_superseded_and_archived_records_are_read_with_their_standing(caller: Caller) -> None:
    first, second, third = (caller.create(name) for name in ("nine", "ten", "noon"))
    answered(compare(caller, second, first, "supersedes"))
    change(caller, "archive", third)
    change(caller, "pin", second)
    found = annotated(caller, first, second, third)
    assert ["superseded", "current", "archived"] == [one["standing"]["state"] for one in found]
    assert [second["record_id"], None, None] == [one["standing"]["superseded_by"] for one in found]
    assert [[], [first["record_id"]], []] == [one["standing"]["replaces"] for one in found]
    assert [False, True, False] == [one["standing"]["pinned"] for one in found]


def test_reasons_are_cut_when_several_records_are_read(caller: Caller) -> None:
    first, second = caller.create("nine"), caller.create("ten")
    judge(caller, candidate(caller, first, second), "related", reason="ü" * 400)
    assert "ü" * 400 == relations_of(caller, first)[0]["reason"]
    assert ["ü" * 350] * 2 == [one["relations"][0]["reason"] for one in annotated(caller, first, second)]


def test_a_preview_has_120_characters(caller: Caller) -> None:
    first, second = caller.create("nine"), caller.create("ü" * 200)
    answered(compare(caller, first, second, "related"))
    assert "ü" * 120 == relations_of(caller, first)[0]["preview"]


@pytest.mark.parametrize("how", ["delete", "reject"])
def test_ends_that_cannot_be_read_are_left_out_and_not_counted(how: str, caller: Caller) -> None:
    hub, gone, waiting = caller.create("the hub"), caller.create("gone"), caller.create("waiting")
    answered(compare(caller, hub, gone, "conflicts_with"))
    candidate(caller, gone, hub)
    answered(compare(caller, waiting, hub, "related"))
    if how == "delete":
        change(caller, "delete", gone)
    else:
        change(caller, "review", gone, disposition="rejected", evidence_ref="note/1")
    [found] = annotated(caller, hub)
    assert (["related"], 1) == ([one["kind"] for one in found["relations"]], found["relations_total"])


def test_a_retired_or_rejected_verdict_is_not_shown_until_it_is_back(caller: Caller) -> None:
    first, second = caller.create("nine"), caller.create("ten")
    receipt = answered(compare(caller, first, second, "conflicts_with"))["receipt"]
    receipt = accepted(caller.change("retire", receipt))
    assert ([], []) == (relations_of(caller, first), relations_of(caller, second))
    receipt = accepted(caller.change("restore", receipt))
    assert 1 == len(relations_of(caller, first))
    accepted(caller.change("review", receipt, disposition="rejected"))
    assert [] == relations_of(caller, first)


def test_a_plainly_asserted_relation_is_no_annotation(caller: Caller) -> None:
    first, second = caller.create("nine"), caller.create("ten")
    caller.relate(first, second, kind="contradicts")
    assert [] == relations_of(caller, first)


def test_a_search_annotates_what_it_finds(caller: Caller) -> None:
    first, second = caller.create("the lighthouse"), caller.create("the harbour")
    answered(compare(caller, first, second, "conflicts_with", reason="ü" * 400))
    [found] = search(caller, "lighthouse")
    expected: list[Json] = annotated(caller, first, second)
    assert expected[0] | {"score": 1.0} == found
    [bare] = search(caller, "lighthouse", relations_limit=0)
    assert ([], 1) == (bare["relations"], bare["relations_total"])


@pytest.mark.parametrize(
    ("asked", "score"),
    [
        ("lighthouse", 1.0),
        ("lighthouse LIGHTHOUSE the", 1.0),
        ("lighthouse keeper", 0.5),
        ("lighthouse keeper tower ferry", 0.5),
        ("\u71c8 lighthouse", 1.0),
        ("\u732b lighthouse", 0.5),
    ],
)
def test_a_score_is_the_share_of_the_query_s_words(caller: Caller, asked: str, score: float) -> None:
    caller.create("the lighthouse \u71c8\u5854", title="Tower of old")
    [found] = search(caller, asked)
    assert score == found["score"]


def test_a_record_that_is_to_be_looked_at_again_says_so(caller: Caller) -> None:
    ref = caller.create("the lighthouse")
    [before] = annotated(caller, ref)
    assert before["needs_review"] is None
    said = {"record_id": ref["record_id"], "outcome": "refuted", "evidence_ref": "note/6"}
    answered(caller.ask(f"{RECORDS}/confirm", idempotency_key=fresh("key"), confirmations=[said]))
    [queued] = answered(caller.ask(f"{RECORDS}/needs-review"))["records"]
    [after], [found] = annotated(caller, ref), search(caller, "lighthouse")
    assert queued["needs_review"] == after["needs_review"] == found["needs_review"]
    assert queued["needs_review"]["refuted_at_millis"] is not None
