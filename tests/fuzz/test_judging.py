"""The fuzzer can fail: a document that promises what the server does not keep, and answers that must not be."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import httpx
import pytest
from schemathesis import Response

from tests.fuzz import campaign, cases, judging
from tests.fuzz.known import Json
from tests.fuzz.world import World
from tests.http.client import IDENTITY, RECORDS

READ, QUERY, STREAM = f"{RECORDS}/read", f"{RECORDS}/query", f"{RECORDS}/changes/stream"
CASES = 75
CAMPAIGNS_MAX = 6
HEADERS = {"cache-control": "no-store", "x-content-type-options": "nosniff"}


def only(document: Json, method: str, path: str) -> tuple[Json, Json]:
    """A copy of a document with one operation, and that operation."""
    operation = copy.deepcopy(document["paths"][path][method])
    return {**copy.deepcopy(document), "paths": {path: {method: operation}}}, operation


def without_a_status(document: Json) -> Json:
    changed, operation = only(document, "post", READ)
    del operation["responses"]["404"]
    return changed


def without_a_member(document: Json) -> Json:
    changed, _ = only(document, "post", QUERY)
    del changed["components"]["schemas"]["RecordPage"]["properties"]["stop_reason"]
    changed["components"]["schemas"]["RecordPage"]["required"].remove("stop_reason")
    return changed


def with_a_header_more(document: Json) -> Json:
    changed, operation = only(document, "get", IDENTITY)
    operation["responses"]["200"]["headers"]["X-Promised"] = {"required": True, "schema": {"type": "string"}}
    return changed


def with_another_type(document: Json) -> Json:
    changed, operation = only(document, "get", IDENTITY)
    content = operation["responses"]["200"]["content"]
    content["application/xml"] = content.pop("application/json")
    return changed


def with_obligations_more(document: Json) -> Json:
    changed, _ = only(document, "post", QUERY)
    changed["components"]["schemas"]["RecordFilter"]["required"] = ["limit", "order"]
    return changed


PLANTED = [
    (without_a_status, "Undocumented status code"),
    (without_a_member, "Response violates schema"),
    (with_a_header_more, "Missing required response headers"),
    (with_another_type, "Undocumented Content-Type"),
    (with_obligations_more, "Schema-violating request accepted"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("plant", "title"), PLANTED)
def test_a_promise_that_the_server_does_not_keep_is_noticed(
    world: World, plant: Callable[[Json], Json], title: str
) -> None:
    planted = replace(world, document=plant(world.document))
    # Ids differ from run to run, and with them what some cases meet: a plant has several campaigns to be met in.
    reports = (campaign.run(planted, CASES, seed) for seed in range(CAMPAIGNS_MAX))
    report = next(report for report in reports if report.faults)
    assert {title} == {found for _, found in report.faults}


def titles(world: World, path: str, status: int, *, barred: bool = False, **answer: Any) -> list[str]:
    """What is wrong with an answer to a sound request for `path`."""
    document, _ = only(world.document, "post", path)
    [operation] = cases.operations(cases.schema_of(document))
    case = cases.drawn(operation, 1, seed=0)[0]
    headers = {**HEADERS, **answer.pop("headers", {})}
    response = httpx.Response(status, headers=headers, request=httpx.Request("POST", f"{world.url}{path}"), **answer)
    response.elapsed = timedelta()
    return [fault.title for fault in judging.faults(case, Response.from_any(response), barred=barred)]


def problem(code: str) -> Json:
    return {"contract_version": 1, "error": {"code": code, "message": "a message"}}


@pytest.mark.slow
def test_a_server_error_is_a_fault_although_it_is_documented(world: World) -> None:
    assert ["Server error"] == titles(world, READ, 500, json=problem("internal_error"))


@pytest.mark.slow
def test_a_busy_server_is_none_if_it_says_when_to_come_again(world: World) -> None:
    busy = problem("retrieval_busy")
    assert [] == titles(world, QUERY, 503, json=busy, headers={"retry-after": "1"})
    assert ["Missing required response headers"] == titles(world, QUERY, 503, json=busy)


@pytest.mark.slow
def test_a_code_that_the_operation_does_not_have_is_a_fault(world: World) -> None:
    assert ["Response violates schema"] == titles(world, READ, 404, json=problem("checkpoint_not_found"))


@pytest.mark.slow
def test_nobody_is_told_so_and_nothing_else(world: World) -> None:
    told = {"json": problem("unauthorized"), "headers": {"www-authenticate": "Bearer"}}
    assert [] == titles(world, READ, 401, barred=True, **told)
    assert ["Nobody was let in"] == titles(world, READ, 403, barred=True, json=problem("forbidden"))


@pytest.mark.slow
def test_an_event_that_is_not_whole_is_a_fault(world: World) -> None:
    headers = {"content-type": "text/event-stream"}
    assert [] == titles(world, STREAM, 200, headers=headers, text='data: {"cursor":null}\n\n')
    for text in ('data: {"cursor":null}\n', "data: {\n\n", "event: checkpoint\n\n"):
        assert ["An event is not whole"] == titles(world, STREAM, 200, headers=headers, text=text)
