"""Judgments as a client asks for them: paths, and the few calls that most tests need."""

from __future__ import annotations

from typing import Any

import httpx

from tests.http.client import RECORDS, Caller, Json, accepted, fresh, ref

JUDGMENTS = "/api/v1/memory/judgments"
TOPIC_KEYS = "/api/v1/memory/topic-keys/suggest"
NO_CANDIDATE = (404, "candidate_not_found")


def answered(response: httpx.Response) -> Json:
    """The body of an answer that must be 200."""
    assert response.status_code == 200, response.text
    found: Json = response.json()
    return found


def save(caller: Caller, content: str = "the tide turned at noon", **members: Any) -> Json:
    """The answer to a save; `candidates_max` and `key` are not members of the record."""
    given = {name: members.pop(name) for name in ("candidates_max",) if name in members}
    key = members.pop("key", None)
    return answered(caller.command(RECORDS, key, type="save", record={"content": content, **members}, **given))


def saved(caller: Caller, content: str = "the tide turned at noon", **members: Any) -> Json:
    """A saved record, as a reference to it."""
    return ref(save(caller, content, **members)["receipt"])


def command(caller: Caller, path: str, key: str | None = None, **members: Any) -> httpx.Response:
    """A judgment command under `key`, or under a new one."""
    return caller.ask(path, idempotency_key=fresh("key") if key is None else key, **members)


def batch(caller: Caller, *judgments: Json, key: str | None = None) -> Json:
    """The answer to a batch of verdicts."""
    return answered(command(caller, f"{JUDGMENTS}/batch", key, judgments=list(judgments)))


def judge(caller: Caller, candidate_id: str, relation: str, **members: Any) -> Json:
    """The result of one verdict that must be accepted."""
    [result] = batch(caller, {"candidate_id": candidate_id, "relation": relation, **members})["results"]
    assert result["ok"], result
    given: Json = result
    return given


def compare(caller: Caller, source: Json, target: Json, relation: str, **members: Any) -> httpx.Response:
    """A verdict without a candidate."""
    given = {"source_id": source["record_id"], "target_id": target["record_id"], "relation": relation}
    return command(caller, f"{JUDGMENTS}/compare", **{"confidence": 0.5, **given, **members})


def submit(caller: Caller, *pairs: tuple[Json, Json], key: str | None = None) -> list[Json]:
    """The candidates of pairs."""
    given = [{"source": one["record_id"], "target": other["record_id"], "similarity": 0.5} for one, other in pairs]
    found: list[Json] = answered(command(caller, f"{JUDGMENTS}/candidates", key, candidates=given))["candidates"]
    return found


def candidate(caller: Caller, source: Json | None = None, target: Json | None = None) -> str:
    """A pending candidate, between new records unless they are given."""
    [found] = submit(caller, (source or caller.create("the ferry"), target or caller.create("the harbour")))
    candidate_id: str = found["candidate_id"]
    return candidate_id


def queue(caller: Caller, **members: Any) -> Json:
    """What the queue answers, whatever the age of its candidates."""
    return answered(caller.ask(f"{JUDGMENTS}/query", **{"min_age_millis": 0, **members}))


def annotated(caller: Caller, *records: Json, **members: Any) -> list[Json]:
    """Annotated records."""
    ids = [one["record_id"] for one in records]
    found: list[Json] = answered(caller.ask(f"{RECORDS}/annotated", record_ids=ids, **members))["records"]
    return found


def relations_of(caller: Caller, record: Json, **members: Any) -> list[Json]:
    """The annotations of one record."""
    [found] = annotated(caller, record, **members)
    relations: list[Json] = found["relations"]
    return relations


def standing(caller: Caller, record: Json) -> Json:
    """A record's standing."""
    found: Json = answered(caller.ask(f"{RECORDS}/inspect", record_id=record["record_id"]))["inspection"]["standing"]
    return found


def search(caller: Caller, text: str, **members: Any) -> list[Json]:
    """What a search answers, best first."""
    found: list[Json] = answered(caller.ask(f"{RECORDS}/search", text=text, **members))["records"]
    return found


def change(caller: Caller, kind: str, record: Json, /, **members: Any) -> Json:
    """Delete, archive, review or revise a record: the receipt."""
    at = {"record_id": record["record_id"], "expected_revision": record["revision"]}
    return accepted(caller.command(RECORDS, type=kind, **at, **members))
