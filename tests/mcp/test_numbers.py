"""Integers of 64 bits pass through every tool that has one, unchanged, in structure and in text (to be shown 2).

No server comes to such a revision in a test's time, so that one stands in that answers with it; what is asked of it and
what is answered is looked at on the wire.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import msgspec
import pytest
from mcp import Client

from relatum.client import AsyncClient
from relatum.clock import ManualClock
from relatum.entropy import SystemEntropy
from relatum.mcp.caller import Caller
from relatum.mcp.protocol import server
from relatum.mcp.table import TOOLS, Offer

pytestmark = pytest.mark.anyio

NUMBERS = [2**53 - 1, 2**53, 2**53 + 1, 2**63, 2**64 - 1]
ID, OTHER = "01a22fb4-d7a3-7e8f-bb78-84e7a29e91f0", "01a22fb4-d7b7-7009-abc6-a874c249e454"
SECRET = f"rtm1_{'0' * 32}_{'A' * 43}"
AUTHOR = {"credential_id": ID, "subject_id": "ada"}
Body = dict[str, Any]


def record(number: int) -> Body:
    said = dict.fromkeys(
        ("title", "category", "topic_key", "fact_key", "provenance", "confidence", "event_time_millis")
    )
    return {
        "record_id": ID,
        "revision": number,
        "created_at_millis": 0,
        "modified_at_millis": 0,
        "author": AUTHOR,
        "state": "active",
        "input": {
            "type": "memory",
            "content": "x",
            "data": {"n": number, "m": [-min(number, 2**63)]},
            "tags": [],
            **said,
        },
        "review": None,
        "derivation": None,
    }


def relation(number: int) -> Body:
    provenance = {
        "origin": "human_statement",
        "method": "m",
        "method_revision": "1",
        "evidence_ref": "e",
        "model": None,
    }
    ends = {"source": {"record_id": ID, "revision": number}, "target": {"record_id": OTHER, "revision": number}}
    validity = {"valid_from_millis": None, "valid_until_millis": None}
    return {
        "relation_id": OTHER,
        "revision": number,
        "input": {**ends, "kind": "supports", "provenance": provenance, **validity},
        "reported_by": AUTHOR,
        "created_at_millis": 0,
        "modified_at_millis": 0,
        "state": "active",
        "review": None,
    }


def answers(number: int) -> dict[str, Body]:
    """By route, an answer in which every integer of 64 bits is `number`."""
    standing = {"state": "current", "pinned": False, "superseded_by": None, "replaces": []}
    item = {"record": record(number), "standing": standing, "relations": [], "relations_total": 0}
    receipt = {"record_id": ID, "relation_id": OTHER, "revision": number, "committed_at_millis": 0}
    coverage = {"complete": True, "stop_reasons": []}
    cursor = {"sequence": number, "journal_id": ID, "prefix_digest": "a" * 64}
    change = {"kind": "revised", "record_id": ID, "record_revision": number, "author": AUTHOR, "committed_at_millis": 0}
    node = {"record_id": ID, "revision": number, "title": None, "preview": "x", "degree": 0}
    health = dict.fromkeys(("state", "records", "linked", "isolated", "conflicts", "red"), 0)
    return {
        "records/search": {"records": [item]},
        "records/annotated": {"records": [item]},
        "records/read": {"record": record(number)},
        "records/batch": {
            "batch": {
                "evaluated_at_millis": 0,
                "entries": [{"record_id": one, "record": {**record(number), "record_id": one}} for one in (ID, OTHER)],
            }
        },
        "records/commands": {"receipt": receipt},
        "relations/commands": {"receipt": receipt},
        "relations/read": {"relation": relation(number)},
        "graph/typed": {
            "graph": {
                "nodes": [{"record": {**record(number), "record_id": one}, "depth": 0} for one in (ID, OTHER)],
                "edges": [relation(number)],
                "coverage": coverage,
            }
        },
        "graph/overview": {"graph": {"nodes": [node], "edges": []}},
        "graph/health": health,
        "records/changes": {
            "page": {"changes": [{"cursor": cursor, "change": change}], "next_cursor": cursor, "complete": True}
        },
    }


class Wire:
    """A server that answers with one number, and keeps what it was asked."""

    def __init__(self, number: int) -> None:
        self.asked: dict[str, Body] = {}
        self._answers = answers(number)

    def __call__(self, request: httpx.Request) -> httpx.Response:
        route = request.url.path.removeprefix("/api/v1/memory/")
        if not request.content:  # who the caller is
            return httpx.Response(401, json={"contract_version": 1, "error": {"code": "unauthorized", "message": "?"}})
        self.asked[route] = msgspec.json.decode(request.content)
        if route == "receipts/read":
            error = {"contract_version": 1, "error": {"code": "record_not_found", "message": "none"}}
            return httpx.Response(404, json=error)
        return httpx.Response(200, content=msgspec.json.encode({"contract_version": 1, **self._answers[route]}))


ENDS = {"source_id": ID, "target_id": OTHER}
CALLS: list[tuple[str, Callable[[str], Body], str, Callable[[Body], Any]]] = [
    # the tool, its arguments, the route on which the number is asked for, and where it is answered
    ("memory_search", lambda _: {"query": "x"}, "", lambda found: found["memories"][0]["revision"]),
    ("memory_search", lambda _: {"query": "x"}, "", lambda found: str(found["memories"][0]["data"]["n"])),
    ("memory_get_batch", lambda _: {"ids": [ID]}, "", lambda found: found["memories"][0]["revision"]),
    (
        "memory_save",
        lambda n: {"content": "x", "data": {"n": int(n)}},
        "records/commands",
        lambda found: found["revision"],
    ),
    ("forget", lambda n: {"id": ID, "expected_revision": n}, "records/commands", lambda found: found["revision"]),
    ("forget", lambda _: {"id": ID}, "records/commands", lambda found: found["revision"]),
    (
        "memory_graph",
        lambda n: {"action": "upsert_fact", "text": "x", "id": ID, "expected_revision": n},
        "records/commands",
        lambda found: found["revision"],
    ),
    ("memory_graph", lambda _: {"action": "overview"}, "", lambda found: found["nodes"][0]["revision"]),
    (
        "relation_assert",
        lambda n: {**ENDS, "kind": "supports", "evidence": "e", "source_revision": n, "target_revision": n},
        "relations/commands",
        lambda found: found["source"]["revision"],
    ),
    (
        "relation_assert",
        lambda _: {**ENDS, "kind": "supports", "evidence": "e"},
        "relations/commands",
        lambda found: found["target"]["revision"],
    ),
    (
        "relation_change",
        lambda n: {"id": OTHER, "action": "retire", "expected_revision": n, "evidence": "e"},
        "relations/commands",
        lambda found: found["revision"],
    ),
    ("relation_get", lambda _: {"ids": [OTHER]}, "", lambda found: found["relations"][0]["source"]["revision"]),
    ("memory_link", lambda _: {**ENDS, "rel": "supports"}, "relations/commands", lambda found: found["revision"]),
    ("memory_walk", lambda _: {"ids": [ID]}, "", lambda found: found["edges"][0]["revision"]),
    ("memory_changes", lambda _: {"stream": "records"}, "", lambda found: found["changes"][0]["revision"]),
    (
        "memory_changes",
        lambda n: {"stream": "records", "after": f"{n}.{ID}.{'a' * 64}"},
        "records/changes",
        lambda found: found["next"].partition(".")[0],
    ),
]


@pytest.mark.parametrize("number", NUMBERS)
async def test_every_tool_keeps_all_64_bits(number: int) -> None:
    wire = Wire(number)
    async with AsyncClient.over(httpx.MockTransport(wire), secret=SECRET) as client:
        scope = {"project_id": "p", "agent_id": "a"}
        offer = Offer(frozenset(TOOLS))
        one = Caller(client, scope, offer, clock=ManualClock(0), entropy=SystemEntropy(), shown=[])
        async with Client(server(lambda _: one)) as agent:
            for tool, arguments, asked, place in CALLS:
                result = await agent.call_tool(tool, arguments(str(number)))
                text = json.loads(result.content[0].text)  # type: ignore[union-attr]
                assert result.structured_content == text
                assert str(number) == place(text), tool
                if asked:
                    assert str(number) in json.dumps(wire.asked[asked]), tool
                    assert f'"{number}"' not in json.dumps(wire.asked[asked]), tool
