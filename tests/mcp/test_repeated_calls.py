"""A call that is made again within ten minutes is one call, unless what it made has gone since (to be shown 5)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from relatum.client import AsyncClient
from relatum.clock import Clock, ManualClock, SystemClock
from relatum.entropy import SystemEntropy
from relatum.mcp.caller import Caller as ToolCaller
from relatum.mcp.calls import WINDOW_MILLIS
from relatum.mcp.table import TOOLS, Offer
from tests.http.client import Api, Caller, issue
from tests.http.serving import Server, initialise
from tests.mcp.hosts import host

pytestmark = pytest.mark.anyio

SAVE: dict[str, Any] = {"content": "The cable of rack 4 was pulled out.", "tags": ["rack-4"]}


async def made(caller: Caller, url: str, tool: str, arguments: dict[str, Any], clock: Clock | None = None) -> str:
    """The id that a call of a host of its own answers: no two of them share anything but the credential."""
    async with AsyncClient(url, secret=caller.secret) as client:
        one = ToolCaller(client, {}, Offer(), clock=clock or SystemClock(), entropy=SystemEntropy(), shown=[])
        answer = await one.run(TOOLS[tool], arguments)
    assert answer["ok"], answer
    return str(answer["id"])


async def test_the_same_call_twice_at_once_makes_one_record(caller: Caller, url: str) -> None:
    ids: list[str] = []

    async def call() -> None:
        ids.append(await made(caller, url, "memory_save", SAVE))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(call)
    assert 1 == len(set(ids))
    assert 1 == len(caller.ask("/api/v1/memory/records/query", filter={}).json()["page"]["records"])


@pytest.mark.parametrize("tool", ["memory_save", "remember", "memory_graph", "relation_assert", "memory_link"])
async def test_a_call_is_one_in_its_window_and_the_next_and_made_anew_later(
    caller: Caller, url: str, tool: str
) -> None:
    first, second = caller.create("cause"), caller.create("effect")
    ends = {"source_id": first["record_id"], "target_id": second["record_id"]}
    arguments: dict[str, Any] = {
        "memory_save": SAVE,
        "remember": {"content": "It was pulled out.", "derived_from": [first["record_id"]]},
        "memory_graph": {"action": "upsert_fact", "text": "It was pulled out."},
        "relation_assert": {**ends, "kind": "causal_claim", "evidence": "incident-17"},
        "memory_link": {**ends, "rel": "leads_to"},
    }[tool]
    clock = ManualClock(100 * WINDOW_MILLIS + WINDOW_MILLIS // 2)
    ids = [await made(caller, url, tool, arguments, clock) for _ in range(2)]
    clock.advance(WINDOW_MILLIS - 1)
    ids.append(await made(caller, url, tool, arguments, clock))
    assert 1 == len(set(ids))
    clock.advance(2 * WINDOW_MILLIS)
    assert ids[0] != await made(caller, url, tool, arguments, clock)
    assert ids[0] != await made(caller, url, tool, {**arguments, "idempotency_key": "mine"}, clock)


async def test_after_it_was_forgotten_or_superseded_it_is_made_anew(caller: Caller, url: str) -> None:
    async with host(caller, url) as agent:
        first = await agent.call("memory_save", **SAVE)
        await agent.call("forget", id=first["id"])
        second = await agent.call("memory_save", **SAVE)
        again = await agent.call("memory_save", **SAVE)
        other = await agent.call("memory_save", content="The cable of rack 4 is back in its place.")
        verdict = {"memoryIdA": other["id"], "memoryIdB": second["id"], "relation": "supersedes", "confidence": 1}
        await agent.call("memory_compare", **verdict)
        third = await agent.call("memory_save", **SAVE)
        once_more = await agent.call("memory_save", **SAVE)
    assert (second["id"], third["id"]) == (again["id"], once_more["id"])
    assert 3 == len({first["id"], second["id"], third["id"]})


async def test_a_relation_that_was_retired_is_asserted_anew(caller: Caller, url: str) -> None:
    ends = {"source_id": caller.create("cause")["record_id"], "target_id": caller.create("effect")["record_id"]}
    async with host(caller, url) as agent:
        first = await agent.call("memory_link", **ends, rel="leads_to")
        changed = {"action": "retire", "expected_revision": "1", "evidence": "a mistake"}
        assert "retired" == (await agent.call("relation_change", id=first["id"], **changed))["state"]
        assert first["id"] != (await agent.call("memory_link", **ends, rel="leads_to"))["id"]


@pytest.mark.slow  # two servers are started for it
async def test_a_server_started_again_knows_the_call(tmp_path: Path) -> None:
    secret = initialise(tmp_path / "store")
    ids: list[str] = []
    known: Caller | None = None
    for _ in range(2):
        with Server(tmp_path / "store") as running, Api(running.url) as api:
            known = known or issue(Caller(api, secret))
            ids.append(await made(known, running.url, "memory_save", SAVE))
            running.process.kill()
    assert 1 == len(set(ids))
