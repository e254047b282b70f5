"""A client of a running server. Every answer it gets is held to the document that the server serves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import count
from types import TracebackType
from typing import Any, Self

import httpx

from tests.http.described import Described
from tests.support.polling import WAIT_SECONDS

Json = dict[str, Any]

RECORDS = "/api/v1/memory/records"
RELATIONS = "/api/v1/memory/relations"
RECEIPTS = "/api/v1/memory/receipts/read"
CREDENTIALS = "/api/v1/credentials"
IDENTITY = "/api/v1/identity"

EVERYTHING = ("memory_read", "memory_write", "memory_review")
ABSENT = "ffffffff-ffff-4fff-8fff-ffffffffffff"
"""A well-formed id that no ledger makes: it is of version 4."""

_numbers = count(1)


class Api:
    """The server as a client sees it; a context manager."""

    def __init__(self, url: str) -> None:
        self._client = httpx.Client(base_url=url, timeout=WAIT_SECONDS, limits=httpx.Limits(max_connections=128))
        self.described = Described(self._client.get("/openapi.json").json())

    def send(self, method: str, path: str, **arguments: Any) -> httpx.Response:
        """Any request; `arguments` are those of httpx. The answer is judged."""
        response = self._client.request(method, path, **arguments)
        self.described.judge(response)
        return response

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._client.close()


def fresh(word: str) -> str:
    """A name that no other test uses."""
    return f"{word}-{next(_numbers)}"


def scope(**members: Any) -> Json:
    """A scope that no other test uses, unless `members` say which."""
    return {"project_id": fresh("project"), "agent_id": "scout", "visibility": "shared", **members}


@dataclass(frozen=True)
class Caller:
    """One credential at one scope."""

    api: Api
    secret: str
    scope: Json = field(default_factory=scope)
    credential: Json = field(default_factory=dict)

    @property
    def headers(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.secret}"}

    def at(self, **members: Any) -> Caller:
        """The same credential at another scope."""
        return replace(self, scope={**self.scope, **members})

    def get(self, path: str, **query: Any) -> httpx.Response:
        return self.api.send("GET", path, params=query, headers=self.headers)

    def post(self, path: str, **members: Any) -> httpx.Response:
        """A body of version 1 with these members."""
        return self.api.send("POST", path, json={"contract_version": 1, **members}, headers=self.headers)

    def ask(self, path: str, **members: Any) -> httpx.Response:
        """A body of version 1 with the scope and these members."""
        return self.post(path, scope=self.scope, **members)

    def raw(self, path: str, body: bytes | str) -> httpx.Response:
        """Whatever bytes as JSON."""
        return self.api.send("POST", path, content=body, headers={**self.headers, "content-type": "application/json"})

    def command(self, family: str, key: str | None = None, **operation: Any) -> httpx.Response:
        """One command under `key`, or under a new one."""
        return self.ask(f"{family}/commands", idempotency_key=fresh("key") if key is None else key, operation=operation)

    def create(self, content: str = "the tide turned at noon", **members: Any) -> Json:
        """A new record, as a reference to it."""
        return ref(accepted(self.command(RECORDS, type="create", record={"content": content, **members})))

    def relate(self, source: Json | None = None, target: Json | None = None, **members: Any) -> Json:
        """A new relation, between new records unless they are given: its receipt."""
        given = relation(source or self.create(), target or self.create(), **members)
        return accepted(self.command(RELATIONS, type="assert", relation=given))

    def change(self, kind: str, receipt: Json, **members: Any) -> httpx.Response:
        """Retire, restore or review the relation of a receipt at its revision."""
        at = {"relation_id": receipt["relation_id"], "expected_revision": receipt["revision"], "evidence_ref": "note/2"}
        return self.command(RELATIONS, type=kind, **{**at, **members})


def relation(source: Json, target: Json, **members: Any) -> Json:
    """An input of a relation."""
    return {"source": source, "target": target, "kind": "supports", "provenance": provenance(), **members}


def provenance(**members: Any) -> Json:
    """How a relation came about."""
    sound = {"origin": "human_statement", "method": "by hand", "method_revision": "1", "evidence_ref": "note/1"}
    return {**sound, **members}


def ref(receipt: Json) -> Json:
    """The record of a receipt at its revision."""
    return {"record_id": receipt["record_id"], "revision": receipt["revision"]}


def accepted(response: httpx.Response) -> Json:
    """The receipt of a command that must be accepted."""
    assert response.status_code == 200, response.text
    receipt: Json = response.json()["receipt"]
    return receipt


def refusal(response: httpx.Response) -> tuple[int, str]:
    """Status and code of an answer that must be an error."""
    assert response.status_code >= 400, response.text
    return response.status_code, response.json()["error"]["code"]


INVALID = (400, "invalid_request")
UNAUTHORIZED = (401, "unauthorized")
FORBIDDEN = (403, "forbidden")
NO_RECORD = (404, "record_not_found")
STALE = (409, "revision_conflict")
KEY_CONFLICT = (409, "idempotency_conflict")
TOO_LARGE = (413, "invalid_request")
BUSY = (503, "retrieval_busy")


def issue(admin: Caller, **spec: Any) -> Caller:
    """A new credential of everything at a scope of its own, unless `spec` says otherwise."""
    at = spec.pop("scope", None) or scope()
    whole = {"subject_id": fresh("subject"), "capabilities": list(EVERYTHING), "grants": [at], **spec}
    answer = admin.post(CREDENTIALS, spec=whole)
    assert answer.status_code == 201, answer.text
    return Caller(admin.api, answer.json()["secret"], at, answer.json()["credential"])
