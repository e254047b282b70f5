"""Batches of commands over the wire (relations.md, batch): each item is its own command."""

from __future__ import annotations

import json

import pytest

from tests.http.client import (
    ABSENT,
    FORBIDDEN,
    INVALID,
    RECORDS,
    RELATIONS,
    Caller,
    Json,
    fresh,
    issue,
    refusal,
    relation,
)


def item(key: str | None = None, **operation: object) -> Json:
    return {"idempotency_key": fresh("key") if key is None else key, "operation": operation}


def create(content: str, key: str | None = None) -> Json:
    return item(key, type="create", record={"content": content})


def outcome(result: Json) -> tuple[int, str]:
    """Status and code of an item; an accepted one has its action as the code."""
    if "receipt" in result:
        return 200, result["receipt"]["action"]
    assert {"code", "message", "status"} == result["error"].keys()
    return result["error"]["status"], result["error"]["code"]


def send(caller: Caller, family: str, *items: Json) -> list[Json]:
    answer = caller.ask(f"{family}/commands/batch", commands=items)
    assert 200 == answer.status_code, answer.text
    results: list[Json] = answer.json()["results"]
    assert len(items) == len(results)
    return results


def test_each_item_has_its_own_outcome_in_the_order_of_the_request(caller: Caller) -> None:
    twice = fresh("key")
    results = send(
        caller,
        RECORDS,
        create("a"),
        create(" "),
        create("b", twice),
        create("b", twice),
        create("c", twice),
        item(type="delete", record_id=ABSENT, expected_revision=1),
        create("d", ""),
        create("e"),
    )
    assert [
        (200, "created"),
        (400, "invalid_request"),
        (200, "created"),
        (200, "created"),
        (409, "idempotency_conflict"),
        (404, "record_not_found"),
        (400, "invalid_request"),
        (200, "created"),
    ] == [outcome(one) for one in results]
    assert results[2] == results[3]
    accepted = [results[number]["receipt"]["commit_sequence"] for number in (0, 2, 7)]
    assert [1, 2, 3] == accepted


def test_an_item_sees_what_the_items_before_it_did(caller: Caller) -> None:
    given = relation(caller.create(), caller.create())
    [first] = send(caller, RELATIONS, item(type="assert", relation=given))
    at = {"relation_id": first["receipt"]["relation_id"], "evidence_ref": "e"}
    results = send(
        caller,
        RELATIONS,
        item(type="retire", expected_revision=1, **at),
        item(type="retire", expected_revision=1, **at),
        item(type="restore", expected_revision=2, **at),
        item(type="restore", expected_revision=3, **at),
    )
    assert [(200, "retired"), (409, "revision_conflict"), (200, "restored"), (400, "invalid_request")] == [
        outcome(one) for one in results
    ]


def test_a_repeated_batch_is_the_same_bytes(caller: Caller) -> None:
    items = [create(str(number)) for number in range(5)] + [create(" ")]
    answers = [caller.ask(f"{RECORDS}/commands/batch", commands=items).content for _ in range(2)]
    assert answers[0] == answers[1]


def test_an_item_replays_a_single_command_and_the_other_way_round(caller: Caller) -> None:
    single, batched = fresh("key"), fresh("key")
    alone = caller.command(RECORDS, single, type="create", record={"content": "a"})
    [again, new] = send(caller, RECORDS, create("a", single), create("b", batched))
    assert alone.json()["receipt"] == again["receipt"]
    assert new["receipt"] == caller.command(RECORDS, batched, type="create", record={"content": "b"}).json()["receipt"]


@pytest.mark.parametrize("broken", [{"extra": 1}, {"operation": {"type": "x"}}, {"idempotency_key": 1}])
def test_a_schema_fault_of_one_item_refuses_the_whole_request_and_writes_nothing(broken: Json, caller: Caller) -> None:
    good = create("good")
    found = caller.ask(f"{RECORDS}/commands/batch", commands=[good, {**create("bad"), **broken}])
    assert INVALID == refusal(found)
    assert [] == caller.ask(f"{RECORDS}/query", filter={}).json()["page"]["records"]


def test_a_capability_that_one_item_lacks_refuses_the_whole_request_and_writes_nothing(admin: Caller) -> None:
    writer = issue(admin, capabilities=["memory_read", "memory_write"])
    review = item(type="review", record_id=ABSENT, expected_revision=1, disposition="approved", evidence_ref="e")
    assert FORBIDDEN == refusal(writer.ask(f"{RECORDS}/commands/batch", commands=[create("a"), review]))
    assert [] == writer.ask(f"{RECORDS}/query", filter={}).json()["page"]["records"]


def test_a_batch_may_be_larger_than_a_single_command(caller: Caller) -> None:
    items = [create("x" * 40_000) for _ in range(24)]
    body = json.dumps({"contract_version": 1, "scope": caller.scope, "commands": items})
    assert len(body) > 900_000
    answer = caller.raw(f"{RECORDS}/commands/batch", body)
    assert [(200, "created")] * 24 == [outcome(one) for one in answer.json()["results"]]


def test_an_item_may_be_larger_than_a_single_body_but_not_than_a_record(caller: Caller) -> None:
    data = {"text": "x" * 66_000}
    [result] = send(caller, RECORDS, item(type="create", record={"content": "c", "data": data}))
    assert (400, "invalid_request") == outcome(result)
