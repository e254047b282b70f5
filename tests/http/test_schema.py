"""Strict JSON and the schema of requests, over the wire (transport.md, strict JSON)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.http.client import ABSENT, INVALID, KEY_CONFLICT, RECORDS, RELATIONS, Caller, Json, accepted, fresh, refusal
from tests.http.client import relation as relation_input

I64_MIN, I64_MAX, U64_MAX = -(2**63), 2**63 - 1, 2**64 - 1


def create(caller: Caller, record: str, key: str | None = None) -> bytes:
    """A body that creates a record, whose JSON is given as text."""
    head = json.dumps({"contract_version": 1, "scope": caller.scope, "idempotency_key": key or fresh("key")})
    return f'{head[:-1]},"operation":{{"type":"create","record":{record}}}}}'.encode("utf-8", "surrogatepass")


def sound(caller: Caller) -> Json:
    """A body of `relations/commands` that a decoder can find nothing wrong with."""
    at = {"record_id": ABSENT, "revision": 1}
    target, evidence = ({**at, "record_id": ABSENT.replace("f", digit)} for digit in "ed")
    given = relation_input(at, target, evidence_sources=[evidence])
    given["provenance"]["model"] = {"provider": "p", "model": "m", "revision": "1"}
    return {
        "contract_version": 1,
        "scope": caller.scope,
        "idempotency_key": fresh("key"),
        "operation": {"type": "assert", "relation": given},
    }


PLACES: list[tuple[str, ...]] = [
    (),
    ("scope",),
    ("operation",),
    ("operation", "relation"),
    ("operation", "relation", "source"),
    ("operation", "relation", "provenance"),
    ("operation", "relation", "provenance", "model"),
]


def at(body: Any, place: tuple[str, ...]) -> Any:
    for name in place:
        body = body[name]
    return body


@pytest.mark.parametrize("place", PLACES, ids="/".join)
def test_unknown_members_are_refused_at_every_depth(place: tuple[str, ...], caller: Caller) -> None:
    body = sound(caller)
    at(body, place)["weight"] = 0.5
    assert INVALID == refusal(caller.raw(f"{RELATIONS}/commands", json.dumps(body)))


@pytest.mark.parametrize("place", PLACES, ids="/".join)
def test_repeated_members_are_refused_at_every_depth(place: tuple[str, ...], caller: Caller) -> None:
    body = sound(caller)
    name, value = next(iter(at(body, place).items()))
    at(body, place)["\0"] = value
    repeated = json.dumps(body).replace(json.dumps("\0"), json.dumps(name))
    assert INVALID == refusal(caller.raw(f"{RELATIONS}/commands", repeated))


@pytest.mark.parametrize("place", [*PLACES[1:], ("operation", "relation", "evidence_sources")], ids="/".join)
@pytest.mark.parametrize("value", [None, 1, "text", True, [1]])
def test_a_member_of_another_type_is_refused(place: tuple[str, ...], value: object, caller: Caller) -> None:
    body = sound(caller)
    at(body, place[:-1])[place[-1]] = value
    found = caller.raw(f"{RELATIONS}/commands", json.dumps(body))
    if place[-1] == "model" and value is None:
        assert (409, "revision_conflict") == refusal(found)  # null is omission: then the endpoints are looked for
    else:
        assert INVALID == refusal(found)


@pytest.mark.parametrize("name", ["source", "target", "kind", "provenance"])
def test_required_members_are_missed(name: str, caller: Caller) -> None:
    body = sound(caller)
    del body["operation"]["relation"][name]
    assert INVALID == refusal(caller.raw(f"{RELATIONS}/commands", json.dumps(body)))


@pytest.mark.parametrize("version", [True, "1", 1.0, None, 1.5, 2**64])
def test_the_version_is_an_integer(version: object, caller: Caller) -> None:
    assert INVALID == refusal(
        caller.post(f"{RECORDS}/read", contract_version=version, scope=caller.scope, record_id=ABSENT)
    )


@pytest.mark.parametrize("version", [0, 2, -1, U64_MAX, I64_MIN])
def test_another_integer_is_another_version(version: int, caller: Caller) -> None:
    unsupported = (400, "unsupported_contract_version")
    found = caller.post(f"{RECORDS}/read", contract_version=version, scope=caller.scope, record_id=ABSENT)
    assert unsupported == refusal(found)


@pytest.mark.parametrize("revision", ["1", 1.0, True, -1, U64_MAX + 1, None])
def test_revisions_are_unsigned_integers_of_64_bits(revision: object, caller: Caller) -> None:
    change: Json = {"relation_id": ABSENT, "evidence_ref": "note/1", "expected_revision": revision}
    assert INVALID == refusal(caller.command(RELATIONS, type="retire", **change))


def test_the_greatest_revision_is_looked_for(caller: Caller) -> None:
    change: Json = {"relation_id": ABSENT, "evidence_ref": "note/1", "expected_revision": U64_MAX}
    assert (404, "record_not_found") == refusal(caller.command(RELATIONS, type="retire", **change))


@pytest.mark.parametrize("millis", [I64_MIN, -1, 0, I64_MAX])
def test_times_of_64_bits_survive_a_round_trip(millis: int, caller: Caller) -> None:
    created = caller.create(event_time_millis=millis)
    read = caller.ask(f"{RECORDS}/read", record_id=created["record_id"])
    assert millis == read.json()["record"]["input"]["event_time_millis"]


@pytest.mark.parametrize("millis", [I64_MIN - 1, I64_MAX + 1, 1.0, "1", True])
def test_other_times_are_refused(millis: object, caller: Caller) -> None:
    record = {"content": "c", "event_time_millis": millis}
    assert INVALID == refusal(caller.command(RECORDS, type="create", record=record))


@pytest.mark.parametrize("number", [I64_MIN, U64_MAX, 2**53 + 1, 0.1, 1e308, 5e-324, 0])
def test_numbers_in_free_json_survive_a_round_trip(number: float, caller: Caller) -> None:
    created = caller.create(data={"n": [number]})
    found = caller.ask(f"{RECORDS}/read", record_id=created["record_id"]).json()["record"]["input"]["data"]
    assert {"n": [number]} == found
    assert type(number) is type(found["n"][0])


@pytest.mark.parametrize(
    "number", [str(I64_MIN - 1), str(U64_MAX + 1), "1e309", "-1e309", "NaN", "Infinity", "01", "+1"]
)
def test_other_numbers_in_free_json_are_refused(number: str, caller: Caller) -> None:
    assert INVALID == refusal(
        caller.raw(f"{RECORDS}/commands", create(caller, f'{{"content":"c","data":{{"n":{number}}}}}'))
    )


@pytest.mark.parametrize("text", ["é", "e\u0301", "  padded  ", "\u2028", "🙂", "\u0000", "\\", '"', "\ufeff"])
def test_text_is_kept_as_given(text: str, caller: Caller) -> None:
    created = caller.create(f"c{text}c", data={text: text})
    found = caller.ask(f"{RECORDS}/read", record_id=created["record_id"]).json()["record"]["input"]
    assert (f"c{text}c", {text: text}) == (found["content"], found["data"])


@pytest.mark.parametrize("text", ["\\ud800", "\\udc00", "\\ud800\\u0041", "\ud800"])
@pytest.mark.parametrize(
    "record", ['{{"content":"c{}"}}', '{{"content":"c","data":{{"{}":1}}}}', '{{"content":"c","{}":1}}']
)
def test_lone_surrogates_are_refused_in_values_and_names(text: str, record: str, caller: Caller) -> None:
    assert INVALID == refusal(caller.raw(f"{RECORDS}/commands", create(caller, record.format(text))))


@pytest.mark.parametrize("body", [b"", b"null", b"[]", b"1", b'"x"', b"{", b"{}{}", b"\xff", b"\xef\xbb\xbf{}"])
def test_a_body_that_is_no_object_is_refused(body: bytes, caller: Caller) -> None:
    assert INVALID == refusal(caller.raw(f"{RECORDS}/read", body))


OPTIONAL = ["type", "title", "data", "tags", "category", "topic_key", "fact_key", "provenance", "confidence"]


@pytest.mark.parametrize("name", [*OPTIONAL, "event_time_millis", "valid_until_millis"])
def test_null_means_omission_and_leads_to_the_same_receipt(name: str, caller: Caller) -> None:
    key = fresh("key")
    first = caller.command(RECORDS, key, type="create", record={"content": "c"})
    again = caller.command(RECORDS, key, type="create", record={"content": "c", name: None})
    assert first.content == again.content
    assert 200 == first.status_code


@pytest.mark.parametrize("name", ["valid_from_millis", "valid_until_millis"])
def test_null_means_omission_in_relations_as_well(name: str, caller: Caller) -> None:
    given, key = relation_input(caller.create(), caller.create()), fresh("key")
    first = caller.command(RELATIONS, key, type="assert", relation=given)
    again = caller.command(RELATIONS, key, type="assert", relation={**given, name: None})
    assert accepted(first) == accepted(again)


def test_null_means_omission_in_scopes_and_filters(caller: Caller) -> None:
    created = caller.create()
    assert 200 == caller.at(mission_id=None).ask(f"{RECORDS}/read", record_id=created["record_id"]).status_code
    names = ["limit", "scan_limit", "order", "cursor", "text", "tag", "type", "category", "fact_key", "topic_key"]
    page = caller.ask(f"{RECORDS}/query", filter=dict.fromkeys(names)).json()["page"]
    assert [created["record_id"]] == [record["record_id"] for record in page["records"]]


SPELLINGS = [
    str.upper,
    lambda one: one.replace("-", ""),
    lambda one: f"urn:uuid:{one}",
    lambda one: f"URN:UUID:{one.upper()}",
]


@pytest.mark.parametrize("spell", SPELLINGS)
def test_every_spelling_of_a_uuid_is_one_id(spell: Any, caller: Caller) -> None:
    source, target, key = caller.create(), caller.create(), fresh("key")
    plain = caller.command(RELATIONS, key, type="assert", relation=relation_input(source, target))
    spelled = relation_input({**source, "record_id": spell(source["record_id"])}, target)
    assert plain.content == caller.command(RELATIONS, key, type="assert", relation=spelled).content
    read = caller.ask(f"{RECORDS}/read", record_id=spell(source["record_id"])).json()
    assert source["record_id"] == read["record"]["record_id"]


@pytest.mark.parametrize(
    "text", ["", "x", ABSENT[:-1], ABSENT + "0", "{" + ABSENT + "}", ABSENT.replace("-", "_"), f" {ABSENT}"]
)
def test_other_text_is_no_id(text: str, caller: Caller) -> None:
    assert INVALID == refusal(caller.ask(f"{RECORDS}/read", record_id=text))


def test_member_order_and_blanks_make_no_other_command(caller: Caller) -> None:
    key = fresh("key")
    record = {"content": "c", "title": "t", "data": {"a": 1, "b": 2}}
    first = caller.command(RECORDS, key, type="create", record=record)
    again = caller.raw(
        f"{RECORDS}/commands", create(caller, '{"data" : {"b":2, "a":1},"title":"t","content":"c"}', key)
    )
    assert first.content == again.content
    assert KEY_CONFLICT == refusal(caller.raw(f"{RECORDS}/commands", create(caller, '{"content":"other"}', key)))


CANARY = "canary_7f3a"


@pytest.mark.parametrize(
    "record",
    [
        {"content": "c", CANARY: 1},
        {"content": "c", "type": CANARY},
        {"content": "c", "data": {CANARY: 2**64}},
        {"content": "c", "event_time_millis": CANARY},
        {"content": {CANARY: CANARY}},
        {"content": "c", "provenance": {CANARY: 1}},
        {"content": " ", "title": CANARY},
        {"content": "c", f"x` - at `$.{CANARY}": 1},
        {"content": "c", f"x` - at `$.content.{CANARY}": 1},
    ],
    ids=str,
)
def test_a_refusal_repeats_nothing_that_was_sent(record: Json, caller: Caller) -> None:
    found = caller.command(RECORDS, type="create", record=record)
    assert INVALID == refusal(found)
    assert CANARY not in found.text


def test_a_refusal_says_which_member_is_wrong(caller: Caller) -> None:
    wrong = caller.ask(
        f"{RELATIONS}/commands/batch", commands=[sound_item(), {**sound_item(), "operation": {"type": "x"}}]
    )
    assert "commands[1].operation.type" in wrong.json()["error"]["message"]


def sound_item() -> Json:
    change = {"relation_id": ABSENT, "expected_revision": 1, "evidence_ref": "note/1"}
    return {"idempotency_key": fresh("key"), "operation": {"type": "retire", **change}}
