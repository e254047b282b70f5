"""Every tool of `full` once, in an order in which each has something to work on."""

from __future__ import annotations

from typing import Any

from tests.mcp.hosts import Host


async def call_every_tool(host: Host) -> dict[str, dict[str, Any]]:
    """By name, what each tool answered; whatever one did not do fails here."""
    said: dict[str, dict[str, Any]] = {}

    async def call(name: str, **arguments: Any) -> dict[str, Any]:
        said[name] = await host.call(name, **arguments)
        return said[name]

    await call("memory_context", query="how is staging deployed")
    first = await call("memory_save", content="Staging is deployed by app-staging.", category="project")
    second = await call("memory_save", content="Staging is deployed by app-production.", category="project")
    (candidate,) = second["candidates"]
    verdict = {"judgmentId": candidate["judgmentId"], "relation": "conflicts_with", "evidence": {"run": 2**60}}
    await call("memory_judge_batch", judgments=[verdict])
    await call("memory_confirm_batch", ids=[first["id"], second["id"]])
    await call("memory_search", query="staging")
    await call("memory_get_batch", ids=[second["id"], first["id"]])
    await call("memory_graph", action="overview")
    await call("memory_compare", memoryIdA=first["id"], memoryIdB=second["id"], relation="related", confidence=0.9)
    await call("memory_suggest_topic_key", title="How staging is deployed")
    fact = await call("remember", content="The deploy takes 4 minutes.", source_id="ci", source_hash="a1", scope="ci")
    await call("search", query="deploy", scope="ci", current_source_hash="b2")
    await call("validate_memory", source_id="ci", current_source_hash="b2")
    relation = await call(
        "relation_assert", source_id=fact["id"], target_id=first["id"], kind="supports", evidence="run 1"
    )
    changed = {"id": relation["id"], "expected_revision": relation["revision"], "evidence": "run 2"}
    await call("relation_change", action="review", disposition="approved", **changed)
    await call("relation_get", ids=[relation["id"]], why=True)
    await call("memory_link", source_id=fact["id"], target_id=second["id"], rel="relates_to")
    await call("memory_walk", ids=[fact["id"]])
    await call("memory_changes", stream="relations")
    await call("forget", id=fact["id"])
    return said
