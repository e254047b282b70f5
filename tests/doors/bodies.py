"""A sound body for every route that takes one, about things that are there."""

from __future__ import annotations

from typing import Any, Final

from relatum.http.route_table import ROUTES
from relatum.limits import DAY_MILLIS
from tests.doors.door import SCOPE, Door
from tests.doors.mutating import as_json
from tests.http.client import Json

MEMORY: Final = "/api/v1/memory"
COMPANY: Final = "/api/v1/company/memory"
STREAMS: Final = {"records": "memory_records", "relations": "typed_memory_relations"}
PROVENANCE: Final[Json] = {
    "origin": "human_statement",
    "method": "by hand",
    "method_revision": "1",
    "evidence_ref": "note/1",
}
MODEL: Final[Json] = {"provider": "p", "model": "m", "revision": "1"}

Bodies = dict[str, list[Json]]
"""By path, in an order in which each is answered, if reads come first."""


def post_paths() -> set[str]:
    """Every path that takes a body."""
    return {route.path for route in ROUTES if getattr(route, "method", "GET") == "POST"}


async def bodies(door: Door) -> Bodies:
    """For every path."""
    source, target = [await _created(door, key) for key in ("source", "target")]
    asserted = {"type": "assert", "relation": _relation(source, target)}
    related = await door.ask(f"{MEMORY}/relations/commands", idempotency_key="related", operation=asserted)
    relation_id = related["receipt"]["relation_id"]
    listed = (await _workspaces(door))["page"]["workspaces"][0]["workspace_id"]
    found: Bodies = {
        **_relations(source, target, relation_id),
        **_records(source, target),
        **_graphs(source),
        **await _judgments(door),
        **await _views(door),
        **_company(listed, source, relation_id),
        **_credentials(),
        f"{MEMORY}/receipts/read": [_scoped(family="relation", idempotency_key="related")],
    }
    for noun, stream in STREAMS.items():
        found |= await _feeds(door, noun, stream)
    return found


def _scoped(**members: Any) -> Json:
    return {"contract_version": 1, "scope": SCOPE, **members}


async def _created(door: Door, key: str) -> Json:
    create = {"type": "create", "record": {"content": key}}
    answer = await door.ask(f"{MEMORY}/records/commands", idempotency_key=key, operation=create)
    return {"record_id": answer["receipt"]["record_id"], "revision": 1}


async def _workspaces(door: Door) -> Json:
    return await door.get(f"{COMPANY}/workspaces", "contract_version=1")


def _relation(source: Json, target: Json) -> Json:
    return {"source": source, "target": target, "kind": "supports", "provenance": PROVENANCE}


def _records(source: Json, target: Json) -> Bodies:
    path, at = f"{MEMORY}/records", source["record_id"]
    record = {
        "content": "the tide turned",
        "type": "memory",
        "title": "tide",
        "data": {"height": 1.5, "marks": [1, None, True, {"é": "🙂"}]},
        "tags": ["sea"],
        "category": "log",
        "topic_key": "tide",
        "provenance": {"source_id": "log", "source_hash": "h", "source_revision": "1"},
        "confidence": 0.5,
        "event_time_millis": 1,
        "valid_until_millis": 9_000_000_000_000,
    }
    create = {"idempotency_key": "create", "operation": {"type": "create", "record": record}}
    derivation = {"sources": [target], "method": "m", "method_revision": "1", "evidence_ref": "e"}
    derive = {"type": "derive", "record": {"content": "derived"}, "derivation": derivation}
    review = {
        "type": "review",
        "record_id": target["record_id"],
        "expected_revision": 1,
        "disposition": "approved",
        "evidence_ref": "note/2",
    }
    revise = {"type": "revise", "record_id": at, "expected_revision": 1, "record": {"content": "revised"}}
    delete = {"type": "delete", "record_id": at, "expected_revision": 2}
    filtered = {"tag": "sea", "category": "log", "limit": 10, "scan_limit": 100, "text": "tide"}
    return {
        f"{path}/read": [_scoped(record_id=at)],
        f"{path}/inspect": [_scoped(record_id=at)],
        f"{path}/revision": [_scoped(record_id=at, revision=1)],
        f"{path}/batch": [_scoped(record_ids=[at, target["record_id"]])],
        f"{path}/query": [_scoped(filter=filtered), _scoped(filter={})],
        f"{path}/commands/batch": [_scoped(commands=[create, {**create, "idempotency_key": "other"}])],
        f"{path}/commands": [
            _scoped(**create),
            _scoped(idempotency_key="derive", operation=derive),
            _scoped(idempotency_key="review", operation=review),
            _scoped(idempotency_key="revise", operation=revise),
            _scoped(idempotency_key="delete", operation=delete),
        ],
    }


