"""Arguments as hosts send them are taken where they can be meant, and refused by place where not (to be shown 7)."""

from __future__ import annotations

from typing import Any

import pytest

from relatum.mcp import arguments
from relatum.mcp.numbers import exact, millis_of, time_of
from relatum.mcp.refusals import ToolRefused
from relatum.mcp.table import TOOLS

U64 = 2**64 - 1


def read(tool: str, **given: Any) -> dict[str, Any]:
    return arguments.read(TOOLS[tool].takes, given)


@pytest.mark.parametrize(
    ("tool", "given", "name", "taken"),
    [
        ("memory_get_batch", {"ids": '["a","b"]'}, "ids", ["a", "b"]),
        ("memory_get_batch", {"ids": ["a"], "relations_limit": "3"}, "relations_limit", 3),
        ("memory_search", {"query": "5"}, "query", "5"),
        ("memory_search", {"query": "x", "exclude_stale": "true"}, "exclude_stale", True),
        ("memory_search", {"query": "x", "tag": None}, "limit", 8),
        ("memory_search", {"query": "x", "limit": 7.0}, "limit", 7),
        ("memory_save", {"content": "x", "data": '{"a":1}'}, "data", {"a": 1}),
        ("memory_save", {"content": '["x"]'}, "content", '["x"]'),
        ("memory_save", {"content": "x", "confidence": "0.5"}, "confidence", 0.5),
        ("memory_save", {"content": "x", "event_time": "1969-12-31T23:59:59.999Z"}, "event_time", -1),
        ("memory_save", {"content": "x", "event_time": str(2**63 - 1)}, "event_time", 2**63 - 1),
        ("forget", {"id": "x", "expected_revision": str(U64)}, "expected_revision", U64),
        ("forget", {"id": "x", "expected_revision": 2**53 - 1}, "expected_revision", 2**53 - 1),
        (
            "memory_judge_batch",
            {"judgments": '[{"judgmentId":"x","relation":"related","evidence":"{}"}]'},
            "judgments",
            [{"judgmentId": "x", "relation": "related", "evidence": {}}],
        ),
    ],
)
def test_what_can_be_meant_is_taken(tool: str, given: dict[str, Any], name: str, taken: Any) -> None:
    assert taken == read(tool, **given)[name]


@pytest.mark.parametrize(
    ("tool", "given", "places"),
    [
        ("memory_search", {}, ["query: must be given"]),
        ("memory_search", {"query": " "}, ["query: must not be blank"]),
        ("memory_search", {"query": "x", "limt": 3}, ["limt: no such member"]),
        ("memory_search", {"query": "x", "limit": "many", "tag": 3}, ["limit: must be a whole", "tag: must be a text"]),
        ("memory_search", {"query": "x", "limit": 51}, ["limit: must lie between 1 and 50"]),
        ("memory_get_batch", {"ids": ["a", 3]}, ["ids[1]: must be a text"]),
        ("memory_get_batch", {"ids": []}, ["ids: must have 1 to 20 entries"]),
        ("memory_get_batch", {"ids": "[[1]"}, ["ids: must be a list"]),
        ("memory_save", {"content": "x", "data": '"{}"'}, ["data: must be an object"]),
        ("memory_save", {"content": "\ud800"}, ["content: must be a text"]),
        ("memory_save", {"content": "x", "data": {"a": float("nan")}}, ["data: must be an object"]),
        ("memory_save", {"content": "x", "data": {"a": 2**64}}, ["data: must be an object"]),
        ("memory_save", {"content": "x", "confidence": True}, ["confidence: must be a number"]),
        ("memory_save", {"content": "x", "event_time": "yesterday"}, ["event_time: must be a time"]),
        ("forget", {"id": "x", "expected_revision": 2**53}, ["expected_revision: must be a text of decimal"]),
        ("forget", {"id": "x", "expected_revision": str(2**64)}, ["expected_revision: must be a text of decimal"]),
        (
            "memory_judge_batch",
            {"judgments": [{"judgmentId": "x", "relation": "likes", "why": "rtm1"}]},
            ["judgments[0].why: no such member", "judgments[0].relation: must be one of"],
        ),
    ],
)
def test_what_can_not_be_meant_is_refused_by_place_and_never_quoted(
    tool: str, given: dict[str, Any], places: list[str]
) -> None:
    with pytest.raises(ToolRefused) as refused:
        read(tool, **given)
    assert "invalid_request" == refused.value.code
    told = refused.value.message.split("; ")
    assert len(places) <= len(told)
    assert all(any(one.startswith(place) for one in told) for place in places)
    assert not any(secret in refused.value.message for secret in ("many", "likes", "rtm1", "yesterday"))


@pytest.mark.parametrize(
    ("millis", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        (253_402_300_800_000, "253402300800000"),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (-62_135_596_800_001, "-62135596800001"),
        (2**63 - 1, str(2**63 - 1)),
    ],
)
def test_times_go_both_ways(millis: int, text: str) -> None:
    assert text == time_of(millis)
    assert millis == millis_of(text)


def test_only_integers_that_a_double_can_not_hold_become_texts() -> None:
    held, beyond = 2**53 - 1, 2**53
    given = {"a": [held, beyond, -held, -beyond], "b": {"c": True, "d": 0.5, "e": None}}
    assert {"a": [held, str(beyond), -held, str(-beyond)], "b": {"c": True, "d": 0.5, "e": None}} == exact(given)
