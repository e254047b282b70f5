"""Over both transports and in both eras of the protocol the server is the same (mcp.md, to be shown 1).

The client is that of the package, and holds every `structuredContent` to the listed `outputSchema`.
"""

from __future__ import annotations

import pytest
from mcp.shared.exceptions import MCPError

from relatum.mcp.table import SETS, TOOLS
from tests.http.client import ABSENT, Caller
from tests.mcp.every_tool import call_every_tool
from tests.mcp.hosts import Era, Transport, host
from tests.support.matrix import matrix

pytestmark = pytest.mark.anyio

TRANSPORTS: list[Transport] = ["stdio", "http"]
ERAS: list[Era] = ["legacy", "2026-07-28"]


@pytest.mark.parametrize(("transport", "era"), matrix(TRANSPORTS, ERAS))
async def test_every_tool_answers_and_what_fails_is_told_as_a_result(
    caller: Caller, url: str, transport: Transport, era: Era
) -> None:
    async with host(caller, url, transport, era) as agent:
        listed = await agent.client.list_tools()
        assert list(TOOLS) == [tool.name for tool in listed.tools]
        assert all(tool.output_schema and tool.annotations for tool in listed.tools)

        said = await call_every_tool(agent)
        assert set(TOOLS) == set(said)
        assert said["memory_graph"]["health"]["records"] == 2
        assert "stale" == said["search"]["memories"][0]["status"]
        assert 1 == said["validate_memory"]["stale_count"]
        assert {"id": said["relation_assert"]["id"], "revision": "2", "state": "active"}.items() <= (
            said["relation_change"].items()
        )
        assert 5 == len(said["memory_changes"]["changes"])

        missing = await agent.refused("forget", id=ABSENT)
        assert "record_not_found" == missing["code"]
        assert missing["hint"]
        verdict = {"judgmentId": ABSENT, "relation": "related"}
        failed = await agent.refused("memory_judge_batch", judgments=[verdict, verdict])
        assert ["candidate_not_found"] * 2 == [one["code"] for one in failed["results"]]
        with pytest.raises(MCPError, match="no such tool"):
            await agent.client.call_tool("memory_burn", {})


async def test_resources_and_prompts_are_there(caller: Caller, url: str) -> None:
    async with host(caller, url) as agent:
        saved = await agent.call("memory_save", content="The rack has a spare fan.", title="Spare fan")
        pin = {"type": "pin", "record_id": saved["id"], "expected_revision": 1}
        assert caller.command("/api/v1/memory/records", **pin).status_code == 200
        listed = await agent.client.list_resources()
        uris = [str(one.uri) for one in listed.resources]
        assert ["relatum://guide", "relatum://health", f"relatum://record/{saved['id']}"] == uris
        texts = [(await agent.client.read_resource(uri)).contents[0].text for uri in uris]  # type: ignore[union-attr]
        assert ["# How to", '{"state"', '{"id":"0'] == [text[:8] for text in texts]
        assert "The rack has a spare fan." in texts[2]
        templates = await agent.client.list_resource_templates()
        assert ["record", "relation"] == [one.name for one in templates.resource_templates]
        with pytest.raises(MCPError, match="no such resource"):
            await agent.client.read_resource(f"relatum://record/{ABSENT}")

        prompts = await agent.client.list_prompts()
        assert ["start_work", "review_queue", "save_session"] == [one.name for one in prompts.prompts]
        begun = await agent.client.get_prompt("start_work", {"task": "mend the rack"})
        assert "The rack has a spare fan." in begun.messages[0].content.text  # type: ignore[union-attr]
        queue = await agent.client.get_prompt("review_queue")
        assert '"pendingJudgmentsTotal":0' in queue.messages[0].content.text  # type: ignore[union-attr]
        with pytest.raises(MCPError, match="no such prompt"):
            await agent.client.get_prompt("start_work", {})


async def test_text_only_leaves_the_structure_away(caller: Caller, url: str) -> None:
    async with host(caller, url, query="text_only=true") as agent:
        listed = await agent.client.list_tools()
        assert [None] * len(SETS["core"]) == [tool.output_schema for tool in listed.tools]
        result = await agent.client.call_tool("memory.search", {"query": "rack"})
        assert result.structured_content is None


async def test_what_is_listed_is_what_the_credential_allows(admin: Caller, url: str) -> None:
    from tests.http.client import issue

    reader = issue(admin, capabilities=["memory_read"])
    async with host(reader, url) as agent:
        tools = {tool.name: tool for tool in (await agent.client.list_tools()).tools}
        assert {name for name, tool in TOOLS.items() if not tool.writes} | {"memory_graph"} == set(tools)
        actions = tools["memory_graph"].input_schema["properties"]["action"]["enum"]
        assert ["overview", "search", "validate"] == actions
        assert tools["memory_graph"].annotations.read_only_hint  # type: ignore[union-attr]
        refused = await agent.refused("memory_save", content="not mine to say")
        assert "forbidden" == refused["code"]
    async with host(reader, url, "stdio", query="tools=core&read_only=true") as agent:
        with pytest.raises(MCPError, match="no such tool"):
            await agent.client.call_tool("memory_save", {"content": "not here"})
        refused = await agent.refused("memory_graph", action="upsert_fact", text="not here")
        assert "invalid_request" == refused["code"]