def _relations(source: Json, target: Json, relation_id: str) -> Bodies:
    path = f"{MEMORY}/relations"
    again = {**_relation(target, source), "provenance": {**PROVENANCE, "origin": "model_inference", "model": MODEL}}
    change = {"relation_id": relation_id, "evidence_ref": "note/3"}
    asserted = {"idempotency_key": "assert", "operation": {"type": "assert", "relation": again}}
    return {
        f"{path}/read": [_scoped(relation_id=relation_id)],
        f"{path}/inspect": [_scoped(relation_id=relation_id)],
        f"{path}/revision": [_scoped(relation_id=relation_id, revision=1)],
        f"{path}/query": [_scoped(filter={"kind": "supports", "state": "active", "limit": 5}), _scoped(filter={})],
        f"{path}/history": [_scoped(relation_id=relation_id, before_revision=2, limit=5)],
        f"{path}/commands/batch": [_scoped(commands=[{**asserted, "idempotency_key": "in a batch"}])],
        f"{path}/commands": [
            _scoped(idempotency_key="retire", operation={"type": "retire", "expected_revision": 1, **change}),
            _scoped(idempotency_key="restore", operation={"type": "restore", "expected_revision": 2, **change}),
            _scoped(
                idempotency_key="judge",
                operation={"type": "review", "disposition": "rejected", "expected_revision": 3, **change},
            ),
        ],
    }


def _graphs(source: Json) -> Bodies:
    roots = [source["record_id"]]
    typed = {"root_record_ids": roots, "direction": "both", "max_depth": 2, "relation_kinds": ["supports"]}
    evidence = {"root_record_ids": roots, "max_depth": 2}
    return {
        f"{MEMORY}/graph/typed": [_scoped(query=typed)],
        f"{MEMORY}/graph/evidence": [_scoped(query=evidence)],
    }


async def _judgments(door: Door) -> Bodies:
    path, records = f"{MEMORY}/judgments", f"{MEMORY}/records"
    one, other = [(await _created(door, key))["record_id"] for key in ("one", "other")]
    pair = {"source": one, "target": other, "similarity": 0.5}
    await door.ask(f"{path}/candidates", idempotency_key="pair", candidates=[pair])
    door.clock.advance(15 * DAY_MILLIS)
    run = await door.ask(f"{path}/sweep", idempotency_key="run")
    ends = [(await _created(door, key))["record_id"] for key in ("nine", "ten")]
    judged = await door.ask(
        f"{path}/candidates", idempotency_key="other pair", candidates=[{"source": ends[0], "target": ends[1]}]
    )
    judgment = {
        "candidate_id": judged["candidates"][0]["candidate_id"],
        "relation": "related",
        "reason": "words",
        "confidence": 0.5,
        "evidence": {"é": [1, None]},
        "provenance": PROVENANCE,
    }
    comparison = {"source_id": one, "target_id": ends[0], "relation": "scoped", "confidence": 1}
    confirmation = {"record_id": one, "outcome": "affirmed", "evidence_ref": "note/4"}
    return {
        f"{path}/undo": [_scoped(idempotency_key="undo", run_id=run["run_id"])],
        f"{path}/sweep": [_scoped(idempotency_key="sweep")],
        f"{path}/candidates": [_scoped(idempotency_key="candidates", candidates=[{**pair, "target": ends[0]}])],
        f"{path}/batch": [_scoped(idempotency_key="batch", judgments=[judgment])],
        f"{path}/compare": [_scoped(idempotency_key="compare", **comparison)],
        f"{path}/query": [_scoped(status="pending", min_age_millis=0, limit=5)],
        f"{records}/annotated": [_scoped(record_ids=[one, other], relations_limit=5)],
        f"{records}/search": [_scoped(text="tide", limit=5, exclude_stale=True, tag="sea")],
        f"{records}/confirm": [_scoped(idempotency_key="confirm", confirmations=[confirmation])],
        f"{records}/needs-review": [_scoped(limit=5)],
        f"{MEMORY}/topic-keys/suggest": [_scoped(title="tide", content="the tide turned")],
    }


async def _views(door: Door) -> Bodies:
    one, other = [(await _created(door, key))["record_id"] for key in ("a ferry", "a harbour")]
    ends = {"source_id": one, "target_id": other}
    run = {"run_id": "night", "run_date": "2026-01-08"}
    sources = [{"source_id": "log", "source_hash": "h"}]
    return {
        f"{MEMORY}/links/commands": [
            _scoped(idempotency_key="link", operation={"type": "link", "kind": "related", **ends}),
            _scoped(idempotency_key="unlink", operation={"type": "unlink", **ends}),
        ],
        f"{MEMORY}/links/query": [_scoped(record_id=one)],
        f"{MEMORY}/records/lineage": [_scoped(record_id=one, max_depth=2, node_limit=5)],
        f"{MEMORY}/records/dependents": [_scoped(record_id=one, limit=5)],
        f"{MEMORY}/records/retained": [
            _scoped(filter={"disposition": "waiting", "standing": "current", "pinned": False, "eligible": True}),
        ],
        f"{MEMORY}/records/heads": [_scoped(record_ids=[one, other])],
        f"{MEMORY}/records/history": [_scoped(record_id=one, before_revision=2, limit=5)],
        f"{MEMORY}/records/status": [
            _scoped(record_ids=[one, other], current_sources=sources),
            _scoped(filter={"limit": 5, "type": "memory"}),
        ],
        f"{MEMORY}/records/validate": [_scoped(source_id="log", current_source_hash="h")],
        f"{MEMORY}/graph/health": [_scoped()],
        f"{MEMORY}/graph/overview": [_scoped(limit=5)],
        f"{MEMORY}/context": [_scoped(prompt="a ferry", budget_characters=600, shown=[one])],
        f"{MEMORY}/edges/derived/replace": [
            _scoped(run=run, edges=[{**ends, "kind": "supports", "weight": 0.5}], finish=True)
        ],
        f"{MEMORY}/edges/dangling": [_scoped(limit=5)],
        f"{MEMORY}/edges/repair": [_scoped(limit=5)],
        f"{MEMORY}/edges/derived/drop": [_scoped()],
        f"{MEMORY}/edges/promote": [
            _scoped(idempotency_key="promote", run=run, proposals=[{**ends, "kind": "supports", "confidence": 0.9}])
        ],
    }


