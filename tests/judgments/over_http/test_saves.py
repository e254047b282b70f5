"""Saves over the wire: what they surface, how they answer, and the topic slot (judgments.md, routes and detection)."""

from __future__ import annotations

import pytest

from tests.http.client import (
    INVALID,
    KEY_CONFLICT,
    RECORDS,
    STALE,
    Caller,
    Json,
    accepted,
    fresh,
    issue,
    ref,
    refusal,
    scope,
)
from tests.judgments.over_http.calling import (
    annotated,
    answered,
    change,
    compare,
    judge,
    queue,
    relations_of,
    save,
    saved,
    standing,
)

FERRY = "the northern ferry leaves the old harbour at nine"
LATER = "the northern ferry leaves the old harbour at ten"


def test_a_save_surfaces_what_it_may_contradict(caller: Caller) -> None:
    first = save(caller, FERRY, title="Timetable", topic_key="ferry")
    assert ([], False, 0) == (first["candidates"], first["judgment_required"], first["candidates_detected"])
    second = save(caller, LATER)
    [found] = second["candidates"]
    assert {
        "candidate_id": found["candidate_id"],
        "target_id": first["receipt"]["record_id"],
        "title": "Timetable",
        "snippet": FERRY,
        "similarity": round(7 / 8, 6),
        "channel": "lexical",
        "topic_key": "ferry",
    } == found
    assert (True, 1) == (second["judgment_required"], second["candidates_detected"])
    [pending] = queue(caller)["candidates"]
    assert (found["candidate_id"], "pending") == (pending["candidate_id"], pending["status"])
    assert (ref(second["receipt"]), ref(first["receipt"])) == (pending["source"], pending["target"])
    assert {"channel": "lexical", "similarity": found["similarity"]} == pending["detection"]
    closing = ("relation_kind", "relation_id", "reason", "evidence", "confidence", "marked_by", "judged_at_millis")
    assert {None} == {pending[name] for name in closing}


def test_a_create_surfaces_nothing_and_answers_only_its_receipt(caller: Caller) -> None:
    caller.create(FERRY)
    answer = answered(caller.command(RECORDS, type="create", record={"content": LATER}))
    assert {"contract_version", "receipt"} == answer.keys()
    assert 0 == queue(caller)["total"]


def test_a_save_finds_what_was_created_revised_and_written_a_moment_before(caller: Caller) -> None:
    record = caller.create("nothing of the kind")
    revision = {"record_id": record["record_id"], "expected_revision": 1, "record": {"content": FERRY}}
    accepted(caller.command(RECORDS, type="revise", **revision))
    created = caller.create(FERRY)
    found = {one["target_id"] for one in save(caller, LATER)["candidates"]}
    assert {record["record_id"], created["record_id"]} == found


def test_the_most_similar_come_first_and_the_cap_cuts_the_rest(caller: Caller) -> None:
    words = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"]
    records = [saved(caller, " ".join(words[: count + 1]), candidates_max=0) for count in range(len(words))]
    answer = save(caller, " ".join(words), candidates_max=3)
    shares = [one["similarity"] for one in answer["candidates"]]
    assert [1.0, round(5 / 6, 6), round(4 / 6, 6)] == shares
    assert [one["record_id"] for one in records[:2:-1]] == [one["target_id"] for one in answer["candidates"]]
    assert 6 == answer["candidates_detected"]
    assert 3 == queue(caller)["total"], "only what was surfaced is a candidate"


@pytest.mark.parametrize(("cap", "surfaced"), [(None, 5), (0, 0), (20, 20), (25, 20)])
def test_at_most_the_cap_is_surfaced_and_at_most_twenty_are_detected(
    cap: int | None, surfaced: int, caller: Caller
) -> None:
    items = [{"type": "save", "record": {"content": f"{FERRY} {number}"}, "candidates_max": 0} for number in range(22)]
    commands = [{"idempotency_key": fresh("key"), "operation": item} for item in items]
    answered(caller.ask(f"{RECORDS}/commands/batch", commands=commands))
    answer = save(caller, LATER, candidates_max=cap)
    assert (surfaced, 20) == (len(answer["candidates"]), answer["candidates_detected"])
    assert answer["judgment_required"] is (surfaced > 0)


