"""Facts with a source: remember, search, validate (mcp.md, tools)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from relatum import __version__
from relatum.mcp.budget import cost, fitted, room
from relatum.mcp.calls import Call
from relatum.mcp.fields import Field, flag, several, share, text, whole
from relatum.mcp.numbers import time_of
from relatum.mcp.refusals import ToolRefused
from relatum.mcp.shapes import snippet
from relatum.mcp.tool import KEY, MAX_TOKENS, WRITES, Answer, Arguments, Tool
from relatum.mcp.tools.memory import MORE, TRIES, given, record_input, stands, with_hint
from relatum.mcp.tools.relations import current_refs
from relatum.mcp.tools.walks import PREVIEW_CHARACTERS

OWN_WORKSPACE: Final = "default"
ROOTS_MAX: Final = 16
STATUS_PAGE: Final = 100
FOUND_MAX: Final = 50

_SCOPE_TAG: Final = "scope:"
_SPELLED: Final = {"semantic_related": "relates_to"}
_HINT_TOKENS: Final = 40


def _enter(call: Call, arguments: Arguments) -> None:
    workspace = arguments.get("workspace", OWN_WORKSPACE)
    if workspace != OWN_WORKSPACE:
        call.in_mission(workspace)


async def remember(call: Call, arguments: Arguments) -> Answer:
    """Keep a fact beside all others."""
    _enter(call, arguments)
    record = record_input(arguments)
    if "scope" in arguments:
        record["tags"] = [_SCOPE_TAG + arguments["scope"]]
    if "source" in arguments:
        record["data"] = {"source": arguments["source"]}
    record_id = await _kept(call, record, arguments.get("derived_from") or [], arguments.get("idempotency_key"))
    status = (await _statuses(call, [record_id], []))[record_id]
    return {"ok": True, "id": record_id, "status": status["status"]}


async def _kept(call: Call, record: dict[str, Any], sources: list[str], key: str | None) -> str:
    made = key is None
    if key is None:
        key, receipt = await call.repeatable("record", lambda found: stands(call, found))
        if receipt is not None:
            return str(receipt["record_id"])
    for left in reversed(range(TRIES)):
        operation = await _operation(call, record, sources)
        try:
            answer = await call.command("records/commands", key, operation=operation)
        except ToolRefused as refused:
            if made and refused.code == "idempotency_conflict":  # the same call at once, a source reviewed in between
                receipt = await call.receipt("record", key)
                if receipt is not None:
                    return str(receipt["record_id"])
            if not sources or not left or refused.code != "revision_conflict":
                raise
            continue
        return str(answer["receipt"]["record_id"])
    raise AssertionError("the last try answers or raises")


async def _operation(call: Call, record: dict[str, Any], sources: list[str]) -> dict[str, Any]:
    if not sources:
        return {"type": "create", "record": record}
    refs = await current_refs(call, sources)
    derivation = {
        "sources": [refs[one] for one in dict.fromkeys(sources)],
        "method": "mcp",
        "method_revision": __version__,
        "evidence_ref": call.evidence_ref(None),
    }
    return {"type": "derive", "record": record, "derivation": derivation}


async def search(call: Call, arguments: Arguments) -> Answer:
    """Facts that match a query, with their status and what is one step away."""
    _enter(call, arguments)
    items = await _found(call, arguments)
    records = [one["record"] for one in items]
    ids = [one["record_id"] for one in records]
    statuses = await _statuses(call, ids, _hashes(arguments, records))
    relations = await _relations(call, ids)
    entries = [
        _fact(item, statuses[item["record"]["record_id"]], relations[item["record"]["record_id"]], arguments)
        for item in items
    ]
    if arguments["exclude_stale"]:
        entries = [one for one in entries if one["status"] != "stale"]
    max_tokens = arguments["max_tokens"] - _HINT_TOKENS
    return with_hint(fitted({"ok": True}, "memories", entries, max_tokens))


async def _found(call: Call, arguments: Arguments) -> list[dict[str, Any]]:
    """What matches, restricted to a source where one is named."""
    members = {"relations_limit": 0, **given(arguments, "limit", "source_id", "exclude_stale")}
    if "scope" in arguments:
        members["tag"] = _SCOPE_TAG + arguments["scope"]
    found = await call.read("records/search", text=arguments["query"], **members)
    items: list[dict[str, Any]] = found["records"]
    return items


def _hashes(arguments: Arguments, records: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The hashes that sources have now: the one given, of the source named or else of each record's own."""
    now = arguments.get("current_source_hash")
    if now is None:
        return []
    sources = {_source(one).get("source_id") for one in records}
    named = [arguments["source_id"]] if "source_id" in arguments else sorted(one for one in sources if one)
    return [{"source_id": one, "source_hash": now} for one in named]


