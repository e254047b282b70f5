"""All tools in the order of the contract, and the sets that they are offered in (mcp.md, names)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from relatum.mcp.tool import Tool
from relatum.mcp.tools import context, facts, graph, judging, memory, relations, walks

TOOLS: Final[Mapping[str, Tool]] = {
    tool.name: tool
    for tool in (
        context.CONTEXT,
        memory.SEARCH,
        memory.GET_BATCH,
        memory.SAVE,
        judging.JUDGE_BATCH,
        judging.CONFIRM_BATCH,
        graph.GRAPH,
        memory.FORGET,
        judging.COMPARE,
        memory.SUGGEST_TOPIC_KEY,
        facts.REMEMBER,
        facts.SEARCH,
        facts.VALIDATE,
        relations.ASSERT,
        relations.CHANGE,
        relations.GET,
        relations.LINK,
        walks.WALK,
        walks.CHANGES,
    )
}

SETS: Final[Mapping[str, frozenset[str]]] = {
    "core": frozenset(
        {
            "memory_context",
            "memory_search",
            "memory_get_batch",
            "memory_save",
            "memory_judge_batch",
            "memory_confirm_batch",
            "memory_graph",
            "forget",
        }
    ),
    "judgments": frozenset(
        {
            "memory_save",
            "memory_judge_batch",
            "memory_compare",
            "memory_confirm_batch",
            "memory_search",
            "memory_get_batch",
            "memory_context",
            "memory_suggest_topic_key",
        }
    ),
    "facts": frozenset({"remember", "search", "validate_memory", "forget"}),
    "graph": frozenset({"memory_graph"}),
    "ledger": frozenset(
        {"relation_assert", "relation_change", "relation_get", "memory_link", "memory_walk", "memory_changes"}
    ),
    "full": frozenset(TOOLS),
}

SET_DEFAULT: Final = "core"

assert frozenset().union(*SETS.values()) == frozenset(TOOLS), "every tool is in a set"


class Offer(NamedTuple):
    """What a server offers to one caller."""

    names: frozenset[str] = SETS[SET_DEFAULT]
    read_only: bool = False
    text_only: bool = False
    """Answers are text blocks alone, for hosts that pass on both forms."""

    def tool(self, name: str) -> Tool | None:
        """The tool of a name, dots taken for underscores; None where it is not offered."""
        name = name.replace(".", "_")
        found = TOOLS.get(name) if name in self.names else None
        if found is None or not (found.writes and self.read_only):
            return found
        return found.reading

    def listed(self, capabilities: frozenset[str] | None) -> Iterable[Tool]:
        """The tools that a credential can do anything with, in order; all of them where that is not known."""
        for name in TOOLS:
            tool = self.tool(name)
            if tool is None:
                continue
            if capabilities is None or tool.is_allowed(capabilities):
                yield tool
            elif tool.reading is not None and tool.reading.is_allowed(capabilities):
                yield tool.reading


def names_of(sets: str) -> frozenset[str]:
    """The tools of some sets, joined by commas. Raises ValueError for an unknown set."""
    found: frozenset[str] = frozenset()
    for one in sets.split(","):
        if one.strip() not in SETS:
            raise ValueError(f"a set of tools is one of {', '.join(SETS)}, or several joined by commas")
        found |= SETS[one.strip()]
    return found
