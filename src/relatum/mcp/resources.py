"""What a host can read without a tool: the guide, the health, pinned records, any record or relation by id (mcp.md)."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from relatum.mcp.budget import compact
from relatum.mcp.caller import Caller
from relatum.mcp.guide import GUIDE
from relatum.mcp.refusals import ToolRefused
from relatum.mcp.shapes import memory, title_of
from relatum.mcp.tools.graph import health
from relatum.mcp.tools.memory import annotated
from relatum.mcp.tools.relations import relation_shape

JSON: Final = "application/json"
MARKDOWN: Final = "text/markdown"

TEMPLATES: Final = (
    ("relatum://record/{id}", "record", "A record, whole"),
    ("relatum://relation/{id}", "relation", "A relation"),
)

_GUIDE: Final = "relatum://guide"
_HEALTH: Final = "relatum://health"
_NAMED: Final = re.compile(r"relatum://(record|relation)/([0-9A-Fa-f-]{32,36})")
_RELATIONS_MAX: Final = 50


class Listed(NamedTuple):
    """A resource of the list."""

    uri: str
    name: str
    title: str
    mime_type: str


async def listed(caller: Caller) -> list[Listed]:
    """The guide, the health, and the pinned records, as far as those can be asked for."""
    found = [
        Listed(_GUIDE, "guide", "How to use this memory", MARKDOWN),
        Listed(_HEALTH, "health", "How the memories hang together", JSON),
    ]
    call = caller.call("resources", {})
    try:
        entries = (await call.read("context", prompt=""))["entries"]
        pinned = [one["record_id"] for one in entries if one["tier"] == "pinned"]
        items = await annotated(call, pinned) if pinned else {}
    except ToolRefused:
        return found
    for record_id, item in items.items():
        title = None if item is None else title_of(item["record"])
        if title is not None:
            found.append(Listed(f"relatum://record/{record_id}", record_id, title, JSON))
    return found


async def read(caller: Caller, uri: str) -> tuple[str, str] | None:
    """The media type and the text of a resource, or None where there is none. Raises ToolRefused."""
    if uri == _GUIDE:
        return MARKDOWN, GUIDE
    call = caller.call("resources", {})
    if uri == _HEALTH:
        return JSON, compact(await health(call))
    named = _NAMED.fullmatch(uri)
    if named is None:
        return None
    noun, one = named.groups()
    if noun == "relation":
        shape = await relation_shape(call, one, why=False)
        return None if "kind" not in shape else (JSON, compact(shape))
    item = (await annotated(call, [one], _RELATIONS_MAX))[one]
    return None if item is None else (JSON, compact(memory(item)))
