"""Walking relations, and following what changes (mcp.md, tools; graphs.md, feeds.md)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, get_args

from relatum.core.answers.graphs import Direction
from relatum.core.kinds import REGISTRY
from relatum.mcp.budget import cost, prefix, room
from relatum.mcp.calls import Call
from relatum.mcp.fields import flag, several, text, whole, word
from relatum.mcp.numbers import time_of
from relatum.mcp.refusals import invalid
from relatum.mcp.shapes import ref, snippet, title_of
from relatum.mcp.tool import MAX_TOKENS, Answer, Arguments, Tool
from relatum.mcp.tools.memory import MORE, given

PREVIEW_CHARACTERS: Final = 120

_TYPED_ONLY: Final = ("kinds", "direction", "include_derived")
_STREAMS: Final = {"records": "memory_records", "relations": "typed_memory_relations"}
_CURSOR: Final = re.compile(r"([0-9]{1,20})\.([0-9a-f-]{36})\.([0-9a-f]{64})")


async def walk(call: Call, arguments: Arguments) -> Answer:
    """What lies around some records, or what they were derived from."""
    if arguments["mode"] == "evidence":
        graph = await _evidence(call, arguments)
    else:
        query = {"root_record_ids": arguments["ids"], **given(arguments, "direction", "max_depth", "node_limit")}
        query |= given(arguments, "include_derived")
        if "kinds" in arguments:
            query["relation_kinds"] = arguments["kinds"]
        graph = (await call.read("graph/typed", query=query))["graph"]
    coverage = graph["coverage"]
    answer = {"ok": True, "complete": coverage["complete"], "stop_reasons": list(coverage["stop_reasons"])}
    nodes = [_node(one) for one in graph["nodes"]]
    return graph_fitted(answer, nodes, [_edge(one) for one in graph["edges"]], arguments["max_tokens"])


async def _evidence(call: Call, arguments: Arguments) -> dict[str, Any]:
    wrong = [name for name in _TYPED_ONLY if arguments.get(name)]
    if wrong:
        raise invalid("; ".join(f"{name}: goes with the mode relations" for name in wrong))
    query = {"root_record_ids": arguments["ids"], **given(arguments, "max_depth", "node_limit")}
    graph: dict[str, Any] = (await call.read("graph/evidence", query=query))["graph"]
    return graph


def graph_fitted(answer: Answer, nodes: list[dict[str, Any]], edges: list[dict[str, Any]], max_tokens: int) -> Answer:
    """Nodes as far as two thirds of the budget go, then edges between them; what is missing is counted."""
    left = room(max_tokens) - cost({**answer, "nodes": [], "edges": [], "hint": MORE})
    kept, nodes_out = prefix(nodes, left if not edges else 2 * left // 3)
    known = {one["id"] for one in kept}
    inside = [one for one in edges if {_end(one["source"]), _end(one["target"])} <= known]
    drawn, _ = prefix(inside, left - cost(kept))
    left_out = nodes_out + len(edges) - len(drawn)
    found = {**answer, "nodes": kept, "edges": drawn}
    return {**found, "left_out": left_out, "hint": MORE} if left_out else found


def _end(end: Any) -> str:
    found: str = end["id"] if isinstance(end, Mapping) else end
    return found


def _node(one: Mapping[str, Any]) -> dict[str, Any]:
    record = one["record"]
    preview = snippet(record["input"]["content"], PREVIEW_CHARACTERS)
    return {**ref(record), "title": title_of(record), "preview": preview, "depth": one["depth"]}


def _edge(one: Mapping[str, Any]) -> dict[str, Any]:
    """A relation; a mined edge with its layer and weight; a step of a derivation."""
    if "relation_id" in one:
        said = one["input"]
        named = {"id": one["relation_id"], "revision": str(one["revision"]), "kind": said["kind"]}
        return {**named, "source": ref(said["source"]), "target": ref(said["target"])}
    ends = {"source": ref(one["source"]), "target": ref(one["target"])}
    if "relation" in one:
        return {"kind": one["relation"], **ends}
    return {"kind": one["kind"], "layer": one["layer"], "weight": one["weight"], **ends}


async def changes(call: Call, arguments: Arguments) -> Answer:
    """What changed since a cursor, in order."""
    stream = arguments["stream"]
    query = {"limit": arguments["limit"], **_after(arguments.get("after"), stream)}
    page = (await call.read(f"{stream}/changes", query=query))["page"]
    entries = [_change(one["change"]) for one in page["changes"]]
    bare = {"ok": True, "changes": [], "next": "9" * 123, "complete": False}
    kept, left_out = prefix(entries, room(arguments["max_tokens"]) - cost(bare))
    end = page["next_cursor"] if not left_out else page["changes"][len(kept) - 1]["cursor"]
    answer: Answer = {"ok": True, "changes": kept, "complete": page["complete"] and not left_out}
    return answer if end is None else {**answer, "next": _opaque(end)}


def _after(cursor: str | None, stream: str) -> dict[str, Any]:
    if cursor is None:
        return {}
    found = _CURSOR.fullmatch(cursor)
    if found is None:
        raise invalid("after: must be the next of an earlier answer, unchanged")
    sequence, journal_id, digest = found.groups()
    named = {"version": 1, "stream": _STREAMS[stream], "journal_id": journal_id}
    return {"after": {**named, "sequence": int(sequence), "prefix_digest": digest}}


def _opaque(cursor: Mapping[str, Any]) -> str:
    return f"{cursor['sequence']}.{cursor['journal_id']}.{cursor['prefix_digest']}"


def _change(one: Mapping[str, Any]) -> dict[str, Any]:
    noun = "relation" if "relation_id" in one else "record"
    return {
        "kind": one["kind"],
        "id": one[f"{noun}_id"],
        "revision": str(one[f"{noun}_revision"]),
        "at": time_of(one["committed_at_millis"]),
        "by": one["author"]["subject_id"],
    }


WALK: Final = Tool(
    name="memory_walk",
    title="Walk the graph",
    about=(
        "What lies around up to 16 memories: relations from step to step (mode relations), or what a derived memory "
        "was made from (mode evidence). complete tells whether that is all; stop_reasons why not."
    ),
    takes={
        "ids": several(text(), 1, 16, required=True),
        "mode": word("relations", "evidence", default="relations"),
        "kinds": several(word(*REGISTRY), 1, len(REGISTRY), "Of one class"),
        "direction": word(*get_args(Direction)),
        "max_depth": whole(0, 8),
        "node_limit": whole(1, 256, 32),
        "include_derived": flag("Mined edges too"),
        "max_tokens": MAX_TOKENS,
    },
    answers={
        "nodes": "array",
        "edges": "array",
        "complete": "boolean",
        "stop_reasons": "array",
        "left_out": "integer",
    },
    run=walk,
)

CHANGES: Final = Tool(
    name="memory_changes",
    title="Follow changes",
    about=(
        "What changed, in order, from the beginning or after the next of an earlier answer. complete tells whether it "
        "is all so far; else ask again with after."
    ),
    takes={
        "stream": word(*_STREAMS, required=True),
        "after": text("The next of the answer before"),
        "limit": whole(1, 64, 20),
        "max_tokens": MAX_TOKENS,
    },
    answers={"changes": "array", "next": "string", "complete": "boolean"},
    run=changes,
)
