"""Limits of requests, at the limit and one past it (transport.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from relatum.limits import (
    BATCH_BODY_BYTES_MAX,
    BODY_BYTES_MAX,
    COMMAND_BATCH_MAX,
    IDENTIFIER_BYTES_MAX,
    JSON_DEPTH_MAX,
    KEY_BYTES_MAX,
    RECORD_BATCH_MAX,
)
from tests.http.client import (
    ABSENT,
    FORBIDDEN,
    INVALID,
    NO_RECORD,
    RECEIPTS,
    RECORDS,
    TOO_LARGE,
    Caller,
    Json,
    issue,
    refusal,
    scope,
)


def read_body(caller: Caller, length: int) -> bytes:
    """A body of `records/read` of exactly `length` bytes, blanks at its end."""
    body = {"contract_version": 1, "scope": caller.scope, "record_id": ABSENT}
    return json.dumps(body).encode().ljust(length)


def batch_body(caller: Caller, length: int) -> bytes:
    """Likewise of `records/commands/batch`, without a command."""
    return json.dumps({"contract_version": 1, "scope": caller.scope, "commands": []}).encode().ljust(length)


def pieces(body: bytes) -> Iterator[bytes]:
    """Sent like this a body has no Content-Length."""
    for start in range(0, len(body), 10_000):
        yield body[start : start + 10_000]


def test_a_body_of_65536_bytes_passes_and_65537_do_not(caller: Caller) -> None:
    assert NO_RECORD == refusal(caller.raw(f"{RECORDS}/read", read_body(caller, BODY_BYTES_MAX)))
    assert TOO_LARGE == refusal(caller.raw(f"{RECORDS}/read", read_body(caller, BODY_BYTES_MAX + 1)))


def test_a_batch_body_of_one_mebibyte_passes_and_one_byte_more_does_not(caller: Caller) -> None:
    path = f"{RECORDS}/commands/batch"
    assert INVALID == refusal(caller.raw(path, batch_body(caller, BATCH_BODY_BYTES_MAX)))  # it holds no command
    assert TOO_LARGE == refusal(caller.raw(path, batch_body(caller, BATCH_BODY_BYTES_MAX + 1)))


@pytest.mark.parametrize(("length", "expected"), [(BODY_BYTES_MAX, NO_RECORD), (BODY_BYTES_MAX + 1, TOO_LARGE)])
def test_the_bytes_count_that_arrive_without_a_content_length(
    length: int, expected: tuple[int, str], caller: Caller
) -> None:
    headers = {**caller.headers, "content-type": "application/json"}
    body = pieces(read_body(caller, length))
    assert expected == refusal(caller.api.send("POST", f"{RECORDS}/read", content=body, headers=headers))


def test_a_connection_goes_on_after_a_body_that_was_too_large(caller: Caller) -> None:
    for _ in range(3):
        assert TOO_LARGE == refusal(caller.raw(f"{RECORDS}/read", read_body(caller, 40 * BODY_BYTES_MAX)))
        assert NO_RECORD == refusal(caller.ask(f"{RECORDS}/read", record_id=ABSENT))


def nested(levels: int) -> Json:
    """Free JSON that is `levels` deep: an object and arrays in it."""
    value: object = 1
    for _ in range(levels - 1):
        value = [value]
    return {"deep": value}


def test_64_levels_pass_and_65_do_not(caller: Caller) -> None:
    around = 3  # the body, the operation, the record
    deepest = {"content": "deep", "data": nested(JSON_DEPTH_MAX - around)}
    assert 200 == caller.command(RECORDS, type="create", record=deepest).status_code
    too_deep = {"content": "deep", "data": nested(JSON_DEPTH_MAX - around + 1)}
    assert INVALID == refusal(caller.command(RECORDS, type="create", record=too_deep))


@pytest.mark.parametrize("member", ["project_id", "agent_id", "mission_id"])
@pytest.mark.parametrize("character", ["x", "é"])
def test_scope_identifiers_have_up_to_256_bytes(member: str, character: str, admin: Caller) -> None:
    size = len(character.encode())
    longest = character * (IDENTIFIER_BYTES_MAX // size)
    holder = issue(admin, scope=scope(**{member: longest}))
    assert NO_RECORD == refusal(holder.ask(f"{RECORDS}/read", record_id=ABSENT))
    assert INVALID == refusal(holder.at(**{member: longest + "x"}).ask(f"{RECORDS}/read", record_id=ABSENT))


@pytest.mark.parametrize("identifier", ["", " ", "\u2003", "a\u0000b", "a\u007fb", "a\u0085b", "a\nb"])
def test_blank_identifiers_and_control_characters_are_refused_before_the_grant(identifier: str, caller: Caller) -> None:
    assert INVALID == refusal(caller.at(project_id=identifier).ask(f"{RECORDS}/read", record_id=ABSENT))


@pytest.mark.parametrize("identifier", ["é", " a", "a\u200bb", "🙂", "a b"])
def test_other_identifiers_are_well_formed_as_they_are(identifier: str, admin: Caller, caller: Caller) -> None:
    assert FORBIDDEN == refusal(caller.at(project_id=identifier).ask(f"{RECORDS}/read", record_id=ABSENT))
    holder = issue(admin, scope=scope(mission_id=identifier))
    assert NO_RECORD == refusal(holder.ask(f"{RECORDS}/read", record_id=ABSENT))


def test_identifiers_are_compared_without_normalisation(admin: Caller) -> None:
    composed, decomposed = "\u00e9", "e\u0301"
    holder = issue(admin, scope=scope(mission_id=composed))
    assert FORBIDDEN == refusal(holder.at(mission_id=decomposed).ask(f"{RECORDS}/read", record_id=ABSENT))


@pytest.mark.parametrize("key", ["k" * KEY_BYTES_MAX, "é" * (KEY_BYTES_MAX // 2), " k"])
def test_idempotency_keys_have_up_to_256_bytes(key: str, caller: Caller) -> None:
    assert 200 == caller.command(RECORDS, key, type="create", record={"content": "c"}).status_code
    assert 200 == caller.ask(RECEIPTS, family="record", idempotency_key=key).status_code


@pytest.mark.parametrize("key", ["k" * (KEY_BYTES_MAX + 1), "é" * (KEY_BYTES_MAX // 2) + "k", "", "\t", "a\u0007"])
def test_other_idempotency_keys_are_refused(key: str, caller: Caller) -> None:
    body = {"idempotency_key": key, "operation": {"type": "create", "record": {"content": "c"}}}
    assert INVALID == refusal(caller.ask(f"{RECORDS}/commands", **body))
    assert INVALID == refusal(caller.ask(RECEIPTS, family="record", idempotency_key=key))


@pytest.mark.parametrize(
    ("number", "status"), [(0, 400), (1, 200), (COMMAND_BATCH_MAX, 200), (COMMAND_BATCH_MAX + 1, 400)]
)
def test_a_batch_holds_1_to_256_commands(number: int, status: int, caller: Caller) -> None:
    operation = {"type": "create", "record": {"content": "c"}}
    commands = [{"idempotency_key": f"k{item}", "operation": operation} for item in range(number)]
    assert status == caller.ask(f"{RECORDS}/commands/batch", commands=commands).status_code


@pytest.mark.parametrize(
    ("number", "status"), [(0, 400), (1, 200), (RECORD_BATCH_MAX, 200), (RECORD_BATCH_MAX + 1, 400)]
)
def test_a_batch_read_takes_1_to_100_ids(number: int, status: int, caller: Caller) -> None:
    ids = [f"ffffffff-ffff-4fff-8fff-{item:012x}" for item in range(number)]
    assert status == caller.ask(f"{RECORDS}/batch", record_ids=ids).status_code


@pytest.mark.parametrize(("limit", "status"), [(0, 400), (1, 200), (100, 200), (101, 400)])
def test_pages_have_1_to_100_entries(limit: int, status: int, caller: Caller, admin: Caller) -> None:
    assert status == caller.ask(f"{RECORDS}/query", filter={"limit": limit}).status_code
    assert status == admin.get("/api/v1/credentials", contract_version=1, limit=limit).status_code