async def _statuses(call: Call, ids: list[str], hashes: list[dict[str, Any]]) -> dict[str, Mapping[str, Any]]:
    if not ids:
        return {}
    found = await call.read("records/status", record_ids=ids, current_sources=hashes or None)
    return {one["record_id"]: one for one in found["statuses"]}


async def _relations(call: Call, ids: list[str]) -> dict[str, list[dict[str, Any]]]:
    """By record, the eligible relations one step away."""
    found: dict[str, list[dict[str, Any]]] = {one: [] for one in ids}
    for start in range(0, len(ids), ROOTS_MAX):
        roots = ids[start : start + ROOTS_MAX]
        graph = (await call.read("graph/typed", query={"root_record_ids": roots, "max_depth": 1}))["graph"]
        previews = {
            one["record"]["record_id"]: snippet(one["record"]["input"]["content"], PREVIEW_CHARACTERS)
            for one in graph["nodes"]
        }
        for edge in graph["edges"]:
            said = edge["input"]
            ends = {"outgoing": said["source"]["record_id"], "incoming": said["target"]["record_id"]}
            for direction, other in (("outgoing", "incoming"), ("incoming", "outgoing")):
                if ends[direction] in roots:
                    found[ends[direction]].append(
                        {
                            "relation": _SPELLED.get(said["kind"], said["kind"]),
                            "direction": direction,
                            "target_id": ends[other],
                            "preview": previews.get(ends[other], ""),
                        }
                    )
    return found


def _fact(
    item: Mapping[str, Any], status: Mapping[str, Any], relations: list[dict[str, Any]], arguments: Arguments
) -> dict[str, Any]:
    record = item["record"]
    said, source = record["input"], _source(record)
    scopes = [tag.removeprefix(_SCOPE_TAG) for tag in said["tags"] if tag.startswith(_SCOPE_TAG)]
    derived = record["derivation"]
    shape = {
        "id": record["record_id"],
        "workspace": arguments.get("workspace", OWN_WORKSPACE),
        "scope": scopes[0] if scopes else None,
        "content": said["content"],
        "source": (said["data"] or {}).get("source"),
        "source_id": source.get("source_id"),
        "source_hash": source.get("source_hash"),
        "source_revision": source.get("source_revision"),
        "fact_key": said["fact_key"],
        "confidence": said["confidence"],
        "status": status["status"],
        "derived_from": [] if derived is None else [one["record_id"] for one in derived["sources"]],
        "score": item.get("score"),
        "graph_relations": relations,
        "created_at": time_of(record["created_at_millis"]),
        "updated_at": time_of(record["modified_at_millis"]),
    }
    return {name: value for name, value in shape.items() if value is not None}


def _source(record: Mapping[str, Any]) -> Mapping[str, Any]:
    return record["input"]["provenance"] or {}


async def validate(call: Call, arguments: Arguments) -> Answer:
    """Which facts are stale or in conflict; nothing is changed."""
    _enter(call, arguments)
    if "scope" in arguments:
        found = await _validated_by_label(call, arguments)
    else:
        members = given(arguments, "source_id", "current_source_hash")
        found = await call.read("records/validate", **members)
    return validation(found, arguments["max_tokens"])


