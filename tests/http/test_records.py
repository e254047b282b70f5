"""Records over the wire (records.md): a life of a record, and what each read says of it."""

from __future__ import annotations

import pytest

from tests.http.client import (
    ABSENT,
    INVALID,
    KEY_CONFLICT,
    NO_RECORD,
    RECEIPTS,
    RECORDS,
    STALE,
    Caller,
    Json,
    accepted,
    fresh,
    issue,
    ref,
    refusal,
)


def on(record: Json, kind: str, /, **members: object) -> Json:
    """An operation on a record at its revision."""
    return {"type": kind, "record_id": record["record_id"], "expected_revision": record["revision"], **members}


def derivation(*sources: Json) -> Json:
    return {"sources": list(sources), "method": "summary", "method_revision": "1", "evidence_ref": "run/1"}


def test_a_created_record_reads_back_with_every_member_present(caller: Caller) -> None:
    given = {
        "type": "person",
        "title": "t",
        "content": "c",
        "data": {"a": [1, 2.5, None, True, {"b": "x"}]},
        "tags": ["x", "y"],
        "category": "project",
        "topic_key": "slot",
        "fact_key": "group",
        "provenance": {"source_id": "s", "source_hash": None, "source_revision": "r"},
        "confidence": 0.5,
        "event_time_millis": 1,
        "valid_until_millis": None,
    }
    receipt = accepted(caller.command(RECORDS, type="create", record=given))
    answer = caller.ask(f"{RECORDS}/read", record_id=receipt["record_id"]).json()
    assert {**caller.scope, "mission_id": None} == answer["scope"]
    record = answer["record"]
    assert given == record["input"]
    assert ("active", 1, None, None) == (record["state"], record["revision"], record["review"], record["derivation"])
    assert receipt["committed_at_millis"] == record["created_at_millis"] == record["modified_at_millis"]
    assert (
        receipt["author"]
        == record["author"]
        == {
            "credential_id": caller.credential["id"],
            "subject_id": caller.credential["spec"]["subject_id"],
        }
    )


def test_a_life_of_a_record_from_creation_to_deletion(caller: Caller) -> None:
    record = caller.create("first")
    record = ref(accepted(caller.command(RECORDS, **on(record, "review", disposition="approved", evidence_ref="e"))))
    record = ref(accepted(caller.command(RECORDS, **on(record, "revise", record={"content": "second"}))))
    read = caller.ask(f"{RECORDS}/read", record_id=record["record_id"]).json()["record"]
    assert (3, "second", None) == (read["revision"], read["input"]["content"], read["review"])
    deleted = accepted(caller.command(RECORDS, **on(record, "delete")))
    assert (4, "deleted") == (deleted["revision"], deleted["action"])
    assert NO_RECORD == refusal(caller.ask(f"{RECORDS}/read", record_id=record["record_id"]))
    inspection = caller.ask(f"{RECORDS}/inspect", record_id=record["record_id"]).json()["inspection"]
    assert ("deleted", None) == (inspection["record"]["state"], inspection["record"]["input"])
    assert "deleted" == inspection["eligibility"]["first_failure"]["reason"]
    for revision in (1, 2, 3):
        history = caller.ask(f"{RECORDS}/revision", record_id=record["record_id"], revision=revision).json()["history"]
        assert ("active", None, None) == (
            history["record"]["state"],
            history["record"]["input"],
            history["record"]["review"],
        )
        assert revision == history["receipt"]["revision"]
    assert NO_RECORD == refusal(caller.ask(f"{RECORDS}/revision", record_id=record["record_id"], revision=5))


