"""What hosts and models are shown keeps within its bounds, and says what the tools do (mcp.md, to be shown 4)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from relatum.client import errors
from relatum.errors import Code
from relatum.http.route_table import ROUTES
from relatum.http.routes import Needs, Route
from relatum.mcp import guide
from relatum.mcp.budget import compact, estimated
from relatum.mcp.refusals import HINTS, RETRYABLE
from relatum.mcp.table import SETS, TOOLS, names_of
from relatum.mcp.tool import Tool

PERMITTED = {
    "type",
    "properties",
    "required",
    "items",
    "enum",
    "description",
    "default",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "minLength",
    "additionalProperties",
}
EVERY = [*TOOLS.values(), *(tool.reading for tool in TOOLS.values() if tool.reading is not None)]


def schemas(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema and those within it."""
    yield schema
    for inner in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])):
        yield from schemas(inner)


@pytest.mark.parametrize("tool", EVERY, ids=lambda tool: f"{tool.name}-{'writes' if tool.writes else 'reads'}")
def test_an_input_schema_is_one_closed_object_of_permitted_keywords(tool: Tool) -> None:
    schema = tool.input_schema()
    assert "object" == schema["type"]
    for each in schemas(schema):
        assert set(each) <= PERMITTED
        assert isinstance(each["type"], str)
        assert ("properties" in each) == (each.get("additionalProperties") is False)
        assert set(each.get("required", ())) <= set(each.get("properties", ()))


@pytest.mark.parametrize("tool", EVERY, ids=lambda tool: tool.name)
def test_an_output_schema_is_flat_open_and_requires_ok_alone(tool: Tool) -> None:
    schema = tool.output_schema()
    assert (["ok"], "object") == (schema["required"], schema["type"])
    assert "additionalProperties" not in schema
    assert all(set(each) <= {"type"} for each in schema["properties"].values())


def size(names: frozenset[str]) -> int:
    shown = [{"name": one.name, "description": one.about, "inputSchema": one.input_schema()} for one in EVERY]
    return sum(estimated(compact(one)) for one, tool in zip(shown, EVERY, strict=True) if tool in written(names))


def written(names: frozenset[str]) -> list[Tool]:
    return [TOOLS[name] for name in names]


def test_definitions_descriptions_and_instructions_keep_within_their_sizes() -> None:
    assert size(SETS["core"]) <= 3_400
    assert size(SETS["full"]) <= 8_000
    assert {} == {one.name: len(one.about) for one in EVERY if len(one.about) > 900}
    assert len(guide.INSTRUCTIONS) <= 1_600


def test_names_are_taken_by_every_host_and_sets_are_those_of_the_contract() -> None:
    assert all(re.fullmatch("[a-z_]{1,40}", name) for name in TOOLS)
    assert {"core": 8, "judgments": 8, "facts": 4, "graph": 1, "ledger": 6, "full": 19} == {
        name: len(tools) for name, tools in SETS.items()
    }
    assert SETS["facts"] | SETS["graph"] == names_of("facts, graph")
    with pytest.raises(ValueError, match="a set of tools is one of"):
        names_of("core,everything")


def needed() -> dict[str, set[tuple[str, ...]]]:
    """By tool, the capabilities that the routes of the contract's table need, one set for each thing it does."""
    by_path = {route.path: route for route in ROUTES if isinstance(route, Route)}

    def read(path: str) -> tuple[str, ...]:
        needs = by_path[f"/api/v1/memory/{path}"].access
        assert isinstance(needs, Needs)
        return tuple(needs.words.split(" and "))

    assert ("memory_read",) == read("records/search")
    return {path: {read(path)} for path in ("context", "records/search", "records/annotated", "graph/typed")} | {
        path: {read(path)} for path in ("judgments/batch", "judgments/compare", "records/confirm", "links/commands")
    }


ROUTES_OF: dict[str, tuple[str, ...]] = {
    "memory_context": ("context",),
    "memory_search": ("records/search",),
    "memory_get_batch": ("records/annotated",),
    "memory_judge_batch": ("judgments/batch",),
    "memory_compare": ("judgments/compare",),
    "memory_confirm_batch": ("records/confirm",),
    "memory_graph": ("links/commands",),
    "memory_walk": ("graph/typed",),
}


@pytest.mark.parametrize("name", ROUTES_OF)
def test_hints_say_what_the_routes_need(name: str) -> None:
    tool, needs = TOOLS[name], needed()
    found = {each for path in ROUTES_OF[name] for each in needs[path]}
    assert {tuple(sorted(each)) for each in found} == {tuple(sorted(each)) for each in tool.needs}
    assert tool.writes == any("memory_write" in each for each in found)


def test_what_may_be_lost_or_repeated_is_marked_as_in_the_contract() -> None:
    assert ["forget"] == [one.name for one in EVERY if one.destructive]
    idempotent = {one.name for one in TOOLS.values() if one.writes and one.hints()["idempotent_hint"]}
    assert {"memory_judge_batch", "forget", "relation_change"} == idempotent
    for tool in EVERY:
        assert not tool.hints()["open_world_hint"]
        assert tool.writes == any("memory_write" in each for each in tool.needs)
    not_marked = [one for one in TOOLS.values() if one.writes and not one.hints()["idempotent_hint"]]
    assert [] == [one.name for one in not_marked if not re.search(r"adds|once", one.about)]


def test_there_is_a_hint_for_every_code() -> None:
    assert {*get_args(Code), "outcome_unknown", "unreachable"} <= set(HINTS)
    assert set(errors.BY_CODE) <= set(HINTS)
    assert RETRYABLE <= set(HINTS)
    assert json.loads(compact(dict(HINTS)))
