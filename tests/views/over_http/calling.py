"""Views as a client asks for them: paths, and the few calls that most tests need."""

from __future__ import annotations

from typing import Any

import httpx

from tests.http.client import RECORDS, Caller, Json, accepted, fresh
from tests.judgments.over_http.calling import answered

GRAPH = "/api/v1/memory/graph"
LINKS = "/api/v1/memory/links/commands"
EDGES = "/api/v1/memory/edges"
CONTEXT = "/api/v1/memory/context"
RUN = {"run_id": "night", "run_date": "2026-01-08"}
MINING = ("memory_read", "memory_write", "memory_review", "memory_mine")


def ids(*refs: Json) -> list[str]:
    return [one["record_id"] for one in refs]


def stand(caller: Caller, kind: str, record: Json, **members: Any) -> httpx.Response:
    """Archive, unarchive, pin or unpin."""
    at = {"record_id": record["record_id"], "expected_revision": record["revision"]}
    return caller.command(RECORDS, members.pop("key", None), type=kind, **{**at, **members})


def mark(caller: Caller, record: Json, because: Json, **members: Any) -> httpx.Response:
    """Say that a later record makes one stale."""
    return caller.command(RECORDS, type="mark_stale", record_id=record["record_id"], because=because, **members)


def statuses(caller: Caller, *records: Json, **members: Any) -> list[Json]:
    """The statuses of records."""
    found: list[Json] = answered(caller.ask(f"{RECORDS}/status", record_ids=ids(*records), **members))["statuses"]
    return found


def status(caller: Caller, record: Json, **members: Any) -> Json:
    """The status of one record."""
    [found] = statuses(caller, record, **members)
    return found


def validate(caller: Caller, **members: Any) -> Json:
    return answered(caller.ask(f"{RECORDS}/validate", **members))


def link(caller: Caller, source: Json, target: Json, kind: str = "related", key: str | None = None) -> httpx.Response:
    operation = {"type": "link", "kind": kind, "source_id": source["record_id"], "target_id": target["record_id"]}
    return caller.ask(LINKS, idempotency_key=key or fresh("key"), operation=operation)


def linked(caller: Caller, source: Json, target: Json, kind: str = "related") -> Json:
    """The receipt of a link that must be accepted."""
    return accepted(link(caller, source, target, kind))


def unlink(caller: Caller, source: Json, target: Json) -> httpx.Response:
    operation = {"type": "unlink", "source_id": source["record_id"], "target_id": target["record_id"]}
    return caller.ask(LINKS, idempotency_key=fresh("key"), operation=operation)


def health(caller: Caller) -> Json:
    return answered(caller.ask(f"{GRAPH}/health"))


def overview(caller: Caller, **members: Any) -> Json:
    found: Json = answered(caller.ask(f"{GRAPH}/overview", **members))["graph"]
    return found


def graph(caller: Caller, *roots: Json, **query: Any) -> Json:
    """A typed graph."""
    found: Json = answered(caller.ask(f"{GRAPH}/typed", query={"root_record_ids": ids(*roots), **query}))["graph"]
    return found


def context(caller: Caller, prompt: str = "", **members: Any) -> Json:
    return answered(caller.ask(CONTEXT, prompt=prompt, **members))


def order(found: Json) -> list[str]:
    """The records of a block in their order."""
    return [one["record_id"] for one in found["entries"]]


def edge(source: Json, target: Json, kind: str = "supports", weight: float = 0.5) -> Json:
    return {"source_id": source["record_id"], "target_id": target["record_id"], "kind": kind, "weight": weight}


def mine(caller: Caller, *edges: Json, finish: bool = True, run: Json = RUN) -> Json:
    """A page of a run."""
    return answered(caller.ask(f"{EDGES}/derived/replace", run=run, edges=list(edges), finish=finish))


def mined(caller: Caller, *roots: Json, **query: Any) -> list[Json]:
    """The mined edges of a graph."""
    edges = graph(caller, *roots, include_derived=True, **query)["edges"]
    return [one for one in edges if one.get("layer") == "derived"]


def proposal(source: Json, target: Json, kind: str = "supports", confidence: float = 0.9) -> Json:
    return {"source_id": source["record_id"], "target_id": target["record_id"], "kind": kind, "confidence": confidence}


def promote(caller: Caller, *proposals: Json, day: str = "2026-01-08", key: str | None = None) -> list[Json]:
    """What became of proposals."""
    body = {"run": {**RUN, "run_date": day}, "proposals": list(proposals)}
    answer = caller.ask(f"{EDGES}/promote", idempotency_key=key or fresh("key"), **body)
    found: list[Json] = answered(answer)["outcomes"]
    return found


def outcomes(found: list[Json]) -> list[str]:
    return [one["outcome"] for one in found]