@pytest.mark.parametrize("cap", [-1, 26])
def test_a_cap_past_its_bounds_is_a_fault_of_the_schema(cap: int, caller: Caller, admin: Caller) -> None:
    wrong: Json = {"type": "save", "record": {"content": FERRY}, "candidates_max": cap}
    accepted(caller.command(RECORDS, "used", type="create", record={"content": LATER}))
    for key in ("used", "new"):
        assert INVALID == refusal(caller.command(RECORDS, key, **wrong)), "before a key is looked up"
    reader = issue(admin, capabilities=["memory_read"], scope=caller.scope)
    assert INVALID == refusal(reader.command(RECORDS, **wrong)), "before authorization"
    sound = {"type": "create", "record": {"content": FERRY}}
    items = [{"idempotency_key": fresh("key"), "operation": operation} for operation in (sound, wrong)]
    assert INVALID == refusal(caller.ask(f"{RECORDS}/commands/batch", commands=items))
    page = answered(caller.ask(f"{RECORDS}/query", filter={}))["page"]
    assert [LATER] == [one["input"]["content"] for one in page["records"]], "of the batch nothing is written"


@pytest.mark.parametrize("record", [{"content": " "}, {"content": "c", "title": "t" * 201}, {"content": "c" * 49153}])
def test_a_save_obeys_the_rules_of_a_create(record: Json, caller: Caller) -> None:
    assert INVALID == refusal(caller.command(RECORDS, type="save", record=record))


def test_saves_of_one_batch_see_those_before_them(caller: Caller) -> None:
    contents = [FERRY, "somebody counts stars", LATER]
    operations: list[Json] = [{"type": "save", "record": {"content": content}} for content in contents]
    operations.insert(1, {"type": "create", "record": {"content": FERRY}})
    commands = [{"idempotency_key": fresh("key"), "operation": operation} for operation in operations]
    results = answered(caller.ask(f"{RECORDS}/commands/batch", commands=commands))["results"]
    ids = [one["receipt"]["record_id"] for one in results]
    assert set(ids[:2]) == {one["target_id"] for one in results[3]["candidates"]}
    assert "candidates" not in results[1]
    assert (False, True) == (results[2]["judgment_required"], results[3]["judgment_required"])
    again = answered(caller.ask(f"{RECORDS}/commands/batch", commands=commands))["results"]
    assert results == again


def test_a_refused_save_of_a_batch_touches_no_other(caller: Caller) -> None:
    operations = [{"type": "save", "record": {"content": content}} for content in (FERRY, " ", LATER)]
    commands = [{"idempotency_key": fresh("key"), "operation": operation} for operation in operations]
    results = answered(caller.ask(f"{RECORDS}/commands/batch", commands=commands))["results"]
    assert [False, True, False] == ["error" in one for one in results]
    assert [results[0]["receipt"]["record_id"]] == [one["target_id"] for one in results[2]["candidates"]]


def test_a_replay_answers_the_same_ids_and_scores_and_renders_titles_anew(caller: Caller) -> None:
    target = saved(caller, FERRY, title="Timetable")
    key = fresh("key")
    first = save(caller, LATER, key=key)
    assert first == save(caller, LATER, key=key)
    revision = {"record_id": target["record_id"], "expected_revision": 1}
    accepted(caller.command(RECORDS, type="revise", **revision, record={"content": "gone fishing", "title": "Closed"}))
    replayed = save(caller, LATER, key=key)
    assert ("Closed", "gone fishing") == (replayed["candidates"][0]["title"], replayed["candidates"][0]["snippet"])
    change(caller, "delete", {**target, "revision": 2})
    erased = save(caller, LATER, key=key)
    assert {**first["candidates"][0], "title": None, "snippet": None} == erased["candidates"][0]
    assert first["receipt"] == erased["receipt"]


def test_the_key_of_a_save_stands_for_its_body(caller: Caller) -> None:
    key = fresh("key")
    save(caller, FERRY, key=key)
    assert KEY_CONFLICT == refusal(caller.command(RECORDS, key, type="save", record={"content": LATER}))
    assert KEY_CONFLICT == refusal(caller.command(RECORDS, key, type="create", record={"content": FERRY}))
    default = caller.command(RECORDS, key, type="save", record={"content": FERRY}, candidates_max=5)
    assert 200 == default.status_code, "a member at its default is a member left out"


def test_a_snippet_has_two_hundred_characters(caller: Caller) -> None:
    saved(caller, f"{FERRY} " + "ü" * 300)
    [found] = save(caller, FERRY)["candidates"]
    assert f"{FERRY} ".ljust(200, "ü") == found["snippet"]


def test_nothing_of_another_partition_is_surfaced_or_counts(admin: Caller) -> None:
    here = scope()
    there = {**here, "visibility": "private"}
    caller = issue(admin, scope=here, grants=[here, there])
    own = saved(caller, FERRY)
    for number in range(3):
        saved(caller.at(visibility="private"), f"{FERRY} {number}")
    assert [own["record_id"]] == [one["target_id"] for one in save(caller, LATER)["candidates"]]
    assert 1 == queue(caller)["total"]


@pytest.mark.parametrize("kind", ["archive", "delete", "supersede"])
def test_records_that_are_not_current_are_no_targets(kind: str, caller: Caller) -> None:
    first = saved(caller, FERRY)
    if kind == "supersede":
        other = caller.create("an anchor of iron")
        assert 200 == compare(caller, other, first, "supersedes").status_code
    else:
        change(caller, kind, first)
    assert [] == save(caller, LATER)["candidates"]


