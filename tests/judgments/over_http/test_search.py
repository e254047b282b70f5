"""Search and topic keys over the wire (judgments.md, routes)."""

from __future__ import annotations

import pytest

from tests.http.client import INVALID, RECORDS, Caller, Json, issue, refusal, scope
from tests.judgments.over_http.calling import TOPIC_KEYS, answered, change, compare, save, saved, search

PATH = f"{RECORDS}/search"


def found(caller: Caller, text: str, **members: object) -> list[str]:
    return [one["record"]["input"]["content"] for one in search(caller, text, **members)]


def test_the_best_match_comes_first(caller: Caller) -> None:
    for content in ("a ferry", "a northern ferry leaves", "the northern lights", "nothing"):
        caller.create(content)
    assert ["a northern ferry leaves", "a ferry"] == found(caller, "Northern FERRY")[:2]
    assert ["the northern lights", "a northern ferry leaves"] == found(caller, "northern lights, ferry")[:2]
    assert [] == found(caller, "submarine")


def test_titles_are_searched_too_and_accents_and_case_do_not_matter(caller: Caller) -> None:
    caller.create("fährt um neun", title="Die Fähre")
    caller.create("東京都の天気は晴れです")
    assert ["fährt um neun"] == found(caller, "DIE FAHRE")
    assert ["東京都の天気は晴れです"] == found(caller, "天気")
    assert [] == found(caller, "都天"), "no bigram of it"


def test_only_eligible_and_current_records_are_found(caller: Caller) -> None:
    caller.create("ferry of today")
    rejected, archived, old, deleted = (caller.create(f"ferry {name}") for name in ("bad", "away", "old", "gone"))
    caller.create("ferry of yesterday", valid_until_millis=1)
    change(caller, "review", rejected, disposition="rejected", evidence_ref="note/1")
    change(caller, "archive", archived)
    change(caller, "delete", deleted)
    answered(compare(caller, caller.create("a boat"), old, "supersedes"))
    assert ["ferry of today"] == found(caller, "ferry")


@pytest.mark.parametrize(
    "members",
    [
        {"tag": "north"},
        {"type": "task"},
        {"category": "project"},
        {"fact_key": "nine"},
        {"topic_key": "ferry"},
    ],
    ids=str,
)
def test_a_filter_narrows_the_search(members: Json, caller: Caller) -> None:
    given = {name: [value] if name == "tag" else value for name, value in members.items()}
    caller.create("ferry one", **{name.replace("tag", "tags"): value for name, value in given.items()})
    caller.create("ferry two")
    assert ["ferry one"] == found(caller, "ferry", **members)


def test_the_limit_is_one_to_fifty_and_ten_unless_told(caller: Caller) -> None:
    for number in range(51):
        caller.create(f"ferry {number}")
    for limit, shown in ((None, 10), (1, 1), (50, 50)):
        assert shown == len(search(caller, "ferry", limit=limit, relations_limit=0))
    for wrong in (0, 51):
        assert INVALID == refusal(caller.ask(PATH, text="ferry", limit=wrong))


@pytest.mark.parametrize(
    "members",
    [{"text": " "}, {"text": "t", "category": " "}, {"text": "t", "topic_key": ""}, {"text": "t", "order": "best"}, {}],
    ids=str,
)
def test_a_search_that_breaks_a_rule_is_refused(members: Json, caller: Caller) -> None:
    assert INVALID == refusal(caller.ask(PATH, **members))


def test_text_without_words_finds_nothing(caller: Caller) -> None:
    caller.create("!?!")
    assert [] == found(caller, "!?!")


def test_a_long_search_is_answered(caller: Caller) -> None:
    caller.create("ferry")
    assert ["ferry"] == found(caller, "ferry " + " ".join(f"w{number}" for number in range(9_000)))


# Topic keys


def suggestion(caller: Caller, content: str, title: str | None = None) -> Json:
    answer = answered(caller.ask(TOPIC_KEYS, title=title, content=content))
    return {name: answer[name] for name in ("topic_key", "reason", "occupied", "occupant", "nearby")}


