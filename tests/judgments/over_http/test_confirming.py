"""Confirmations and the records that need review, over the wire; `test_needs_review.py` moves the clock."""

from __future__ import annotations

import pytest

from tests.http.client import ABSENT, INVALID, KEY_CONFLICT, NO_RECORD, RECORDS, Caller, Json, fresh, issue, refusal
from tests.judgments.over_http.calling import answered, change, command, compare

PATH = f"{RECORDS}/confirm"
NEEDS_REVIEW = f"{RECORDS}/needs-review"


def confirmation(record: Json, outcome: str = "affirmed", **members: object) -> Json:
    return {"record_id": record["record_id"], "outcome": outcome, "evidence_ref": "note/1", **members}


def to_review(caller: Caller, **members: object) -> Json:
    return answered(caller.ask(NEEDS_REVIEW, **members))


def test_confirmations_are_answered_in_order_and_replayed(caller: Caller) -> None:
    first, second = caller.create("nine"), caller.create("ten")
    key, given = fresh("key"), [confirmation(second, "refuted"), confirmation(first)]
    answer = answered(command(caller, PATH, key, confirmations=given))
    assert {"contract_version", "confirmations"} == answer.keys()
    expected = [(second["record_id"], "refuted"), (first["record_id"], "affirmed")]
    assert expected == [(one["record_id"], one["outcome"]) for one in answer["confirmations"]]
    assert 1 == len({one["at_millis"] for one in answer["confirmations"]})
    assert answer == answered(command(caller, PATH, key, confirmations=given))
    assert KEY_CONFLICT == refusal(command(caller, PATH, key, confirmations=given[:1]))


@pytest.mark.parametrize("number", [0, 21])
def test_one_to_twenty_records_are_confirmed_at_once(number: int, caller: Caller) -> None:
    records = [caller.create(f"record {each}") for each in range(21)]
    given = [confirmation(one) for one in records]
    assert INVALID == refusal(command(caller, PATH, confirmations=given[:number]))
    assert 20 == len(answered(command(caller, PATH, confirmations=given[:20]))["confirmations"])


def test_it_is_all_or_nothing(admin: Caller, caller: Caller) -> None:
    own, gone, foreign = caller.create("nine"), caller.create("gone"), issue(admin).create("ten")
    change(caller, "delete", gone)
    for absent in ({"record_id": ABSENT}, gone, foreign):
        given = [confirmation(own, "refuted"), confirmation(absent)]
        assert NO_RECORD == refusal(command(caller, PATH, confirmations=given))
    assert 0 == to_review(caller)["total"]


@pytest.mark.parametrize(
    "fault", [{"outcome": "denied"}, {"evidence_ref": " "}, {"evidence_ref": "e" * 2049}, {"score": 1}], ids=str
)
def test_a_confirmation_that_breaks_a_rule_is_refused(fault: Json, caller: Caller) -> None:
    record = caller.create()
    assert INVALID == refusal(command(caller, PATH, confirmations=[confirmation(record, **fault)]))
    assert INVALID == refusal(command(caller, PATH, confirmations=[confirmation(record), confirmation(record)]))


def test_a_refuted_record_needs_review_until_it_is_affirmed(caller: Caller) -> None:
    record, _ = caller.create("nine", category="reference"), caller.create("ten", category="procedural")
    refuted = answered(command(caller, PATH, confirmations=[confirmation(record, "refuted")]))
    answer = to_review(caller)
    [found] = answer["records"]
    assert (1, {"scanned_records": 2, "complete": True}) == (answer["total"], answer["coverage"])
    assert {"record", "standing", "needs_review"} == found.keys()
    assert record["record_id"] == found["record"]["record_id"]
    assert {
        "baseline_at_millis": found["record"]["created_at_millis"],
        "refuted_at_millis": refuted["confirmations"][0]["at_millis"],
        "escalated": False,
    } == found["needs_review"]
    answered(command(caller, PATH, confirmations=[confirmation(record)]))
    assert 0 == to_review(caller)["total"]


@pytest.mark.parametrize("how", ["archive", "delete", "supersede", "reject"])
def test_only_active_current_records_need_review(how: str, caller: Caller) -> None:
    record, other = caller.create("nine"), caller.create("ten")
    answered(command(caller, PATH, confirmations=[confirmation(record, "refuted")]))
    if how == "supersede":
        answered(compare(caller, other, record, "supersedes"))
    elif how == "reject":
        change(caller, "review", record, disposition="rejected", evidence_ref="note/1")
    else:
        change(caller, how, record)
    assert 0 == to_review(caller)["total"]


def test_the_limit_is_one_to_fifty_and_ten_unless_told(caller: Caller) -> None:
    records = [caller.create(f"record {number}") for number in range(12)]
    answered(command(caller, PATH, confirmations=[confirmation(one, "refuted") for one in records]))
    for limit, shown in ((None, 10), (1, 1), (50, 12)):
        answer = to_review(caller, limit=limit)
        assert (shown, 12) == (len(answer["records"]), answer["total"])
    for wrong in (0, 51):
        assert INVALID == refusal(caller.ask(NEEDS_REVIEW, limit=wrong))
