"""Statuses over the wire: causes, inheritance through every level, filters, validation (views.md, status)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.http.client import ABSENT, INVALID, NO_RECORD, RECORDS, Caller, Json, accepted, ref, refusal
from tests.judgments.over_http.calling import answered, change, search
from tests.views.over_http.calling import ids, mark, stand, status, statuses, validate

DEEPEST = 8


def said(caller: Caller, content: str, source_hash: str | None = None, **members: Any) -> Json:
    """A record that says something of one fact."""
    provenance = {"source_id": "wiki/ferry", "source_hash": source_hash}
    return caller.create(content, **{"fact_key": "ferry/departure", "provenance": provenance, **members})


def derive(caller: Caller, *sources: Json, content: str = "a summary", **members: Any) -> Json:
    derivation = {"sources": list(sources), "method": "m", "method_revision": "1", "evidence_ref": "run/1"}
    operation: Json = {"record": {"content": content, **members}, "derivation": derivation}
    return ref(accepted(caller.command(RECORDS, type="derive", **operation)))


def causes(found: Json) -> list[tuple[str, str, str | None]]:
    return [(one["cause"], one["record_id"], one["through"]) for one in found["reasons"]]


def words(*found: Json) -> list[str]:
    return [one["status"] for one in found]


def test_nothing_is_ever_verified(caller: Caller) -> None:
    record = caller.create(provenance={"source_id": "s", "source_hash": "h"})
    change(caller, "review", record, disposition="approved", evidence_ref="note/1")
    found = status(caller, record, current_sources=[{"source_id": "s", "source_hash": "h"}])
    standing = {"state": "current", "pinned": False, "superseded_by": None, "replaces": []}
    assert {
        "record_id": record["record_id"],
        "status": "unverified",
        "standing": standing,
        "reasons": [],
        "missing_sources": [],
        "contested_count": 0,
        "incomplete": [],
    } == found


@pytest.mark.parametrize(
    ("one", "other", "conflicting"),
    [
        (("nine", None), ("nine", None), False),
        (("nine", "h"), ("nine", "h"), False),
        (("nine", None), ("ten", None), True),
        (("nine", "h"), ("nine", "i"), True),
        (("nine", "h"), ("nine", None), True),
        (("nine", "h"), ("ten", "h"), True),
    ],
)
def test_records_of_one_fact_conflict_unless_text_and_hash_are_equal(
    caller: Caller, one: tuple[str, str | None], other: tuple[str, str | None], conflicting: bool
) -> None:
    first, second = said(caller, *one), said(caller, *other)
    expected = "conflict" if conflicting else "unverified"
    found = statuses(caller, first, second)
    assert [expected, expected] == words(*found)
    if conflicting:
        assert [("other_statement", second["record_id"], None)] == causes(found[0])
        assert [("other_statement", first["record_id"], None)] == causes(found[1])


def test_all_members_of_a_group_are_in_conflict_until_the_wrong_one_is_deleted(caller: Caller) -> None:
    members = [said(caller, "nine"), said(caller, "nine"), said(caller, "ten")]
    bystander = said(caller, "ten", fact_key="ferry/arrival")
    found = statuses(caller, *members, bystander)
    assert ["conflict", "conflict", "conflict", "unverified"] == words(*found)
    assert [1, 1, 2, 0] == [len(one["reasons"]) for one in found]
    accepted(stand(caller, "archive", members[2]))
    assert ["conflict"] * 3 == words(*statuses(caller, *members)), "an archived record still says what it says"
    change(caller, "delete", members[2])
    assert ["unverified", "unverified"] == words(*statuses(caller, *members[:2]))


def test_a_revision_says_something_else(caller: Caller) -> None:
    one, other = said(caller, "nine"), said(caller, "nine")
    revised = caller.command(
        RECORDS,
        type="revise",
        record={"content": "ten", "fact_key": "ferry/departure"},
        record_id=other["record_id"],
        expected_revision=1,
    )
    accepted(revised)
    assert ["conflict", "conflict"] == words(*statuses(caller, one, other))


@pytest.mark.parametrize(
    ("stored", "current", "expected"),
    [
        ("h", "h", "unverified"),
        ("h", "i", "stale"),
        ("h", None, "stale"),
        (None, "h", "stale"),
        (None, None, "unverified"),
    ],
)
def test_a_source_with_another_hash_makes_stale(
    caller: Caller, stored: str | None, current: str | None, expected: str
) -> None:
    record = caller.create(provenance={"source_id": "wiki", "source_hash": stored})
    without = caller.create("no source")
    given = [{"source_id": "wiki", "source_hash": current}, {"source_id": "other", "source_hash": "j"}]
    found = statuses(caller, record, without, current_sources=given)
    assert [expected, "unverified"] == words(*found)
    assert ([("source_changed", record["record_id"], None)] if expected == "stale" else []) == causes(found[0])


def test_a_mark_makes_stale_and_may_lower_confidence_until_the_later_record_is_deleted(caller: Caller) -> None:
    old, plain, new = caller.create("nine", confidence=0.75), caller.create("old"), caller.create("ten")
    accepted(mark(caller, old, new, confidence=0.25))
    accepted(mark(caller, plain, new))
    found, other = statuses(caller, old, plain)
    assert ["stale", "stale"] == words(found, other)
    assert [("made_stale", new["record_id"], None)] == causes(found) == causes(other)
    assert [0.25, None] == [one["reasons"][0]["confidence"] for one in (found, other)]
    accepted(mark(caller, old, new, confidence=0.875))
    assert [0.75] == [one["confidence"] for one in status(caller, old)["reasons"]], "a mark never raises it"
    change(caller, "delete", new)
    assert ["unverified", "unverified"] == words(*statuses(caller, old, plain))


def test_conflict_is_worse_than_stale_and_both_causes_are_named(caller: Caller) -> None:
    one, other = said(caller, "nine", "h"), said(caller, "ten", "h")
    later = caller.create("later")
    accepted(mark(caller, one, later))
    found = status(caller, one, current_sources=[{"source_id": "wiki/ferry", "source_hash": "i"}])
    assert "conflict" == found["status"]
    assert {
        ("other_statement", other["record_id"], None),
        ("made_stale", later["record_id"], None),
        ("source_changed", one["record_id"], None),
    } == set(causes(found))


def test_a_derived_record_takes_the_worst_through_every_level(caller: Caller) -> None:
    stale, later, clean = caller.create("stale"), caller.create("later"), caller.create("clean")
    levels = [stale]
    for level in range(DEEPEST):
        levels.append(derive(caller, levels[-1], clean, content=f"level {level}"))
    assert ["unverified"] * 9 == words(*statuses(caller, *levels))
    accepted(mark(caller, stale, later))
    found = statuses(caller, *levels)
    assert ["stale"] * 9 == words(*found)
    through = stale["record_id"]
    assert [[("made_stale", later["record_id"], through)]] * DEEPEST == [causes(one) for one in found[1:]]
    said_first, said_second = said(caller, "nine"), said(caller, "ten")
    mixed = derive(caller, levels[2], said_first, content="mixed")
    assert "conflict" == status(caller, mixed)["status"]
    assert ("other_statement", said_second["record_id"], said_first["record_id"]) in causes(status(caller, mixed))


def test_deleted_sources_are_listed_and_failed_ancestries_covered(caller: Caller) -> None:
    gone, kept, later = caller.create("gone"), caller.create("kept"), caller.create("later")
    child = derive(caller, gone, kept)
    grandchild = derive(caller, child, content="of a summary")
    accepted(mark(caller, kept, later))
    change(caller, "delete", gone)
    assert NO_RECORD == refusal(caller.ask(f"{RECORDS}/read", record_id=child["record_id"]))
    for one in (child, grandchild):
        found = status(caller, one)
        assert ("stale", ids(gone)) == (found["status"], found["missing_sources"])
        assert [("made_stale", later["record_id"], kept["record_id"])] == causes(found)


def test_absent_and_deleted_records_have_no_status(caller: Caller) -> None:
    gone = caller.create()
    change(caller, "delete", gone)
    for one in (gone, {"record_id": ABSENT}):
        found = status(caller, one)
        assert (None, None, [], 0) == (
            found["status"],
            found["standing"],
            found["reasons"],
            found["contested_count"],
        )


def test_only_eligible_contradictions_of_authors_count(caller: Caller) -> None:
    hub, other, third = (caller.create(name) for name in ("hub", "other", "third"))
    told = caller.relate(hub, other, kind="contradicts")
    caller.relate(third, hub, kind="contradicts", valid_until_millis=1)
    caller.relate(third, hub, kind="supports")
    assert 1 == status(caller, hub)["contested_count"]
    retired = accepted(caller.change("retire", told))
    assert 0 == status(caller, hub)["contested_count"]
    accepted(caller.change("restore", retired))
    for disposition, counted in (("approved", 1), ("rejected", 0), ("unreviewed", 1)):
        other = change(caller, "review", other, disposition=disposition, evidence_ref="n")
        assert counted == status(caller, hub)["contested_count"], disposition
    change(caller, "revise", other, record={"content": "another"})
    assert 0 == status(caller, hub)["contested_count"], "the relation names what the other said before"


def test_a_filter_pages_over_retained_active_records(caller: Caller) -> None:
    one, other = said(caller, "nine", tags=["ferry"]), said(caller, "ten", tags=["ferry"])
    rejected, gone = caller.create("no", tags=["ferry"]), caller.create("gone", tags=["ferry"])
    caller.create("without a tag")
    change(caller, "review", rejected, disposition="rejected", evidence_ref="n")
    change(caller, "delete", gone)
    asked: Json = {"tag": "ferry", "limit": 2, "order": "created_asc"}
    first = answered(caller.ask(f"{RECORDS}/status", filter=asked))
    assert ids(one, other) == [found["record_id"] for found in first["statuses"]]
    assert "record_limit" == first["stop_reason"]
    assert ["conflict", "conflict"] == words(*first["statuses"])
    second = answered(caller.ask(f"{RECORDS}/status", filter={**asked, "cursor": first["next_cursor"]}))
    assert (ids(rejected), "exhausted", None) == (
        [found["record_id"] for found in second["statuses"]],
        second["stop_reason"],
        second["next_cursor"],
    )
    assert INVALID == refusal(caller.ask(f"{RECORDS}/query", filter={**asked, "cursor": first["next_cursor"]}))


@pytest.mark.parametrize(
    "members",
    [
        {},
        {"record_ids": []},
        {"record_ids": [ABSENT, ABSENT]},
        {"record_ids": [f"{number:08x}-0000-7000-8000-000000000000" for number in range(101)]},
        {"record_ids": [ABSENT], "filter": {}},
        {"filter": {"category": " "}},
        {"filter": {"limit": 101}},
        {"record_ids": [ABSENT], "current_sources": [{"source_id": "", "source_hash": "h"}]},
        {"record_ids": [ABSENT], "current_sources": [{"source_id": "s"}, {"source_id": "s", "source_hash": "h"}]},
        {"record_ids": [ABSENT], "current_sources": [{"source_hash": "h"}]},
    ],
    ids=str,
)
def test_what_is_wrong_with_a_query(caller: Caller, members: Json) -> None:
    assert INVALID == refusal(caller.ask(f"{RECORDS}/status", **members))


def test_a_hundred_records_at_once(caller: Caller) -> None:
    records = [caller.create(f"record {number}") for number in range(3)]
    asked = [*ids(*records), *(f"{number:08x}-0000-7000-8000-000000000000" for number in range(97))]
    found = answered(caller.ask(f"{RECORDS}/status", record_ids=asked))
    assert asked == [one["record_id"] for one in found["statuses"]]
    assert found["coverage"]["complete"]


def test_validation_reports_and_changes_nothing(caller: Caller) -> None:
    first, second = said(caller, "nine", "h"), said(caller, "ten", "h")
    old, later = caller.create("old"), caller.create("later")
    child = derive(caller, old, content="of the old")
    accepted(mark(caller, old, later))
    gone = said(caller, "gone", "h")
    change(caller, "delete", gone)
    before = [status(caller, one) for one in (first, second, old, later, child)]
    found = validate(caller)
    assert (5, ids(child, old), 2, ids(second, first), 2) == (
        found["checked"],
        found["stale_ids"],
        found["stale_count"],
        found["conflict_ids"],
        found["conflict_count"],
    )
    assert found["coverage"]["complete"]
    assert before == [status(caller, one) for one in (first, second, old, later, child)]


def test_validation_of_one_source_compares_its_hash(caller: Caller) -> None:
    same, other = said(caller, "nine", "h", fact_key=None), said(caller, "ten", None, fact_key=None)
    caller.create("elsewhere", provenance={"source_id": "wiki/harbour", "source_hash": "h"})
    found = validate(caller, source_id="wiki/ferry", current_source_hash="h")
    assert (2, ids(other), 0) == (found["checked"], found["stale_ids"], found["conflict_count"])
    assert [] == validate(caller, source_id="wiki/ferry")["stale_ids"]
    assert ids(other, same) == validate(caller, source_id="wiki/ferry", current_source_hash="i")["stale_ids"]
    assert 0 == validate(caller, source_id="unknown", current_source_hash="i")["checked"]
    assert INVALID == refusal(caller.ask(f"{RECORDS}/validate", current_source_hash="h"))
    assert INVALID == refusal(caller.ask(f"{RECORDS}/validate", source_id=" "))


def test_a_search_drops_what_is_effectively_stale_when_asked_to(caller: Caller) -> None:
    old, new, later = caller.create("the ferry"), caller.create("a new ferry"), caller.create("later")
    child = derive(caller, old, content="of the ferry")
    conflicting = said(caller, "ferry at nine")
    said(caller, "boat at ten")
    accepted(mark(caller, old, later))
    everything = {one["record"]["record_id"] for one in search(caller, "ferry")}
    assert {*ids(old, new, child, conflicting)} == everything
    sound = {one["record"]["record_id"] for one in search(caller, "ferry", exclude_stale=True)}
    assert {*ids(new, conflicting)} == sound
    change(caller, "delete", later)
    assert everything == {one["record"]["record_id"] for one in search(caller, "ferry", exclude_stale=True)}