def test_what_a_reader_is_not_given_is_not_shown_as_a_target(caller: Caller) -> None:
    rejected, expired = caller.create("ferry one"), caller.create("ferry two", valid_until_millis=1)
    derivation = {"sources": [rejected], "method": "m", "method_revision": "1", "evidence_ref": "e"}
    accepted(caller.command(RECORDS, type="derive", record={"content": "ferry three"}, derivation=derivation))
    assert 2 == save(caller, "ferry", type="memory")["candidates_detected"], "all but the expired one"
    change(caller, "review", rejected, disposition="rejected", evidence_ref="note/1")
    found = save(caller, "ferry four")
    assert (1, 1) == (found["candidates_detected"], len(found["candidates"])), "the earlier save alone"
    assert expired["record_id"] != found["candidates"][0]["target_id"]


def test_other_types_are_neither_compared_nor_in_the_way(caller: Caller) -> None:
    commands = [
        {"idempotency_key": fresh("key"), "operation": {"type": "create", "record": {"content": FERRY, "type": "task"}}}
        for _ in range(25)
    ]
    answered(caller.ask(f"{RECORDS}/commands/batch", commands=commands))
    memory = saved(caller, FERRY)
    assert [memory["record_id"]] == [one["target_id"] for one in save(caller, LATER)["candidates"]]
    assert [] == save(caller, FERRY, type="person")["candidates"]


# The topic slot


def test_a_save_supersedes_the_occupant_of_its_slot(caller: Caller) -> None:
    first = saved(caller, FERRY, topic_key="ferry")
    answer = save(caller, LATER, topic_key="ferry")
    second = ref(answer["receipt"])
    assert ([], False, 0) == (answer["candidates"], answer["judgment_required"], answer["candidates_detected"])
    expected = {"state": "superseded", "pinned": False, "superseded_by": second["record_id"], "replaces": []}
    assert expected == standing(caller, first)
    assert [first["record_id"]] == standing(caller, second)["replaces"]
    [closed] = queue(caller, status="judged")["candidates"]
    author = answer["receipt"]["author"]
    assert {"kind": "agent_topic_key", "author": author} == closed["marked_by"]
    assert ("supersedes", "topic_key") == (closed["relation_kind"], closed["detection"]["channel"])
    assert answer["receipt"]["committed_at_millis"] == closed["judged_at_millis"]
    [one] = relations_of(caller, first)
    assert ("superseded_by", "incoming", second["record_id"]) == (one["kind"], one["direction"], one["target_id"])
    [found] = annotated(caller, second)
    assert ["supersedes"] == [relation["kind"] for relation in found["relations"]]


def test_what_a_save_replaces_takes_no_place_among_the_twenty(caller: Caller) -> None:
    saved(caller, FERRY, topic_key="ferry")
    for number in range(20):
        saved(caller, f"{FERRY} and {number}", candidates_max=0)
    assert 20 == save(caller, FERRY, topic_key="ferry")["candidates_detected"]


def test_plain_commands_onto_an_occupied_slot_are_refused(caller: Caller) -> None:
    saved(caller, FERRY, topic_key="ferry")
    taken = {"content": LATER, "topic_key": "ferry"}
    assert STALE == refusal(caller.command(RECORDS, type="create", record=taken))
    other = caller.create()
    at = {"record_id": other["record_id"], "expected_revision": 1}
    assert STALE == refusal(caller.command(RECORDS, type="revise", **at, record=taken))


def test_an_archived_record_gives_up_its_slot_and_gets_it_back_if_it_is_free(caller: Caller) -> None:
    first = saved(caller, FERRY, topic_key="ferry")
    change(caller, "archive", first)
    second = saved(caller, LATER, topic_key="ferry")
    assert "archived" == standing(caller, first)["state"]
    at = {"record_id": first["record_id"], "expected_revision": 1}
    assert STALE == refusal(caller.command(RECORDS, type="unarchive", **at))
    change(caller, "archive", second)
    change(caller, "unarchive", first)
    assert "current" == standing(caller, first)["state"]


def test_what_was_found_not_to_conflict_stays_away_from_later_versions(caller: Caller) -> None:
    other = saved(caller, FERRY)
    [found] = save(caller, LATER, topic_key="ferry")["candidates"]
    assert other["record_id"] == found["target_id"]
    judge(caller, found["candidate_id"], "not_conflict")
    assert [] == save(caller, f"{LATER} sharp", topic_key="ferry")["candidates"]
    assert [other["record_id"]] == [one["target_id"] for one in save(caller, f"{LATER} or so")["candidates"][1:]]
