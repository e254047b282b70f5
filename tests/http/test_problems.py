"""Problem details on request (client.md, conventions at the HTTP edge)."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from relatum.errors import RETRYABLE, STATUS, Code
from relatum.http.problems import MEDIA_TYPE, wanted
from tests.http.client import ABSENT, RECORDS, RELATIONS, Caller, relation

REFUSALS: dict[str, tuple[str, dict[str, Any]]] = {
    "400": (f"{RECORDS}/read", {"record_id": "no id"}),
    "404": (f"{RECORDS}/read", {"record_id": ABSENT}),
    "403": ("/api/v1/memory/edges/derived/drop", {}),
    "409": (
        f"{RELATIONS}/commands",
        {
            "idempotency_key": "k",
            "operation": {
                "type": "assert",
                "relation": relation(
                    {"record_id": ABSENT, "revision": 1}, {"record_id": ABSENT[:-1] + "e", "revision": 1}
                ),
            },
        },
    ),
    "no route": ("/api/v1/nowhere", {}),
}


def ask(caller: Caller, path: str, accept: str, members: dict[str, Any]) -> Any:
    body = {"contract_version": 1, "scope": caller.scope, **members}
    return caller.api.send("POST", path, json=body, headers={**caller.headers, "accept": accept})


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_is_the_same_in_both_forms(caller: Caller, name: str) -> None:
    path, members = REFUSALS[name]
    plain = ask(caller, path, "*/*", members)
    other = ask(caller, path, f"text/html, {MEDIA_TYPE};q=0.5", members)
    error, problem = plain.json()["error"], other.json()
    assert (plain.status_code, MEDIA_TYPE) == (other.status_code, other.headers["content-type"])
    assert {
        "type": f"urn:relatum:problem:{error['code']}",
        "title": problem["title"],
        "status": plain.status_code,
        "detail": error["message"],
        "code": error["code"],
        "retryable": False,
        "contract_version": 1,
    } == problem
    ours = {"content-type", "content-length", "date", "x-request-id"}
    assert {k: v for k, v in plain.headers.items() if k not in ours} == {
        k: v for k, v in other.headers.items() if k not in ours
    }


def test_a_bad_token_and_a_wrong_method_are_told_so_too(caller: Caller) -> None:
    headers = {"accept": MEDIA_TYPE}
    unauthorized = caller.api.send("POST", f"{RECORDS}/read", json={}, headers=headers)
    assert ("unauthorized", "Bearer") == (unauthorized.json()["code"], unauthorized.headers["www-authenticate"])
    wrong = caller.api.send("PUT", f"{RECORDS}/read", json={}, headers=headers)
    assert (405, "method_not_allowed", "POST") == (wrong.status_code, wrong.json()["code"], wrong.headers["allow"])


def test_answers_are_what_they_are_whatever_is_accepted(caller: Caller) -> None:
    ref = caller.create()
    found = ask(caller, f"{RECORDS}/read", MEDIA_TYPE, {"record_id": ref["record_id"]})
    assert (200, "application/json") == (found.status_code, found.headers["content-type"])


@pytest.mark.parametrize(
    ("accept", "expected"),
    [
        ("application/problem+json", True),
        ("Application/Problem+JSON; q=0.1", True),
        ("text/html, application/problem+json", True),
        ("application/problem+json;q=0", False),
        ("application/problem+json;q=0.000", False),
        ("*/*", False),
        ("application/*", False),
        ("application/json", False),
        ("", False),
    ],
)
def test_the_media_type_has_to_be_named(accept: str, expected: bool) -> None:
    assert expected == wanted([(b"host", b"x"), (b"accept", accept.encode())])


def test_what_leaves_an_outcome_unknown_or_had_no_room_is_retryable() -> None:
    assert set(get_args(Code)) == set(RETRYABLE)
    assert {500, 503} == {STATUS[code] for code, again in RETRYABLE.items() if again}
    assert {500, 503}.isdisjoint(STATUS[code] for code, again in RETRYABLE.items() if not again)


def test_a_header_with_a_key_is_not_read(caller: Caller) -> None:
    operation = {"type": "create", "record": {"content": "a note"}}
    body = {"contract_version": 1, "scope": caller.scope, "operation": operation}
    headers = {**caller.headers, "idempotency-key": "from-the-header"}
    refused = caller.api.send("POST", f"{RECORDS}/commands", json=body, headers=headers)
    assert "the body lacks the required member idempotency_key" == refused.json()["error"]["message"]
    taken = caller.api.send("POST", f"{RECORDS}/commands", json={**body, "idempotency_key": "b"}, headers=headers)
    assert "b" == taken.json()["receipt"]["idempotency_key"]
