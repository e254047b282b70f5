"""Records and relations as tools answer them (mcp.md, tools)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from relatum.mcp.numbers import exact, time_of

Body = Mapping[str, Any]
Shape = dict[str, Any]

SEARCH_CHARACTERS: Final = 600
TITLE_CHARACTERS: Final = 80

_STATUS: Final = {"current": "active"}


def memory(item: Body, *, characters: int | None = None, offset: int = 0) -> Shape:
    """An annotated record, empty members left out; its content from `offset` on, at most `characters` of it."""
    record, standing = item["record"], item["standing"]
    said = record["input"]
    shape = {
        "id": record["record_id"],
        "revision": str(record["revision"]),
        "title": said["title"],
        **_content(said["content"], characters, offset),
        "topic_key": said["topic_key"],
        "category": said["category"],
        "tags": list(said["tags"]),
        "created_at": time_of(record["created_at_millis"]),
        "status": _STATUS.get(standing["state"], standing["state"]),
        "pinned": standing["pinned"],
        "replaces": list(standing["replaces"]),
        "reviewState": "needs_review" if item.get("needs_review") else "fresh",
        "data": exact(said["data"]),
        "relations": [annotation(one) for one in item["relations"]],
        "relationsTotal": item["relations_total"],
    }
    return {name: value for name, value in shape.items() if value not in (None, "", [], {}, False, 0)}


def annotation(one: Body) -> Shape:
    """What one judgment says of a record. A candidate is named while it can be judged."""
    shape = {
        "kind": one["kind"],
        "direction": one["direction"],
        "targetId": one["target_id"],
        "preview": one["preview"],
        "judgmentId": one.get("candidate_id") if one["kind"] == "pending_conflict" else None,
        "reason": one.get("reason"),
        "confidence": one.get("confidence"),
        "status": one["status"],
    }
    return {name: value for name, value in shape.items() if value is not None}


def title_of(record: Body | None) -> str | None:
    """A record's title, or the beginning of what it says."""
    said = None if record is None else record["input"]
    return None if said is None else said["title"] or snippet(said["content"], TITLE_CHARACTERS)


def snippet(text: str, characters: int) -> str:
    """The beginning of a text."""
    return text if len(text) <= characters else text[: characters - 1] + "…"


def relation(found: Body) -> Shape:
    """A relation, its revisions as digits and its times as texts."""
    said = found["input"]
    shape = {
        "id": found["relation_id"],
        "revision": str(found["revision"]),
        "kind": said["kind"],
        "source": ref(said["source"]),
        "target": ref(said["target"]),
        "state": found["state"],
        "disposition": None if found["review"] is None else found["review"]["disposition"],
        "provenance": {name: value for name, value in said["provenance"].items() if value is not None},
        "valid_from": _time(said["valid_from_millis"]),
        "valid_until": _time(said["valid_until_millis"]),
        "evidence_sources": [ref(one) for one in said.get("evidence_sources") or ()],
        "reported_by": found["reported_by"]["subject_id"],
        "created_at": time_of(found["created_at_millis"]),
        "modified_at": time_of(found["modified_at_millis"]),
    }
    return {name: value for name, value in shape.items() if value not in (None, [])}


def ref(one: Body) -> Shape:
    """A record at an exact revision."""
    return {"id": one["record_id"], "revision": str(one["revision"])}


def pinned(one: Body) -> Shape:
    """The same for the wire: from a record as it was read."""
    return {"record_id": one["record_id"], "revision": one["revision"]}


def _content(content: str, characters: int | None, offset: int) -> Shape:
    rest = content[offset:]
    shown = rest if characters is None else rest[:characters]
    if len(shown) == len(content):
        return {"content": content}
    part: Shape = {"content": shown, "content_characters": len(content)}
    return {**part, "content_offset": offset} if offset else part


def _time(millis: int | None) -> str | None:
    return None if millis is None else time_of(millis)