def _company(workspace_id: str, source: Json, relation_id: str) -> Bodies:
    def asked(**members: Any) -> Json:
        return {"contract_version": 1, "workspace_id": workspace_id, **members}

    at, roots = source["record_id"], [source["record_id"]]
    return {
        f"{COMPANY}/consumers/query": [{"contract_version": 1, "query": {"stream": STREAMS["relations"], "limit": 5}}],
        f"{COMPANY}/records/query": [asked(filter={"limit": 5})],
        f"{COMPANY}/records/inspect": [asked(record_id=at)],
        f"{COMPANY}/relations/query": [asked(filter={"state": "active"})],
        f"{COMPANY}/relations/inspect": [asked(relation_id=relation_id)],
        f"{COMPANY}/relations/revision": [asked(relation_id=relation_id, revision=1)],
        f"{COMPANY}/records/heads": [asked(record_ids=roots)],
        f"{COMPANY}/records/history": [asked(record_id=at, limit=5)],
        f"{COMPANY}/relations/history": [asked(relation_id=relation_id, limit=5)],
        f"{COMPANY}/records/lineage": [asked(record_id=at, max_depth=2)],
        f"{COMPANY}/records/dependents": [asked(record_id=at, limit=5)],
        f"{COMPANY}/links/query": [asked(record_id=at)],
        f"{COMPANY}/graph/typed": [asked(query={"root_record_ids": roots})],
        f"{COMPANY}/graph/evidence": [asked(query={"root_record_ids": roots})],
    }


def _credentials() -> Bodies:
    path = "/api/v1/credentials"
    only = {"mode": "only", "ids": ["atlas"]}
    policy = {
        "version": "company_scopes_v1",
        "projects": only,
        "agents": {"mode": "all"},
        "missions": {"mode": "all"},
        "allow_unassigned_mission": True,
        "visibilities": ["shared", "private"],
    }
    spec = {
        "subject_id": "grace",
        "capabilities": ["memory_read"],
        "grants": [SCOPE],
        "expires_at_millis": 9_000_000_000_000,
    }
    return {
        path: [{"contract_version": 1, "spec": spec}],
        f"{path}/{{id}}/rotate": [{"contract_version": 1, "expected_revision": 1}],
        f"{path}/{{id}}/scope-authority": [
            {"contract_version": 1, "expected_revision": 2, "authority": {"grants": [], "scope_policy": policy}},
            {"contract_version": 1, "expected_revision": 3, "authority": {"grants": [SCOPE]}},
        ],
        f"{path}/{{id}}/revoke": [{"contract_version": 1, "expected_revision": 4}],
    }


async def _feeds(door: Door, noun: str, stream: str) -> Bodies:
    path = f"{MEMORY}/{noun}"
    page = (await door.ask(f"{path}/changes", query={"limit": 1}))["page"]
    cursor, consumer = page["next_cursor"], {"consumer_id": "mirror"}
    command: Json = {
        "contract_version": 1,
        "idempotency_key": f"save {noun}",
        **consumer,
        "expected_revision": 0,
        "operation": {"type": "advance", "cursor": cursor},
    }
    saved = await door.post(f"{path}/checkpoints", as_json({"scope": SCOPE, "command": command}))
    assert saved is not None
    before = saved.json()["receipt"]["checkpoint"]
    command |= {"idempotency_key": f"again {noun}", "expected_revision": 1}
    command["expected_checkpoint_digest"] = before["checkpoint_digest"]
    return {
        f"{path}/changes": [_scoped(query={"limit": 5, "after": page["baseline"], "through": page["high_watermark"]})],
        f"{path}/changes/activate": [_scoped()],
        f"{path}/changes/stream": [_scoped(query={"after": cursor, "through": page["high_watermark"]})],
        f"{path}/checkpoints": [{"scope": SCOPE, "command": command}],
        f"{path}/checkpoints/read": [_scoped(**consumer)],
        f"{path}/checkpoints/revision": [_scoped(**consumer, revision=1)],
        f"{path}/consumers/diagnose": [_scoped(**consumer, witness=cursor)],
    }
