"""What messages say (transport.md, error envelope): the member, what is permitted, which end; nothing that was sent."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from relatum.errors import Refusal
from relatum.http.decoding import BodyDecoder
from relatum.http.openapi.examples import recorded
from relatum.http.route_table import ROUTES
from relatum.http.routes import Route
from tests.http.client import ABSENT, RECORDS, RELATIONS, Caller, Json, accepted, relation

SENT = "Zzyzx-17"
"""What nobody permits, to be looked for in messages."""


def objects(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of all objects in a body, but within free JSON."""
    if isinstance(value, dict):
        yield path
        for name, member in value.items():
            if name not in ("data", "evidence"):
                yield from objects(member, (*path, name))
    elif isinstance(value, list):
        for number, member in enumerate(value):
            yield from objects(member, (*path, number))


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


def place(path: tuple[str | int, ...]) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def bodies() -> dict[str, tuple[Route[Any], Json]]:
    """Bodies of every route that takes one, by what they show."""
    routes = {route.path: route for route in ROUTES if isinstance(route, Route) and route.method == "POST"}
    exchanges = (one for one in recorded() if one.route in routes and one.status < 300 and one.request)
    return {f"{one.route} {one.name}": (routes[one.route], one.request) for one in exchanges}


BODIES = bodies()


def message(decoder: BodyDecoder[Any], body: Json) -> str | None:
    found = decoder.decode(json.dumps(body).encode())
    return found.message if isinstance(found, Refusal) else None


@pytest.mark.parametrize("name", BODIES)
def test_a_message_names_what_is_missing_and_what_is_permitted_and_nothing_that_was_sent(name: str) -> None:
    route, body = BODIES[name]
    decoder = BodyDecoder(route.takes)
    assert message(decoder, body) is None
    for path in objects(body):
        where = f" at {place(path)}" if path else ""
        strange = deepcopy(body)
        at(strange, path)[SENT] = SENT
        told = message(decoder, strange)
        assert told is not None
        assert told.startswith(f"the body has an unknown member{where}; permitted members: "), told
        assert set(at(body, path)) <= set(told.partition("permitted members: ")[2].split(", "))
        for member, value in at(body, path).items():
            _check_member(decoder, body, path, member, value)


def _check_member(decoder: BodyDecoder[Any], body: Json, path: tuple[str | int, ...], member: str, value: Any) -> None:
    where = f" at {place(path)}" if path else ""
    less, other = deepcopy(body), deepcopy(body)
    del at(less, path)[member]
    told = message(decoder, less)
    assert told in (None, f"the body lacks the required member {member}{where}"), told
    at(other, path)[member] = SENT if isinstance(value, str) else [SENT]
    told = message(decoder, other)
    if told is not None:
        assert SENT not in told
        # an object finds of its own members that they are UUIDs
        assert place(path if "no UUID" in told else (*path, member)) in told, told
        if "none of the permitted" in told and isinstance(value, str):
            assert value in told.partition("permitted values: ")[2].split(", "), told


def refused(caller: Caller, family: str, **operation: Any) -> tuple[int, str]:
    answer = caller.command(family, **operation)
    assert answer.status_code >= 400, answer.text
    return answer.status_code, answer.json()["error"]["message"]


def test_a_conflict_says_which_end_or_source_it_was(caller: Caller) -> None:
    sound, old, gone = caller.create(), caller.create(), caller.create()
    revision = {"record_id": old["record_id"], "expected_revision": 1, "record": {"content": "new"}}
    accepted(caller.command(RECORDS, type="revise", **revision))
    accepted(caller.command(RECORDS, type="delete", record_id=gone["record_id"], expected_revision=1))
    unknown = {"record_id": ABSENT, "revision": 1}
    tombstone = {**gone, "revision": 2}

    def asserting(source: Json, target: Json, *evidence: Json) -> tuple[int, str]:
        given = relation(source, target, evidence_sources=list(evidence))
        return refused(caller, RELATIONS, type="assert", relation=given)

    other = caller.create()
    assert (409, "the source is at another revision") == asserting(old, sound)
    assert (409, "the target is at another revision") == asserting(sound, old)
    assert (409, "the target is missing or not eligible") == asserting(sound, unknown) == asserting(sound, tombstone)
    evidence = "the evidence source at 1 is missing, at another revision or not eligible"
    assert (409, evidence) == asserting(sound, other, caller.create(), old)
    assert (409, evidence) == asserting(sound, other, caller.create(), unknown)
    derivation = {"sources": [sound, old], "method": "m", "method_revision": "1", "evidence_ref": "e"}
    told = refused(caller, RECORDS, type="derive", record={"content": "a summary"}, derivation=derivation)
    assert (409, "the derivation source at 1 is at another revision or not eligible") == told
    link = {"type": "link", "source_id": sound["record_id"], "target_id": gone["record_id"], "kind": "related"}
    told = refused(caller, "/api/v1/memory/links", **link)
    assert (409, "the target is deleted or archived: only active records can be linked") == told