def test_a_key_is_made_of_telling_words_and_is_the_same_again(caller: Caller) -> None:
    first = suggestion(caller, "whatever", "The Timetable of the Northern Ferry")
    expected = {"topic_key": "timetable-northern-ferry", "reason": None, "occupied": False, "occupant": None}
    assert {**expected, "nearby": []} == first
    assert first == suggestion(caller, "whatever", "The Timetable of the Northern Ferry")
    assert "whatever-works" == suggestion(caller, "Whatever works")["topic_key"]
    assert "whatever-works" == suggestion(caller, "Whatever works", "The")["topic_key"]
    assert 6 == suggestion(caller, "one two three four five six seven")["topic_key"].count("-") + 1


def test_there_may_be_no_key_and_then_there_is_a_reason(caller: Caller) -> None:
    none = suggestion(caller, "the … of")
    assert (None, False) == (none["topic_key"], none["occupied"])
    assert none["reason"]


def test_the_occupant_of_the_slot_is_named(caller: Caller) -> None:
    first = saved(caller, "leaves at nine", title="Timetable", topic_key="northern-ferry")
    answer = suggestion(caller, "leaves at ten", "Northern ferry")
    assert (True, {**first, "title": "Timetable"}) == (answer["occupied"], answer["occupant"])
    change(caller, "archive", first)
    assert suggestion(caller, "leaves at ten", "Northern ferry")["occupied"] is False


def test_at_most_five_topics_of_similar_records_are_nearby(caller: Caller) -> None:
    keys = [f"topic-{number}" for number in range(7)]
    for number, key in enumerate(keys):
        saved(caller, "the ferry leaves " + "now " * number, topic_key=key)
    answer = suggestion(caller, "the ferry leaves")
    nearby = [one["topic_key"] for one in answer["nearby"]]
    assert 5 == len(nearby)
    assert set(nearby) <= set(keys)
    assert [] == suggestion(caller, "submarine")["nearby"]


def test_characters_that_only_python_calls_blank_are_text(caller: Caller) -> None:
    caller.create("\x1c\x1f")
    assert [] == found(caller, "\x1c")
    assert suggestion(caller, "\x1c")["topic_key"] is None


@pytest.mark.parametrize(
    "members", [{"content": " "}, {"content": "c" * 49153}, {"content": "c", "title": "ü" * 101}], ids=lambda one: "x"
)
def test_a_suggestion_obeys_the_rules_of_a_record(members: Json, caller: Caller) -> None:
    assert INVALID == refusal(caller.ask(TOPIC_KEYS, **members))


def test_what_a_reader_is_not_given_is_not_suggested_and_keeps_its_title_to_itself(caller: Caller) -> None:
    holder = saved(caller, "the ferry leaves", title="Ferry leaves", topic_key="ferry-leaves")
    other = saved(caller, "the ferry leaves late", topic_key="late")
    before = suggestion(caller, "the ferry leaves", "Ferry leaves")
    assert "Ferry leaves" == before["occupant"]["title"]
    assert [{"topic_key": "late", "record_id": other["record_id"]}] == before["nearby"]
    for record in (holder, other):
        change(caller, "review", record, disposition="rejected", evidence_ref="note/1")
    after = suggestion(caller, "the ferry leaves", "Ferry leaves")
    assert after["occupied"], "the slot is taken all the same"
    assert (None, []) == (after["occupant"]["title"], after["nearby"])


def test_nothing_of_another_partition_is_found_or_suggested(admin: Caller) -> None:
    here = scope()
    there = {**here, "agent_id": "other"}
    caller = issue(admin, scope=here, grants=[here, there])
    foreign = caller.at(agent_id="other")
    save(foreign, "the ferry leaves", topic_key="ferry-leaves")
    assert [] == search(caller, "ferry")
    answer = suggestion(caller, "ferry leaves")
    assert (False, []) == (answer["occupied"], answer["nearby"])