def test_deleted_text_is_nowhere_in_any_answer(caller: Caller) -> None:
    secret = fresh("erased-text")
    record = caller.create(secret, title=secret, data={secret: secret}, tags=[secret])
    caller.command(RECORDS, **on(record, "delete"))
    answers = [
        caller.ask(f"{RECORDS}/inspect", record_id=record["record_id"]),
        caller.ask(f"{RECORDS}/revision", record_id=record["record_id"], revision=1),
        caller.ask(f"{RECORDS}/revision", record_id=record["record_id"], revision=2),
        caller.ask(f"{RECORDS}/query", filter={"text": secret}),
    ]
    assert [200] * 4 == [answer.status_code for answer in answers]
    assert not any(secret in answer.text for answer in answers)


def test_what_is_derived_is_hidden_while_its_source_is_rejected_and_for_good_once_that_is_revised(
    caller: Caller,
) -> None:
    source = caller.create()
    derived = ref(
        accepted(caller.command(RECORDS, type="derive", record={"content": "sum"}, derivation=derivation(source)))
    )

    def failure(kind: str, **members: object) -> object:
        """What is wrong with the derived record once its source has changed; None where it is read."""
        nonlocal source
        source = ref(accepted(caller.command(RECORDS, **on(source, kind, **members))))
        read = caller.ask(f"{RECORDS}/read", record_id=derived["record_id"])
        inspected = caller.ask(f"{RECORDS}/inspect", record_id=derived["record_id"]).json()["inspection"]
        found = inspected["eligibility"]["first_failure"]
        assert read.status_code == 200 if found is None else NO_RECORD == refusal(read)
        return found

    def of_source(actual: int, reason: str) -> Json:
        at = {"record_id": source["record_id"], "expected_revision": 1, "actual_revision": actual}
        return {**at, "reason": reason}

    assert failure("review", disposition="approved", evidence_ref="e") is None
    assert of_source(3, "rejected") == failure("review", disposition="rejected", evidence_ref="e")
    assert failure("review", disposition="unreviewed", evidence_ref="e") is None
    assert of_source(5, "source_revision_changed") == failure("revise", record={"content": "another"})
    assert of_source(6, "source_revision_changed") == failure("review", disposition="approved", evidence_ref="e")


@pytest.mark.parametrize("kind", ["revise", "delete", "review"])
def test_an_unknown_record_is_404_a_stale_revision_409_and_revision_0_is_400(kind: str, caller: Caller) -> None:
    members: dict[str, Json] = {
        "revise": {"record": {"content": "c"}},
        "delete": {},
        "review": {"disposition": "approved", "evidence_ref": "e"},
    }
    record = caller.create()
    unknown = {"record_id": ABSENT, "revision": 1}
    assert NO_RECORD == refusal(caller.command(RECORDS, **on(unknown, kind, **members[kind])))
    assert STALE == refusal(caller.command(RECORDS, **on({**record, "revision": 2}, kind, **members[kind])))
    assert INVALID == refusal(caller.command(RECORDS, **on({**record, "revision": 0}, kind, **members[kind])))


def test_absent_foreign_and_ineligible_records_are_the_same_404_to_the_byte(admin: Caller, caller: Caller) -> None:
    foreign = issue(admin).create()
    deleted, rejected = caller.create(), caller.create()
    caller.command(RECORDS, **on(deleted, "delete"))
    caller.command(RECORDS, **on(rejected, "review", disposition="rejected", evidence_ref="e"))
    ids = [ABSENT, foreign["record_id"], deleted["record_id"], rejected["record_id"]]
    answers = {caller.ask(f"{RECORDS}/read", record_id=one).content for one in ids}
    assert 1 == len(answers)
    inspected = {caller.ask(f"{RECORDS}/inspect", record_id=one).content for one in ids[:2]}
    assert 1 == len(inspected)
    batch = caller.ask(f"{RECORDS}/batch", record_ids=ids).json()["batch"]
    assert [{"record_id": one, "record": None} for one in ids] == batch["entries"]


