"""A consumer over the wire: the routes of one stream, and its server-sent events as they arrive."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import httpx

from tests.feeds.following import CONSUMER
from tests.http.client import EVERYTHING, RELATIONS, Caller, Json, fresh, issue

WHOLE = (*EVERYTHING, "memory_checkpoint")


def follower_of(admin: Caller, **spec: Any) -> Caller:
    """A new credential that may do everything at a scope of its own, checkpoints too, unless `spec` says otherwise."""
    return issue(admin, **{"capabilities": list(WHOLE), **spec})


class Event(NamedTuple):
    """One server-sent event; `name` is empty for a delivery."""

    name: str
    id: str
    data: Any


class Feed:
    """One stream as one caller sees it; answers are judged by the document of the server."""

    def __init__(self, caller: Caller, path: str = RELATIONS) -> None:
        self.caller = caller
        self.path = path

    def ask(self, route: str, **members: Any) -> httpx.Response:
        return self.caller.ask(f"{self.path}/{route}", **members)

    def changes(self, **query: Any) -> httpx.Response:
        return self.ask("changes", query={"limit": 256, **query})

    def page(self, **query: Any) -> Json:
        """A page that must be answered."""
        answer = self.changes(**query)
        assert answer.status_code == 200, answer.text
        page: Json = answer.json()["page"]
        return page

    def save(self, cursor: Json, before: Json | None = None, **members: Any) -> httpx.Response:
        """An advance of the checkpoint from what was saved before."""
        command = {
            "contract_version": 1,
            "idempotency_key": fresh("checkpoint"),
            "consumer_id": CONSUMER,
            "expected_revision": before["revision"] if before else 0,
            "expected_checkpoint_digest": before["checkpoint_digest"] if before else None,
            "operation": {"type": "advance", "cursor": cursor},
            **members,
        }
        body = {"scope": self.caller.scope, "command": command}
        return self.caller.api.send("POST", f"{self.path}/checkpoints", json=body, headers=self.caller.headers)

    @contextmanager
    def follow(self, last_event_id: str | None = None, **query: Any) -> Iterator[Following]:
        """The stream of server-sent events, which must be answered."""
        with self.open(last_event_id, **query) as response:
            assert response.status_code == 200, response.read()
            yield Following(response)

    @contextmanager
    def open(self, last_event_id: str | None = None, **query: Any) -> Iterator[httpx.Response]:
        """The answer to a request for the stream, whatever it is."""
        headers = self.caller.headers | ({} if last_event_id is None else {"last-event-id": last_event_id})
        body = {"contract_version": 1, "scope": self.caller.scope, "query": query}
        client = self.caller.api._client  # bounds every wait for a part of the answer
        with client.stream("POST", f"{self.path}/changes/stream", json=body, headers=headers) as response:
            yield response


class Following:
    """The events of one answer, one by one; every wait is bounded by the client."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def next(self) -> Event:
        """The next event."""
        event = self._next()
        assert event is not None, "the stream has ended"
        return event

    def take(self, number: int) -> list[Event]:
        return [self.next() for _ in range(number)]

    def rest(self) -> list[Event]:
        """Every event until the stream ends."""
        return list(iter(self._next, None))

    def _next(self) -> Event | None:
        event: list[str] = []
        for line in self._lines:
            if not line:
                return _event(event)
            event.append(line)
        assert not event, "the stream ended within an event"
        return None


def parsed(text: str) -> list[Event]:
    """Whole events."""
    assert not text or text.endswith("\n\n"), "an event is sent whole"
    return [_event(one.split("\n")) for one in text.split("\n\n")[:-1]]


def _event(lines: list[str]) -> Event:
    fields = dict(line.split(": ", 1) for line in lines)
    assert len(fields) == len(lines), "a field stands once in an event"
    assert fields.keys() <= {"event", "id", "data"}
    return Event(fields.get("event", ""), fields.get("id", ""), json.loads(fields["data"]))
