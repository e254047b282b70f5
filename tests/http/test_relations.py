"""Relations over the wire (relations.md): their states, what hides them, and what each read says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.client import (
    ABSENT,
    FORBIDDEN,
    INVALID,
    KEY_CONFLICT,
    NO_RECORD,
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
    relation,
)


def visible(caller: Caller, receipt: Json) -> bool:
    found = caller.ask(f"{RELATIONS}/read", relation_id=receipt["relation_id"])
    assert found.status_code in {200, 404}
    return found.status_code == 200


def reason(caller: Caller, receipt: Json) -> str:
    found = caller.ask(f"{RELATIONS}/inspect", relation_id=receipt["relation_id"])
    text: str = found.json()["inspection"]["eligibility"]["reason"]
    return text


def test_an_asserted_relation_reads_back_with_every_member_present(caller: Caller) -> None:
    source, target, evidence = caller.create(), caller.create(), caller.create()
    model = {"provider": "p", "model": "m", "revision": "1"}
    given = relation(
        source,
        target,
        kind="contradicts",
        provenance=provenance(origin="model_inference", model=model),
        valid_from_millis=-5,
        valid_until_millis=2**62,
        evidence_sources=[evidence],
    )
    receipt = accepted(caller.command(RELATIONS, type="assert", relation=given))
    found = caller.ask(f"{RELATIONS}/read", relation_id=receipt["relation_id"]).json()["relation"]
    assert given == found["input"]
    assert ("active", None, 1, receipt["author"]) == (
        found["state"],
        found["review"],
        found["revision"],
        found["reported_by"],
    )


def test_unset_members_are_null_and_an_empty_list_of_evidence_is_left_out(caller: Caller) -> None:
    receipt = caller.relate(evidence_sources=[])
    given = caller.ask(f"{RELATIONS}/read", relation_id=receipt["relation_id"]).json()["relation"]["input"]
    assert (None, None, None) == (
        given["valid_from_millis"],
        given["valid_until_millis"],
        given["provenance"]["model"],
    )
    assert "evidence_sources" not in given


def test_the_sequence_of_states_holds(caller: Caller) -> None:
    at = caller.relate()
    seen = [(at["revision"], visible(caller, at))]
    steps: list[tuple[str, Json]] = [
        ("retire", {}),
        ("restore", {}),
        ("review", {"disposition": "rejected"}),
        ("retire", {}),
        ("restore", {}),
        ("review", {"disposition": "approved"}),
    ]
    for kind, members in steps:
        at = accepted(caller.change(kind, at, **members))
        seen.append((at["revision"], visible(caller, at)))
        if at["revision"] == 6:
            assert "rejected" == reason(caller, at)
    assert [(1, True), (2, False), (3, True), (4, False), (5, False), (6, False), (7, True)] == seen
    for revision in range(1, 8):
        history = caller.ask(f"{RELATIONS}/revision", relation_id=at["relation_id"], revision=revision).json()[
            "history"
        ]
        assert revision == history["relation"]["revision"] == history["receipt"]["revision"]


def test_a_changed_endpoint_hides_a_relation_and_names_the_end(caller: Caller) -> None:
    source, target = caller.create(), caller.create()
    receipt = caller.relate(source, target)
    revise = {"type": "revise", "record_id": target["record_id"], "expected_revision": 1, "record": {"content": "new"}}
    accepted(caller.command(RECORDS, **revise))
    assert not visible(caller, receipt)
    inspection = caller.ask(f"{RELATIONS}/inspect", relation_id=receipt["relation_id"]).json()["inspection"]
    assert ("endpoint_revision_changed", target) == (
        inspection["eligibility"]["reason"],
        inspection["eligibility"]["endpoint"],
    )


def test_a_lost_evidence_source_hides_a_relation(caller: Caller) -> None:
    evidence = caller.create()
    receipt = caller.relate(evidence_sources=[evidence])
    delete = {"type": "delete", "record_id": evidence["record_id"], "expected_revision": 1}
    accepted(caller.command(RECORDS, **delete))
    eligibility = caller.ask(f"{RELATIONS}/inspect", relation_id=receipt["relation_id"]).json()["inspection"][
        "eligibility"
    ]
    assert ("evidence_unavailable", None) == (eligibility["reason"], eligibility["endpoint"])
    assert evidence["record_id"] == eligibility["evidence_failure"]["record_id"]


@pytest.mark.parametrize(
    ("members", "expected"),
    [({"valid_until_millis": 1}, "expired"), ({"valid_from_millis": 2**62}, "not_yet_valid")],
)
def test_an_interval_wholly_past_or_future_is_stored_and_hidden(members: Json, expected: str, caller: Caller) -> None:
    receipt = caller.relate(**members)
    assert not visible(caller, receipt)
    assert expected == reason(caller, receipt)


def test_unknown_and_foreign_endpoints_are_the_same_409_to_the_byte(caller: Caller, admin: Caller) -> None:
    foreign = issue(admin).create()
    source = caller.create()
    ends = [{"record_id": ABSENT, "revision": 1}, foreign]
    found = [caller.command(RELATIONS, type="assert", relation=relation(source, one)) for one in ends]
    found += [
        caller.command(RELATIONS, type="assert", relation=relation(source, caller.create(), evidence_sources=[one]))
        for one in ends
    ]
    assert [STALE] * 4 == [refusal(one) for one in found]
    assert found[0].content == found[1].content
    assert found[2].content == found[3].content


def test_absent_foreign_and_hidden_relations_are_the_same_404_to_the_byte(caller: Caller, admin: Caller) -> None:
    foreign, retired = issue(admin).relate(), caller.relate()
    accepted(caller.change("retire", retired))
    ids = [ABSENT, foreign["relation_id"], retired["relation_id"]]
    assert 1 == len({caller.ask(f"{RELATIONS}/read", relation_id=one).content for one in ids})
    for route, members in (("inspect", {}), ("revision", {"revision": 1})):
        answers = {caller.ask(f"{RELATIONS}/{route}", relation_id=one, **members).content for one in ids[:2]}
        assert 1 == len(answers)
    assert NO_RECORD == refusal(caller.change("retire", {"relation_id": foreign["relation_id"], "revision": 1}))


BROKEN: list[Json] = [
    {"provenance": provenance(origin="model_inference")},
    {"provenance": provenance(method=" ")},
    {"provenance": provenance(evidence_ref="x" * 2049)},
    {"valid_from_millis": 5, "valid_until_millis": 5},
    {"confidence": 0.9},
    {"weight": 1},
    {"kind": "implies"},
    {"kind": "temporal_before"},
]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda one: str(one)[:60])
def test_a_broken_rule_is_400(broken: Json, caller: Caller) -> None:
    given = relation(caller.create(), caller.create(), **broken)
    assert INVALID == refusal(caller.command(RELATIONS, type="assert", relation=given))


def test_a_relation_of_a_record_with_itself_is_400(caller: Caller) -> None:
    one = caller.create()
    assert INVALID == refusal(caller.command(RELATIONS, type="assert", relation=relation(one, one)))


def test_the_order_of_state_rules_of_a_change(caller: Caller) -> None:
    at = caller.relate()
    assert STALE == refusal(caller.change("retire", {**at, "revision": 2}))
    assert INVALID == refusal(caller.change("restore", at))
    assert INVALID == refusal(caller.change("retire", {**at, "revision": 0}))
    retired = accepted(caller.change("retire", at))
    assert INVALID == refusal(caller.change("retire", retired))
    assert STALE == refusal(caller.change("retire", at))


def test_a_replay_is_the_same_bytes_after_the_relation_has_changed(caller: Caller) -> None:
    key, given = fresh("key"), relation(caller.create(), caller.create())
    first = caller.command(RELATIONS, key, type="assert", relation=given)
    accepted(caller.change("retire", accepted(first)))
    assert first.content == caller.command(RELATIONS, key, type="assert", relation=given).content
    other = {**given, "kind": "contradicts"}
    assert KEY_CONFLICT == refusal(caller.command(RELATIONS, key, type="assert", relation=other))


def test_identical_assertions_under_different_keys_are_different_relations(caller: Caller) -> None:
    given = relation(caller.create(), caller.create())
    made = {accepted(caller.command(RELATIONS, type="assert", relation=given))["relation_id"] for _ in range(2)}
    assert 2 == len(made)


def test_a_query_shows_retained_relations_each_with_its_verdict(caller: Caller) -> None:
    kept, retired = caller.relate(kind="supports"), caller.relate(kind="contradicts")
    accepted(caller.change("retire", retired))

    def found(**wanted: object) -> list[tuple[str, str]]:
        page = caller.ask(f"{RELATIONS}/query", filter={"order": "created_asc", **wanted}).json()["page"]
        return [(one["relation"]["relation_id"], one["eligibility"]["reason"]) for one in page["relations"]]

    both = [(kept["relation_id"], "eligible"), (retired["relation_id"], "retired")]
    assert both == found()
    assert both[:1] == found(kind="supports") == found(state="active")
    assert both == found(disposition="none", reporter=caller.credential["spec"]["subject_id"])
    assert [] == found(disposition="approved")


def test_no_route_of_relations_answers_an_endpoints_payload(caller: Caller) -> None:
    text = fresh("endpoint-text")
    receipt = caller.relate(caller.create(text), caller.create(text))
    at = {"relation_id": receipt["relation_id"]}
    answers = [
        caller.ask(f"{RELATIONS}/read", **at),
        caller.ask(f"{RELATIONS}/inspect", **at),
        caller.ask(f"{RELATIONS}/revision", **at, revision=1),
        caller.ask(f"{RELATIONS}/query", filter={}),
    ]
    assert [200] * 4 == [answer.status_code for answer in answers]
    assert not any(text in answer.text for answer in answers)


def test_without_review_a_query_shows_what_the_caller_s_own_subject_reported(admin: Caller, caller: Caller) -> None:
    worker = issue(admin, capabilities=["memory_read", "memory_write"], scope=caller.scope)
    source, target = caller.create(), caller.create()
    mine, other = worker.relate(source, target), caller.relate(source, target)
    revision = {"record_id": source["record_id"], "expected_revision": 1, "record": {"content": "corrected"}}
    accepted(worker.command(RECORDS, type="revise", **revision))

    def asked(who: Caller, **wanted: Any) -> tuple[list[str], str | None]:
        answer = who.ask(f"{RELATIONS}/query", filter=wanted)
        assert 200 == answer.status_code, answer.text
        page = answer.json()["page"]
        return [one["relation"]["relation_id"] for one in page["relations"]], page["next_cursor"]

    own, everybody = [mine["relation_id"]], [mine["relation_id"], other["relation_id"]]
    assert (own, None) == asked(worker)
    assert (own, None) == asked(worker, reporter=worker.credential["spec"]["subject_id"])
    assert sorted(everybody) == sorted(asked(caller)[0])
    answer = worker.ask(f"{RELATIONS}/query", filter={})
    verdict = answer.json()["page"]["relations"][0]["eligibility"]
    assert "endpoint_revision_changed" == verdict["reason"]
    stranger = caller.credential["spec"]["subject_id"]
    assert FORBIDDEN == refusal(worker.ask(f"{RELATIONS}/query", filter={"reporter": stranger}))
    _, cursor = asked(caller, limit=1)
    assert INVALID == refusal(worker.ask(f"{RELATIONS}/query", filter={"cursor": cursor})), "a reviewer's cursor"