async def _validated_by_label(call: Call, arguments: Arguments) -> dict[str, Any]:
    """The same of the records with a label, page by page."""
    hashes, source_id = arguments.get("current_source_hash"), arguments.get("source_id")
    if hashes is not None and source_id is None:
        raise ToolRefused("invalid_request", "source_id: must be given with current_source_hash")
    sources = None if hashes is None else [{"source_id": source_id, "source_hash": hashes}]
    wanted = {"tag": _SCOPE_TAG + arguments["scope"], "limit": STATUS_PAGE}
    if source_id is not None:
        wanted["source_id"] = source_id
    found: dict[str, Any] = {"checked": 0, "stale_ids": [], "conflict_ids": []}
    cursor: str | None = None
    while True:
        page = await call.read("records/status", filter={**wanted, "cursor": cursor}, current_sources=sources)
        for one in page["statuses"]:
            found["checked"] += 1
            if one["status"] in ("stale", "conflict"):
                found[f"{one['status']}_ids"].append(one["record_id"])
        cursor = page["next_cursor"]
        if cursor is None:
            counts = {f"{status}_count": len(found[f"{status}_ids"]) for status in ("stale", "conflict")}
            return found | counts


def validation(found: Mapping[str, Any], max_tokens: int) -> Answer:
    """The counts of all, the lists as far as the budget goes."""
    counts = {name: found[name] for name in ("checked", "stale_count", "conflict_count")}
    answer: Answer = {"ok": True, **counts, "stale_ids": [], "conflict_ids": [], "hint": MORE, "left_out": 10**9}
    left = room(max_tokens) - cost(answer)
    left_out = 0
    for name in ("conflict_ids", "stale_ids"):
        each = cost("0" * 36) + 2
        kept = list(found[name])[: max(0, left // each)]
        answer[name], left = kept, left - each * len(kept)
        left_out += found[name.replace("_ids", "_count")] - len(kept)
    if left_out:
        return {**answer, "left_out": left_out}
    return {name: value for name, value in answer.items() if name not in ("hint", "left_out")}


_WHERE: Final[dict[str, Field]] = {
    "workspace": text("default, or a mission's name", default=OWN_WORKSPACE),
    "scope": text("A label, never a permission"),
}

REMEMBER: Final = Tool(
    name="remember",
    title="Remember a fact",
    about=(
        "Keep a fact with what it was learned from, beside all others: nothing is replaced. Facts under one fact_key "
        "that say different things are in conflict until the wrong one is forgotten. derived_from names the memories "
        "it was concluded from. The same call within 10 minutes is done once; later it adds another."
    ),
    takes={
        "content": text("The fact", required=True),
        **_WHERE,
        "source": text("Where it is from, in words"),
        "source_id": text("The source's identifier"),
        "source_hash": text("Of the source as it was read"),
        "source_revision": text(),
        "fact_key": text("What facts state about the same thing share"),
        "confidence": share(default=0.5),
        "derived_from": several(text(), 0, 16),
        "idempotency_key": KEY,
    },
    answers={"id": "string", "status": "string", "idempotency_key": "string"},
    run=remember,
    needs=WRITES,
    writes=True,
)

SEARCH: Final = Tool(
    name="search",
    title="Search facts",
    about=(
        "Find facts by words, the best first, with their status (unverified, stale, conflict) and the relations one "
        "step away. source_id restricts them to one source. With current_source_hash what was learned from another "
        "version of its source is stale."
    ),
    takes={
        "query": text("Words to look for", required=True),
        "limit": whole(1, FOUND_MAX, 10),
        **_WHERE,
        "exclude_stale": flag("Leave out what is out of date"),
        "source_id": text(),
        "current_source_hash": text("Of the source as it is now"),
        "max_tokens": MAX_TOKENS,
    },
    answers={"memories": "array", "left_out": "integer"},
    run=search,
)

VALIDATE: Final = Tool(
    name="validate_memory",
    title="Validate facts",
    about="Count which facts are stale or in conflict, of one source or of all, and list their ids. Changes nothing.",
    takes={
        "source_id": text(),
        **_WHERE,
        "current_source_hash": text("Of the source as it is now; with source_id"),
        "max_tokens": MAX_TOKENS,
    },
    answers={
        "checked": "integer",
        "stale_ids": "array",
        "stale_count": "integer",
        "conflict_ids": "array",
        "conflict_count": "integer",
        "left_out": "integer",
    },
    run=validate,
)