def test_a_batch_keeps_the_order_of_the_request(caller: Caller) -> None:
    ids = [caller.create(str(number))["record_id"] for number in range(4)]
    wanted = [ids[2], ABSENT, ids[0], ids[3]]
    entries = caller.ask(f"{RECORDS}/batch", record_ids=wanted).json()["batch"]["entries"]
    assert wanted == [entry["record_id"] for entry in entries]
    assert ["2", None, "0", "3"] == [entry["record"] and entry["record"]["input"]["content"] for entry in entries]
    assert INVALID == refusal(caller.ask(f"{RECORDS}/batch", record_ids=[ids[0], ids[0].upper()]))


def test_following_cursors_shows_every_record_once(caller: Caller) -> None:
    made = [caller.create(f"note {number}")["record_id"] for number in range(5)]
    for order, expected in (("created_asc", made), ("created_desc", made[::-1])):
        seen: list[str] = []
        cursor = None
        while True:
            wanted = {"order": order, "limit": 2, "cursor": cursor}
            page = caller.ask(f"{RECORDS}/query", filter=wanted).json()["page"]
            seen += [record["record_id"] for record in page["records"]]
            cursor = page["next_cursor"]
            if cursor is None:
                assert "exhausted" == page["stop_reason"]
                break
            assert "record_limit" == page["stop_reason"]
        assert expected == seen


def test_a_cursor_of_another_partition_filter_or_order_is_refused(caller: Caller, admin: Caller) -> None:
    for _ in range(3):
        caller.create(tags=["t"])
    cursor = caller.ask(f"{RECORDS}/query", filter={"limit": 1}).json()["page"]["next_cursor"]
    assert 200 == caller.ask(f"{RECORDS}/query", filter={"limit": 2, "cursor": cursor}).status_code
    other = issue(admin)
    other.create()
    assert INVALID == refusal(other.ask(f"{RECORDS}/query", filter={"cursor": cursor}))
    assert INVALID == refusal(caller.ask(f"{RECORDS}/query", filter={"cursor": cursor, "tag": "t"}))
    assert INVALID == refusal(caller.ask(f"{RECORDS}/query", filter={"cursor": cursor, "order": "created_asc"}))
    assert INVALID == refusal(caller.ask(f"{RECORDS}/query", filter={"cursor": cursor[:-1]}))


def test_a_replay_is_the_same_bytes_whatever_happened_since(caller: Caller) -> None:
    key, operation = fresh("key"), {"type": "create", "record": {"content": "c"}}
    first = caller.command(RECORDS, key, **operation)
    record = ref(accepted(first))
    assert first.content == caller.command(RECORDS, key, **operation).content
    caller.command(RECORDS, **on(record, "delete"))
    assert first.content == caller.command(RECORDS, key, **operation).content
    found = caller.ask(RECEIPTS, family="record", idempotency_key=key).json()["receipt"]
    assert accepted(first) == found


def test_a_known_key_with_another_body_is_a_conflict_even_if_that_body_is_invalid(caller: Caller) -> None:
    key = fresh("key")
    accepted(caller.command(RECORDS, key, type="create", record={"content": "c"}))
    for content in ("d", " "):
        assert KEY_CONFLICT == refusal(caller.command(RECORDS, key, type="create", record={"content": content}))


def test_a_refused_command_reserves_no_key(caller: Caller) -> None:
    key = fresh("key")
    assert INVALID == refusal(caller.command(RECORDS, key, type="create", record={"content": " "}))
    assert NO_RECORD == refusal(caller.ask(RECEIPTS, family="record", idempotency_key=key))
    accepted(caller.command(RECORDS, key, type="create", record={"content": "c"}))


def test_families_of_keys_are_apart(caller: Caller) -> None:
    key = fresh("key")
    accepted(caller.command(RECORDS, key, type="create", record={"content": "c"}))
    assert NO_RECORD == refusal(caller.ask(RECEIPTS, family="relation", idempotency_key=key))
    assert INVALID == refusal(caller.ask(RECEIPTS, family="credential", idempotency_key=key))
