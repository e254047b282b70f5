"""Verdicts over the wire: batches item by item, comparison, and the relation that each makes (judgments.md)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.feeds.wire import Feed
from tests.http.client import (
    ABSENT,
    INVALID,
    KEY_CONFLICT,
    NO_RECORD,
    RECEIPTS,
    RECORDS,
    RELATIONS,
    STALE,
    Caller,
    Json,
    accepted,
    fresh,
    issue,
    provenance,
    refusal,
)
from tests.judgments.over_http.calling import (
    JUDGMENTS,
    NO_CANDIDATE,
    answered,
    batch,
    candidate,
    change,
    command,
    compare,
    judge,
    queue,
    relations_of,
    standing,
    submit,
)

KINDS = {
    "supersedes": "supersedes",
    "conflicts_with": "contradicts",
    "related": "semantic_related",
    "compatible": "compatible",
    "scoped": "scoped",
    "not_conflict": "not_conflict",
}


def relation(caller: Caller, relation_id: str) -> Json:
    """A retained relation."""
    found = answered(caller.ask(f"{RELATIONS}/inspect", relation_id=relation_id))["inspection"]["relation"]
    given: Json = found
    return given


@pytest.mark.parametrize(("verdict", "kind"), KINDS.items())
def test_a_verdict_makes_a_relation_of_its_kind_and_closes_its_candidate(
    verdict: str, kind: str, caller: Caller
) -> None:
    source, target = caller.create("ten"), caller.create("nine")
    pending = candidate(caller, source, target)
    result = judge(caller, pending, verdict, reason="the later one", confidence=0.25, evidence={"seen": [1, 2.5, None]})
    receipt = result["receipt"]
    assert {"ok", "judgment", "receipt"} == result.keys()
    assert {
        "relation": verdict,
        "relation_kind": kind,
        "relation_id": receipt["relation_id"],
        "source": source,
        "target": target,
        "candidate_id": pending,
        "confidence": 0.25,
    } == result["judgment"]
    made = relation(caller, receipt["relation_id"])
    assert (source, target, kind, "active") == (
        made["input"]["source"],
        made["input"]["target"],
        made["input"]["kind"],
        made["state"],
    )
    given = made["input"]["provenance"]
    assert ("tool_observation", "judgment") == (given["origin"], given["method"])
    [closed] = queue(caller, status="judged")["candidates"]
    assert (kind, receipt["relation_id"], "the later one", {"seen": [1, 2.5, None]}, 0.25) == tuple(
        closed[name] for name in ("relation_kind", "relation_id", "reason", "evidence", "confidence")
    )
    assert {"kind": "agent", "author": receipt["author"]} == closed["marked_by"]
    assert receipt["committed_at_millis"] == closed["judged_at_millis"]
    assert ("superseded" if verdict == "supersedes" else "current") == standing(caller, target)["state"]


def test_the_provenance_of_a_verdict_may_be_given(caller: Caller) -> None:
    model = {"provider": "maker", "model": "reader", "revision": "7"}
    given = {**provenance(origin="model_inference"), "model": model}
    result = judge(caller, candidate(caller), "related", provenance=given)
    assert given == relation(caller, result["receipt"]["relation_id"])["input"]["provenance"]


def test_the_relation_of_a_verdict_stands_in_the_feed_and_under_its_key(caller: Caller) -> None:
    key = fresh("key")
    [result] = batch(caller, {"candidate_id": candidate(caller), "relation": "supersedes"}, key=key)["results"]
    read = answered(caller.ask(RECEIPTS, family="judgment", idempotency_key=key))
    assert result["receipt"] == read["receipt"]
    [told] = Feed(caller, RELATIONS).page()["changes"]
    assert result["receipt"]["relation_id"] == told["change"]["relation_id"]
    records = Feed(caller, RECORDS).page()["changes"]
    assert ["created", "created", "superseded"] == [one["change"]["kind"] for one in records]


# Batches


def test_three_bad_items_of_twenty_fail_alone_and_the_order_is_kept(caller: Caller) -> None:
    hub = caller.create("the hub")
    pairs = [(caller.create(f"spoke {number}"), hub) for number in range(17)]
    ids = [one["candidate_id"] for one in submit(caller, *pairs)]
    judgments: list[Json] = [{"candidate_id": one, "relation": "related", "reason": f"as {one}"} for one in ids]
    judgments.insert(3, {"candidate_id": ABSENT, "relation": "related"})
    judgments.insert(9, {"candidate_id": ids[0], "relation": "scoped"})
    judgments.append({"candidate_id": ids[1], "relation": "related", "confidence": 1.5})
    key = fresh("key")
    answer = batch(caller, *judgments, key=key)
    bad = {3: "candidate_not_found", 9: "revision_conflict", 19: "invalid_request"}
    assert [bad.get(place) for place in range(20)] == [one.get("code") for one in answer["results"]]
    assert [place not in bad for place in range(20)] == [one["ok"] for one in answer["results"]]
    assert all({"ok", "code", "message"} == answer["results"][place].keys() for place in bad)
    assert answer["all_failed"] is False
    made = [one["judgment"]["candidate_id"] for one in answer["results"] if one["ok"]]
    assert ids == made
    sequences = [one["receipt"]["commit_sequence"] for one in answer["results"] if one["ok"]]
    assert sorted(sequences) == sequences
    assert 17 == queue(caller, status="judged", limit=50)["total"]
    again = command(caller, f"{JUDGMENTS}/batch", key, judgments=judgments)
    assert answer == again.json()


def test_refusals_are_replayed_although_the_world_has_moved_on(caller: Caller) -> None:
    first, second, third = (caller.create(name) for name in ("nine", "ten", "noon"))
    later, other = submit(caller, (second, first), (third, first))
    key = fresh("key")
    judgments = [
        {"candidate_id": later["candidate_id"], "relation": "supersedes"},
        {"candidate_id": other["candidate_id"], "relation": "supersedes"},
    ]
    answer = batch(caller, *judgments, key=key)
    assert [True, False] == [one["ok"] for one in answer["results"]]
    accepted(caller.change("retire", answer["results"][0]["receipt"]))
    assert answer == batch(caller, *judgments, key=key)
    judge(caller, other["candidate_id"], "supersedes")
    assert answer == batch(caller, *judgments, key=key)


def test_a_batch_of_which_everything_failed_is_still_an_answer(caller: Caller) -> None:
    answer = batch(
        caller, {"candidate_id": ABSENT, "relation": "related"}, {"candidate_id": ABSENT, "relation": "scoped"}
    )
    assert answer["all_failed"] is True
    assert ["candidate_not_found"] * 2 == [one["code"] for one in answer["results"]]


@pytest.mark.parametrize("number", [0, 21])
def test_a_batch_has_one_to_twenty_items(number: int, caller: Caller) -> None:
    judgments = [{"candidate_id": ABSENT, "relation": "related"}] * number
    assert INVALID == refusal(command(caller, f"{JUDGMENTS}/batch", judgments=judgments))
    whole = command(caller, f"{JUDGMENTS}/batch", judgments=[{"candidate_id": ABSENT, "relation": "related"}] * 20)
    assert 20 == len(answered(whole)["results"])


def test_the_key_of_a_batch_stands_for_all_its_items(caller: Caller) -> None:
    key, pending = fresh("key"), candidate(caller)
    first = {"candidate_id": pending, "relation": "related"}
    batch(caller, first, key=key)
    path = f"{JUDGMENTS}/batch"
    assert KEY_CONFLICT == refusal(command(caller, path, key, judgments=[first, first]))
    assert KEY_CONFLICT == refusal(command(caller, path, key, judgments=[{**first, "relation": "scoped"}]))
    assert KEY_CONFLICT == refusal(command(caller, path, key, judgments=[first] * 21)), "before the static rules"
    assert KEY_CONFLICT == refusal(command(caller, path, key, judgments=[]))
    assert KEY_CONFLICT == refusal(command(caller, f"{JUDGMENTS}/sweep", key)), "one family, one key"
    assert KEY_CONFLICT == refusal(compare(caller, caller.create("a"), caller.create("b"), "related", key=key))


def test_the_key_of_a_command_is_taken_for_batches_too(caller: Caller) -> None:
    key = fresh("key")
    answered(compare(caller, caller.create("a"), caller.create("b"), "related", key=key))
    judgment = {"candidate_id": candidate(caller), "relation": "related"}
    assert KEY_CONFLICT == refusal(command(caller, f"{JUDGMENTS}/batch", key, judgments=[judgment]))
    assert 1 == queue(caller)["total"]


@pytest.mark.parametrize(
    "fault",
    [
        {"reason": "r" * 2001},
        {"evidence": "e" * 65_534},
        {"confidence": -0.1},
        {"confidence": 1.1},
        {"provenance": provenance(method=" ")},
        {"provenance": provenance(origin="model_inference")},
    ],
    ids=lambda fault: str(fault)[:40],
)
def test_a_static_fault_is_that_items_own(fault: Json, caller: Caller) -> None:
    pending = candidate(caller)
    answer = batch(
        caller,
        {"candidate_id": pending, "relation": "related", **fault},
        {
            "candidate_id": pending,
            "relation": "related",
            "reason": "r" * 2000,
            "confidence": 1,
            "evidence": "e" * 65_533,
        },
    )
    assert ["invalid_request", None] == [one.get("code") for one in answer["results"]]


@pytest.mark.parametrize(
    "fault",
    [
        {"relation": "replaces"},
        {"candidate_id": "nobody"},
        {"weight": 1},
        {"confidence": "high"},
        {"reason": 7},
        {"evidence": 2**64},
    ],
    ids=str,
)
def test_a_fault_of_the_schema_refuses_the_whole_batch(fault: Json, caller: Caller) -> None:
    pending = candidate(caller)
    sound = {"candidate_id": pending, "relation": "related"}
    assert INVALID == refusal(command(caller, f"{JUDGMENTS}/batch", judgments=[sound, {**sound, **fault}]))
    assert 1 == queue(caller)["total"]


def test_ids_may_be_spelled_in_every_way_of_a_uuid(caller: Caller) -> None:
    key, pending = fresh("key"), candidate(caller)
    spellings = [pending, pending.upper(), pending.replace("-", ""), f"urn:uuid:{pending}"]
    answers = [batch(caller, {"candidate_id": one, "relation": "related"}, key=key) for one in spellings]
    assert answers[:1] * 4 == answers


# Fitness


def test_a_candidate_is_judged_once(caller: Caller) -> None:
    pending = candidate(caller)
    judge(caller, pending, "compatible")
    [again] = batch(caller, {"candidate_id": pending, "relation": "related"})["results"]
    assert "revision_conflict" == again["code"]


def test_superseding_needs_both_ends_active_and_current_and_writes_nothing_else(caller: Caller) -> None:
    first, second, third = (caller.create(name) for name in ("nine", "ten", "noon"))
    answered(compare(caller, second, first, "supersedes"))
    pending = candidate(caller, third, first)
    [refused] = batch(caller, {"candidate_id": pending, "relation": "supersedes"})["results"]
    assert "revision_conflict" == refused["code"]
    assert STALE == refusal(compare(caller, third, first, "supersedes"))
    assert STALE == refusal(compare(caller, first, third, "supersedes"))
    judge(caller, pending, "conflicts_with")
    assert second["record_id"] == standing(caller, first)["superseded_by"]


def test_a_repeated_supersession_is_a_successful_no_op(caller: Caller) -> None:
    first, second = caller.create("nine"), caller.create("ten")
    given = answered(compare(caller, second, first, "supersedes"))
    again = answered(compare(caller, second, first, "supersedes"))
    assert given["judgment"] == again["judgment"]
    assert given["receipt"]["relation_id"] == again["receipt"]["relation_id"]
    assert 1 == relation(caller, given["receipt"]["relation_id"])["revision"]


def test_a_comparison_again_replaces_the_first_one(caller: Caller) -> None:
    first, second = caller.create("nine"), caller.create("ten")
    given = answered(compare(caller, second, first, "supersedes", reason="later"))
    changed = answered(compare(caller, second, first, "scoped", reason="in winter"))
    assert "retired" == relation(caller, given["receipt"]["relation_id"])["state"]
    assert "active" == relation(caller, changed["receipt"]["relation_id"])["state"]
    assert "current" == standing(caller, first)["state"]
    assert [("scoped", "in winter")] == [(one["kind"], one["reason"]) for one in relations_of(caller, first)]


def test_a_comparison_closes_the_pending_candidate_of_its_pair(caller: Caller) -> None:
    first, second = caller.create("nine"), caller.create("ten")
    pending = candidate(caller, first, second)
    answer = answered(compare(caller, second, first, "related"))
    assert pending == answer["judgment"]["candidate_id"]
    [closed] = queue(caller, status="judged")["candidates"]
    assert (pending, answer["receipt"]["relation_id"]) == (closed["candidate_id"], closed["relation_id"])


@pytest.mark.parametrize(
    "fault",
    [
        {"relation": "not_conflict"},
        {"confidence": 1.01},
        {"confidence": None},
        {"reason": "r" * 2001},
        {"provenance": provenance()},
    ],
    ids=str,
)
def test_a_comparison_that_breaks_a_rule_is_refused(fault: Json, caller: Caller) -> None:
    ends = {"source_id": caller.create("nine")["record_id"], "target_id": caller.create("ten")["record_id"]}
    given = {**ends, "relation": "related", "confidence": 0.5, **fault}
    assert INVALID == refusal(command(caller, f"{JUDGMENTS}/compare", **given))


def test_a_record_is_not_compared_with_itself_nor_with_what_is_unknown_or_no_memory(caller: Caller) -> None:
    own = caller.create("nine")
    assert INVALID == refusal(compare(caller, own, own, "related"))
    assert INVALID == refusal(compare(caller, own, {"record_id": own["record_id"].upper()}, "related"))
    assert NO_RECORD == refusal(compare(caller, own, {"record_id": ABSENT}, "related"))
    assert INVALID == refusal(compare(caller, own, caller.create("a person", type="person"), "related"))


def test_a_verdict_pins_the_current_revisions_whatever_the_candidate_saw(caller: Caller) -> None:
    first, second = caller.create("nine"), caller.create("ten")
    pending = candidate(caller, second, first)
    at = {"record_id": first["record_id"], "expected_revision": 1}
    accepted(caller.command(RECORDS, type="revise", **at, record={"content": "half past nine"}))
    result = judge(caller, pending, "conflicts_with")
    assert {**first, "revision": 2} == result["judgment"]["target"]


@pytest.mark.parametrize("end", [0, 1])
def test_the_words_of_a_verdict_are_erased_with_either_end(end: int, caller: Caller) -> None:
    ends = [caller.create("nine"), caller.create("ten")]
    judge(caller, candidate(caller, *ends), "conflicts_with", reason="nine or ten", evidence=["clock"])
    change(caller, "delete", ends[end])
    [closed] = queue(caller, status="judged")["candidates"]
    assert (None, None) == (closed["reason"], closed["evidence"])


def test_the_standing_follows_the_relation_of_the_verdict(caller: Caller) -> None:
    first, second, third = (caller.create(name) for name in ("nine", "ten", "noon"))
    receipt = answered(compare(caller, second, first, "supersedes"))["receipt"]

    def state() -> tuple[str, Any]:
        found = standing(caller, first)
        return found["state"], found["superseded_by"]

    superseded = ("superseded", second["record_id"])
    assert superseded == state()
    receipt = accepted(caller.change("retire", receipt))
    assert ("current", None) == state()
    receipt = accepted(caller.change("restore", receipt))
    assert superseded == state()
    receipt = accepted(caller.change("review", receipt, disposition="rejected"))
    assert ("current", None) == state()
    receipt = accepted(caller.change("review", receipt, disposition="approved"))
    assert superseded == state()
    receipt = accepted(caller.change("retire", receipt))
    answered(compare(caller, third, first, "supersedes"))
    assert STALE == refusal(caller.change("restore", receipt))
    change(caller, "delete", third)
    assert ("superseded", third["record_id"]) == state()


def test_a_candidate_of_another_partition_is_like_one_that_does_not_exist(admin: Caller, caller: Caller) -> None:
    pending = candidate(caller)
    foreign = issue(admin)
    results = batch(
        foreign, {"candidate_id": pending, "relation": "related"}, {"candidate_id": ABSENT, "relation": "related"}
    )["results"]
    assert results[0] == results[1]
    assert NO_CANDIDATE[1] == results[0]["code"]
    assert NO_RECORD == refusal(compare(foreign, caller.create("a"), foreign.create("b"), "related"))
