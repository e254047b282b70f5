"""Records the exchanges that the document shows: a tour through every route, on a ledger in memory.

Always holds: the same code makes the same recording, since the clock stands still between requests and randomness is
counted, not drawn.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from hashlib import shake_128
from typing import Any, Final, Self

import httpx
from starlette.types import ASGIApp

from relatum.clock import ManualClock
from relatum.http.openapi.examples import Exchange
from relatum.ledger import Ledger
from relatum.limits import CONTRACT_VERSION

START_MILLIS: Final = 1_767_225_600_000
STEP_MILLIS: Final = 1_000

_COMPANY: Final = "acme"
_RECORDS: Final = "/api/v1/memory/records"
_RELATIONS: Final = "/api/v1/memory/relations"
_JUDGMENTS: Final = "/api/v1/memory/judgments"
_LINKS: Final = "/api/v1/memory/links"
_GRAPH: Final = "/api/v1/memory/graph"
_EDGES: Final = "/api/v1/memory/edges"
_CREDENTIALS: Final = "/api/v1/credentials"
_SCOPE: Final = {"project_id": "atlas", "mission_id": None, "agent_id": "planner", "visibility": "shared"}
_PROVENANCE: Final = {
    "origin": "human_statement",
    "method": "interview",
    "method_revision": "2",
    "evidence_ref": "minutes/2026-01-01#4",
    "model": None,
}

Json = dict[str, Any]


class CountedEntropy:
    """Bytes that look random and are the same in every run."""

    def __init__(self) -> None:
        self._drawn = 0

    def draw(self, size: int) -> bytes:
        """The next `size` bytes."""
        self._drawn += 1
        return shake_128(self._drawn.to_bytes(8)).digest(size)


class Tour:
    """A client that writes down what it asked and was answered, unless the name it is given for that is empty."""

    def __init__(self, app: ASGIApp, clock: ManualClock) -> None:
        self.exchanges: list[Exchange] = []
        self.secret = ""
        self._clock = clock
        self._client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://example.com")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def get(self, name: str, route: str, path: str | None = None, query: str = "") -> Any:
        """Ask for something."""
        return await self._ask("GET", name, route, f"{path or route}{query}", None)

    async def post(self, name: str, route: str, path: str | None = None, **members: Any) -> Any:
        """Send a body of the present version and these members."""
        return await self._ask("POST", name, route, path or route, {"contract_version": CONTRACT_VERSION, **members})

    async def unversioned(self, name: str, route: str, **members: Any) -> Any:
        """Send a body of these members alone."""
        return await self._ask("POST", name, route, route, members)

    async def scoped(self, name: str, route: str, **members: Any) -> Any:
        """Send a body with the scope of the tour."""
        return await self.post(name, route, scope=_SCOPE, **members)

    async def command(self, name: str, route: str, key: str, **operation: Any) -> Any:
        """Send one command."""
        return await self.scoped(name, f"{route}/commands", idempotency_key=key, operation=operation)

    async def _ask(self, method: str, name: str, route: str, path: str, body: Json | None) -> Any:
        self._clock.advance(STEP_MILLIS)
        headers = {"authorization": f"Bearer {self.secret}"} if self.secret else {}
        response = await self._client.request(method, path, json=body, headers=headers)
        answer = response.json()
        if name:
            status = response.status_code
            self.exchanges.append(
                Exchange(method=method, route=route, name=name, request=body, status=status, response=answer)
            )
        return answer


async def walk(app: ASGIApp, ledger: Ledger, clock: ManualClock) -> list[Exchange]:
    """Every exchange of the tour. `app` serves `ledger`, which is empty and reads `clock`."""
    async with AsyncExitStack() as stack:
        admin = ledger.bootstrap(_COMPANY, "ada")
        tour = await stack.enter_async_context(Tour(app, clock))
        await tour.get("healthy", "/health")
        await tour.get("ready", "/ready")
        await tour.get("no_token", "/api/v1/identity")
        tour.secret = admin.secret  # type: ignore[union-attr] # an empty ledger refuses no first administrator
        writer = await _issue(tour)
        tour.secret, admin_secret = writer["secret"], tour.secret
        await tour.get("writer", "/api/v1/identity")
        ids = await _records(tour)
        await _relations(tour, ids)
        await _graphs(tour, ids)
        await _feeds(tour)
        await _judgments(tour)
        await _views(tour)
        await _review(tour, ids)
        tour.secret = admin_secret
        await _company(tour, ids)
        await _administer(tour, writer["credential"]["id"])
        return tour.exchanges


async def _issue(tour: Tour) -> Any:
    spec = {
        "subject_id": "grace",
        "capabilities": ["memory_read", "memory_write", "memory_review", "memory_checkpoint", "memory_mine"],
        "grants": [_SCOPE],
        "expires_at_millis": None,
    }
    return await tour.post("writer", _CREDENTIALS, spec=spec)


async def _records(tour: Tour) -> list[str]:
    contents = (
        "The harbour office closes at noon on Fridays.",
        "Deliveries are booked with the harbour office.",
        "Minutes of the meeting on opening hours.",
    )
    ids = []
    for number, content in enumerate(contents, 1):
        record = {"content": content, "tags": ["harbour"]}
        name = "create" if number == 1 else ""
        created = await tour.command(name, _RECORDS, f"note-{number}", type="create", record=record)
        ids.append(created["receipt"]["record_id"])
    first, second, _ = ids
    other = {"content": "Another text under a known key."}
    await tour.command("known_key", _RECORDS, "note-1", type="create", record=other)
    await tour.command("unknown_member", _RECORDS, "note-4", type="create", record=other | {"weight": 1})
    derivation = {
        "sources": [{"record_id": first, "revision": 1}, {"record_id": second, "revision": 1}],
        "method": "summary",
        "method_revision": "1",
        "evidence_ref": "runs/17",
    }
    summary = {"content": "Book deliveries before noon on Fridays.", "title": "Deliveries"}
    await tour.command("derive", _RECORDS, "summary-1", type="derive", record=summary, derivation=derivation)
    await tour.scoped("eligible", f"{_RECORDS}/read", record_id=first)
    await tour.scoped("absent", f"{_RECORDS}/read", record_id="00000000-0000-7000-8000-000000000000")
    await tour.scoped("two", f"{_RECORDS}/batch", record_ids=[second, first])
    await tour.scoped("by_tag", f"{_RECORDS}/query", filter={"tag": "harbour", "limit": 2})
    await tour.scoped("eligible", f"{_RECORDS}/inspect", record_id=first)
    await tour.scoped("first", f"{_RECORDS}/revision", record_id=first, revision=1)
    items = [
        {"idempotency_key": "note-5", "operation": {"type": "create", "record": {"content": "A fourth note."}}},
        {"idempotency_key": "note-6", "operation": {"type": "create", "record": {"content": " "}}},
    ]
    await tour.scoped("one_refused", f"{_RECORDS}/commands/batch", commands=items)
    return ids


async def _relations(tour: Tour, ids: list[str]) -> None:
    first, second, third = ({"record_id": one, "revision": 1} for one in ids)
    relation = {"source": first, "target": second, "kind": "supports", "provenance": _PROVENANCE}
    asserted = await tour.command("assert", _RELATIONS, "link-1", type="assert", relation=relation)
    relation_id = asserted["receipt"]["relation_id"]
    change = {"relation_id": relation_id, "evidence_ref": "minutes/2026-01-08#1"}
    await tour.scoped("eligible", f"{_RELATIONS}/read", relation_id=relation_id)
    await tour.command("retire", _RELATIONS, "link-1-retired", type="retire", expected_revision=1, **change)
    await tour.command("stale", _RELATIONS, "link-1-again", type="retire", expected_revision=1, **change)
    await tour.scoped("hidden", f"{_RELATIONS}/read", relation_id=relation_id)
    await tour.scoped("retired", f"{_RELATIONS}/inspect", relation_id=relation_id)
    await tour.scoped("first", f"{_RELATIONS}/revision", relation_id=relation_id, revision=1)
    backed = {**relation, "target": third, "evidence_sources": [second]}
    items = [{"idempotency_key": "link-2", "operation": {"type": "assert", "relation": backed}}]
    await tour.scoped("one", f"{_RELATIONS}/commands/batch", commands=items)
    await tour.scoped("active", f"{_RELATIONS}/query", filter={"state": "active", "kind": "supports"})
    await tour.scoped("known", "/api/v1/memory/receipts/read", family="relation", idempotency_key="link-1")
    await tour.scoped("unknown", "/api/v1/memory/receipts/read", family="record", idempotency_key="never-used")


async def _graphs(tour: Tour, ids: list[str]) -> None:
    await tour.scoped("neighbours", "/api/v1/memory/graph/typed", query={"root_record_ids": ids[:1], "max_depth": 1})
    page = await tour.scoped("", f"{_RECORDS}/query", filter={"text": "Book deliveries"})
    derived = page["page"]["records"][0]["record_id"]
    await tour.scoped("sources", "/api/v1/memory/graph/evidence", query={"root_record_ids": [derived]})


async def _feeds(tour: Tour) -> None:
    await tour.scoped("baseline", f"{_RELATIONS}/changes/activate")
    page = await tour.scoped("first_page", f"{_RELATIONS}/changes", query={"limit": 2})
    cursor = page["page"]["next_cursor"]
    await tour.scoped("next_page", f"{_RELATIONS}/changes", query={"after": cursor, "limit": 2})
    command = {
        "contract_version": CONTRACT_VERSION,
        "idempotency_key": "saved-1",
        "consumer_id": "indexer",
        "expected_revision": 0,
        "operation": {"type": "advance", "cursor": cursor},
    }
    await tour.unversioned("first", f"{_RELATIONS}/checkpoints", scope=_SCOPE, command=command)
    await tour.scoped("saved", f"{_RELATIONS}/checkpoints/read", consumer_id="indexer")
    await tour.scoped("none_saved", f"{_RELATIONS}/checkpoints/read", consumer_id="nobody")
    await tour.scoped("first", f"{_RELATIONS}/checkpoints/revision", consumer_id="indexer", revision=1)
    await tour.scoped("behind", f"{_RELATIONS}/consumers/diagnose", consumer_id="indexer")


async def _judgments(tour: Tour) -> None:
    early, late = "The ferry leaves the old harbour at nine.", "The ferry leaves the old harbour at ten."
    saved = await tour.command("save", _RECORDS, "ferry-1", type="save", record={"content": early})
    first = saved["receipt"]["record_id"]
    saved = await tour.command("save_surfaces", _RECORDS, "ferry-2", type="save", record={"content": late})
    second = saved["receipt"]["record_id"]
    pending = saved["candidates"][0]["candidate_id"]
    await tour.scoped("waiting", f"{_JUDGMENTS}/query", min_age_millis=0)
    judgments = [
        {"candidate_id": pending, "relation": "supersedes", "reason": "the new timetable", "confidence": 0.9},
        {"candidate_id": pending, "relation": "related"},
    ]
    await tour.scoped("one_refused", f"{_JUDGMENTS}/batch", idempotency_key="ferries", judgments=judgments)
    await tour.scoped("both_ends", f"{_RECORDS}/annotated", record_ids=[first, second])
    await tour.scoped("ferry", f"{_RECORDS}/search", text="ferry harbour", limit=1)
    third = await tour.command("", _RECORDS, "ferry-3", type="create", record={"content": "The ferry was sold."})
    pair = {"source": third["receipt"]["record_id"], "target": second, "similarity": 0.4}
    await tour.scoped("submitted", f"{_JUDGMENTS}/candidates", idempotency_key="pairs", candidates=[pair])
    comparison = {"source_id": pair["source"], "target_id": second, "relation": "conflicts_with", "confidence": 0.8}
    await tour.scoped("conflict", f"{_JUDGMENTS}/compare", idempotency_key="comparison", **comparison)
    swept = await tour.scoped("nothing_due", f"{_JUDGMENTS}/sweep", idempotency_key="run")
    await tour.scoped("nothing_swept", f"{_JUDGMENTS}/undo", idempotency_key="undo", run_id=swept["run_id"])
    refuted = {"record_id": second, "outcome": "refuted", "evidence_ref": "minutes/2026-01-09#2"}
    await tour.scoped("refuted", f"{_RECORDS}/confirm", idempotency_key="seen", confirmations=[refuted])
    await tour.scoped("refuted", f"{_RECORDS}/needs-review")
    await tour.scoped("free", "/api/v1/memory/topic-keys/suggest", title="The old ferry", content=late)


async def _views(tour: Tour) -> None:
    async def create(content: str, key: str, **members: Any) -> str:
        record = {"content": content, **members}
        created = await tour.command("", _RECORDS, key, type="create", record=record)
        record_id: str = created["receipt"]["record_id"]
        return record_id

    tariff = {"source_id": "wiki/tariff", "source_hash": "5f3a"}
    fact = {"fact_key": "tariff/bicycle", "provenance": tariff}
    cheap = await create("A bicycle costs two euros.", "tariff-1", title="Tariff", **fact)
    dear = await create("A bicycle costs three euros.", "tariff-2", category="constraint", **fact)
    notice = await create("The tariff was raised in January.", "tariff-3")
    pin = {"record_id": dear, "expected_revision": 1}
    await tour.command("pin", _RECORDS, "tariff-2-pinned", type="pin", **pin)
    because = {"record_id": notice, "revision": 1}
    marked = {"record_id": cheap, "because": because, "confidence": 0.2}
    await tour.command("mark_stale", _RECORDS, "tariff-1-stale", type="mark_stale", **marked)
    sources = [{"source_id": "wiki/tariff", "source_hash": "77e0"}]
    await tour.scoped("conflict", f"{_RECORDS}/status", record_ids=[cheap, notice], current_sources=sources)
    await tour.scoped("all", f"{_RECORDS}/validate")
    await tour.scoped("one_source", f"{_RECORDS}/validate", source_id="wiki/tariff", current_source_hash="77e0")
    ends = {"source_id": notice, "target_id": dear}
    await tour.command("link", _LINKS, "notice-1", type="link", kind="supports", **ends)
    await tour.command("unlink", _LINKS, "notice-2", type="unlink", source_id=cheap, target_id=dear)
    await tour.scoped("red", f"{_GRAPH}/health")
    await tour.scoped("two", f"{_GRAPH}/overview", limit=2)
    await tour.scoped("block", "/api/v1/memory/context", prompt="What does a bicycle cost?", budget_characters=400)
    run = {"run_id": "night-17", "run_date": "2026-01-08"}
    absent = "00000000-0000-7000-8000-000000000000"
    edges = [
        {"source_id": notice, "target_id": cheap, "kind": "contradicts", "weight": 0.8},
        {"source_id": notice, "target_id": absent, "kind": "supports", "weight": 0.4},
    ]
    await tour.scoped("last_page", f"{_EDGES}/derived/replace", run=run, edges=edges, finish=True)
    walk = {"root_record_ids": [notice], "max_depth": 1, "include_derived": True}
    await tour.scoped("both_layers", f"{_GRAPH}/typed", query=walk)
    await tour.scoped("one_end", f"{_EDGES}/dangling")
    await tour.scoped("dropped", f"{_EDGES}/repair")
    proposals = [
        {"source_id": notice, "target_id": dear, "kind": "supports", "confidence": 0.9},
        {"source_id": notice, "target_id": cheap, "kind": "contradicts", "confidence": 0.8},
    ]
    await tour.scoped("one_waits", f"{_EDGES}/promote", idempotency_key="night-17", run=run, proposals=proposals)
    await tour.scoped("all", f"{_EDGES}/derived/drop")


async def _review(tour: Tour, ids: list[str]) -> None:
    await tour.scoped(
        "waiting", f"{_RECORDS}/retained", filter={"disposition": "waiting", "state": "active", "limit": 1}
    )
    absent = "00000000-0000-7000-8000-000000000000"
    await tour.scoped("one_absent", f"{_RECORDS}/heads", record_ids=[ids[0], absent])
    await tour.scoped("all", f"{_RECORDS}/history", record_id=ids[0])
    page = await tour.scoped("", f"{_RELATIONS}/query", filter={"state": "retired", "limit": 1})
    relation_id = page["page"]["relations"][0]["relation"]["relation_id"]
    await tour.scoped("newest", f"{_RELATIONS}/history", relation_id=relation_id, limit=1)
    page = await tour.scoped("", f"{_RECORDS}/query", filter={"text": "Book deliveries"})
    derived = page["page"]["records"][0]["record_id"]
    await tour.scoped("two_sources", f"{_RECORDS}/lineage", record_id=derived)
    await tour.scoped("three_uses", f"{_RECORDS}/dependents", record_id=ids[0])
    page = await tour.scoped("", f"{_RECORDS}/query", filter={"text": "raised in January"})
    linked = page["page"]["records"][0]["record_id"]
    await tour.scoped("one", f"{_LINKS}/query", record_id=linked)


async def _company(tour: Tour, ids: list[str]) -> None:
    route = "/api/v1/company/memory"
    query = f"?contract_version={CONTRACT_VERSION}"
    found = await tour.get("all", f"{route}/workspaces", query=query)
    workspace_id = found["page"]["workspaces"][0]["workspace_id"]
    at = {"workspace_id": workspace_id}
    await tour.post("retained", f"{route}/records/query", **at, filter={"limit": 1, "view": "retained"})
    await tour.post("one", f"{route}/records/inspect", **at, record_id=ids[0])
    await tour.post("no_such_workspace", f"{route}/records/inspect", workspace_id="0" * 64, record_id=ids[0])
    await tour.post("active", f"{route}/relations/query", **at, filter={"state": "active"})
    await tour.post("one", f"{route}/records/heads", **at, record_ids=ids[:1])
    await tour.post("all", f"{route}/records/history", **at, record_id=ids[0])
    found = await tour.post("", f"{route}/relations/query", **at, filter={"state": "retired"})
    relation_id = found["page"]["relations"][0]["relation"]["relation_id"]
    await tour.post("newest", f"{route}/relations/history", **at, relation_id=relation_id, limit=1)
    await tour.post("itself", f"{route}/records/lineage", **at, record_id=ids[0])
    await tour.post("first", f"{route}/records/dependents", **at, record_id=ids[0], limit=1)
    await tour.post("none", f"{route}/links/query", **at, record_id=ids[0])
    await tour.post("relations", f"{route}/consumers/query", query={"stream": "typed_memory_relations"})


async def _administer(tour: Tour, writer_id: str) -> None:
    one = f"{_CREDENTIALS}/{{id}}"

    async def change(name: str, verb: str, revision: int, **members: Any) -> None:
        path = f"{_CREDENTIALS}/{writer_id}/{verb}"
        await tour.post(name, f"{one}/{verb}", path, expected_revision=revision, **members)

    await tour.get("all", _CREDENTIALS, query=f"?contract_version={CONTRACT_VERSION}")
    await tour.get("writer", one, f"{_CREDENTIALS}/{writer_id}")
    await tour.get("unknown", one, f"{_CREDENTIALS}/00000000-0000-7000-8000-000000000000")
    await change("new_secret", "rotate", 1)
    await change("stale", "rotate", 1)
    everything = {"mode": "all"}
    policy = {
        "version": "company_scopes_v1",
        "projects": {"mode": "only", "ids": ["atlas"]},
        "agents": everything,
        "missions": everything,
        "allow_unassigned_mission": True,
        "visibilities": ["shared"],
    }
    await change("policy", "scope-authority", 2, authority={"grants": [], "scope_policy": policy})
    await change("for_ever", "revoke", 3)
