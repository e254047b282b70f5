"""`memory_graph`: one tool with an action for each thing it does (mcp.md, memory_graph)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from relatum.mcp.budget import TOKENS_DEFAULT, compact
from relatum.mcp.calls import Call
from relatum.mcp.fields import Field, digits, several, share, text, whole, word
from relatum.mcp.refusals import ToolRefused, invalid
from relatum.mcp.shapes import SEARCH_CHARACTERS, memory
from relatum.mcp.tool import KEY, WRITES, Answer, Arguments, Tool
from relatum.mcp.tools.facts import validation
from relatum.mcp.tools.memory import TRIES, given, memories_fitted, saved
from relatum.mcp.tools.walks import graph_fitted

HEALTH: Final = ("state", "records", "linked", "isolated", "conflicts", "red")
OVERVIEW_DEFAULT: Final = 20
SEARCH_DEFAULT: Final = 12
CANDIDATES_MAX: Final = 5

_SHOW: Final = "memory_graph overview limit"


async def health(call: Call) -> dict[str, Any]:
    """How well the memories hang together."""
    found = await call.read("graph/health")
    return {name: found[name] for name in HEALTH}


async def _overview(call: Call, arguments: Arguments) -> Answer:
    found = await call.read("graph/overview", limit=arguments.get("limit", OVERVIEW_DEFAULT))
    answer: Answer = {"ok": True, "health": await health(call)}
    nodes = [
        {
            "id": one["record_id"],
            "revision": str(one["revision"]),
            "title": one["title"],
            "preview": one["preview"],
            "degree": one["degree"],
        }
        for one in found["graph"]["nodes"]
    ]
    nodes = [{name: value for name, value in one.items() if value is not None} for one in nodes]
    edges = [
        {"source": one["source_id"], "target": one["target_id"], "kind": one["kind"], "layer": one["layer"]}
        for one in found["graph"]["edges"]
    ]
    return graph_fitted(answer, nodes, edges, arguments.get("max_tokens", TOKENS_DEFAULT))


async def _search(call: Call, arguments: Arguments) -> Answer:
    limit = arguments.get("limit", SEARCH_DEFAULT)
    found = await call.read("records/search", text=arguments["query"], limit=min(limit, 50))
    entries = [memory(one, characters=SEARCH_CHARACTERS) for one in found["records"]]
    return memories_fitted(entries, arguments.get("max_tokens", TOKENS_DEFAULT))


async def _upsert_fact(call: Call, arguments: Arguments) -> Answer:
    if "id" not in arguments:
        if "expected_revision" in arguments:
            raise invalid("expected_revision: goes with an id")
        record = {"content": arguments["text"], **given(arguments, "title", "category", "tags", "confidence")}
        answer = await saved(call, record, CANDIDATES_MAX, arguments.get("idempotency_key"))
        return {name: answer[name] for name in ("ok", "id", "revision", "candidates")}
    named, key = arguments.get("expected_revision"), arguments.get("idempotency_key") or call.fresh_key()
    for left in reversed(range(TRIES)):
        record = (await call.read("records/read", record_id=arguments["id"]))["record"]
        if record["derivation"] is not None:
            raise ToolRefused("revision_conflict", "a derived memory can't be changed: remember another one")
        changed = given(arguments, "title", "category", "tags", "confidence")
        operation = {
            "type": "revise",
            "record_id": record["record_id"],
            "expected_revision": record["revision"] if named is None else named,
            "record": {**record["input"], **changed, "content": arguments["text"]},
        }
        try:
            receipt = (await call.command("records/commands", key, operation=operation))["receipt"]
        except ToolRefused as refused:
            if named is not None or not left or refused.code != "revision_conflict":
                raise
            continue
        return {"ok": True, "id": receipt["record_id"], "revision": str(receipt["revision"]), "candidates": []}
    raise AssertionError("the last try answers or raises")


async def _linked(call: Call, arguments: Arguments) -> Answer:
    operation = {"type": arguments["action"], "source_id": arguments["from"], "target_id": arguments["to"]}
    if arguments["action"] == "link":
        operation["kind"] = arguments.get("kind", "related")
    receipt = (await call.command("links/commands", call.fresh_key(), operation=operation))["receipt"]
    return {"ok": True, "from": receipt["source_id"], "to": receipt["target_id"], "kind": receipt["kind"]}


async def _validate(call: Call, arguments: Arguments) -> Answer:
    found = await call.read("records/validate", **given(arguments, "source_id", "current_source_hash"))
    told = await health(call)
    room = arguments.get("max_tokens", TOKENS_DEFAULT) - len(compact({"health": told}))
    return {**validation(found, room), "health": told}


class _Action:
    """What an action does, and the members that are its own."""

    def __init__(
        self, run: Callable[[Call, Arguments], Awaitable[Answer]], *members: str, required: tuple[str, ...] = ()
    ) -> None:
        self.run = run
        self.members = frozenset((*members, *required))
        self.required = required


_ACTIONS: Final[Mapping[str, _Action]] = {
    "overview": _Action(_overview, "limit", "max_tokens"),
    "search": _Action(_search, "limit", "max_tokens", required=("query",)),
    "upsert_fact": _Action(
        _upsert_fact,
        "id",
        "title",
        "category",
        "tags",
        "confidence",
        "expected_revision",
        "idempotency_key",
        required=("text",),
    ),
    "link": _Action(_linked, "kind", required=("from", "to")),
    "unlink": _Action(_linked, required=("from", "to")),
    "validate": _Action(_validate, "source_id", "current_source_hash", "max_tokens"),
}
_READING: Final = ("overview", "search", "validate")


async def graph(call: Call, arguments: Arguments) -> Answer:
    """Does what the action says, once every member is its own."""
    name = arguments["action"]
    action = _ACTIONS[name]
    problems = [f"{one}: must be given with the action {name}" for one in action.required if one not in arguments]
    problems += [
        f"{one}: does not go with the action {name}" for one in arguments if one not in {"action", *action.members}
    ]
    if problems:
        raise invalid("; ".join(problems))
    return await action.run(call, arguments)


_OPTIONAL_TOKENS: Final = whole(500, 20_000, about="Size of the answer, 4000 unless given")
_TAKES: Final[dict[str, Field]] = {
    "query": text("search"),
    "limit": whole(1, 64, about="overview (20), search (12, at most 50)"),
    "source_id": text("validate"),
    "current_source_hash": text("validate, with source_id"),
    "max_tokens": _OPTIONAL_TOKENS,
}
_CHANGING: Final[dict[str, Field]] = {
    "text": text("upsert_fact: the fact"),
    "id": text("upsert_fact: the one to change"),
    "title": text("upsert_fact"),
    "category": text("upsert_fact"),
    "tags": several(text(), 0, 32, "upsert_fact"),
    "confidence": share("upsert_fact"),
    "expected_revision": digits("upsert_fact, with id"),
    "idempotency_key": KEY,
    "from": text("link, unlink: an id"),
    "to": text("link, unlink: an id"),
    "kind": word("related", "conflicts", "supports", "supersedes", about="link; related unless given"),
}
_ANSWERS: Final = {
    "health": "object",
    "nodes": "array",
    "edges": "array",
    "memories": "array",
    "left_out": "integer",
    "checked": "integer",
    "stale_ids": "array",
    "stale_count": "integer",
    "conflict_ids": "array",
    "conflict_count": "integer",
}

_READING_GRAPH: Final = Tool(
    name="memory_graph",
    title="Look over the memory graph",
    about=(
        "overview: the most linked memories, what joins them, and the graph's health. search: memories by words. "
        "validate: what is stale or in conflict."
    ),
    takes={"action": word(*_READING, required=True), **_TAKES},
    answers=_ANSWERS,
    run=graph,
)

GRAPH: Final = Tool(
    name="memory_graph",
    title="Tend the memory graph",
    about=(
        "overview: the most linked memories, what joins them, and the graph's health. search: memories by words. "
        "upsert_fact: save a fact, or change the one with this id, whose other members and links stay. link, unlink: "
        "tie two memories together by hand, or untie them. validate: what is stale or in conflict. Each member names "
        "the actions that it goes with; others are refused. The same upsert_fact within 10 minutes is done once."
    ),
    takes={"action": word(*_ACTIONS, required=True), **_TAKES, **_CHANGING},
    answers={
        **_ANSWERS,
        "id": "string",
        "revision": "string",
        "candidates": "array",
        "from": "string",
        "to": "string",
        "kind": "string",
        "idempotency_key": "string",
    },
    run=graph,
    needs=WRITES,
    writes=True,
    reading=_READING_GRAPH,
)
