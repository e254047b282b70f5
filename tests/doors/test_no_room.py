"""A server with as many requests at work as may be: what it refuses, and in which order it checks (transport.md)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from relatum.http.connections import SPARE
from relatum.http.settings import CONNECTIONS_MIN
from tests.doors.crowd import crowd
from tests.doors.watching import watching
from tests.http.client import (
    BUSY,
    CREDENTIALS,
    FORBIDDEN,
    IDENTITY,
    INVALID,
    RECORDS,
    TOO_LARGE,
    UNAUTHORIZED,
    Api,
    Caller,
    issue,
    refusal,
)
from tests.http.serving import Server, initialise
from tests.http.wire import post
from tests.support.polling import until

FOLLOWERS = CONNECTIONS_MIN - SPARE
"""How many followers leave no room."""


@dataclass(frozen=True)
class Crowded:
    """Who calls a server that has no room."""

    admin: Caller
    caller: Caller
    reader: Caller


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crowded]:
    directory = tmp_path_factory.mktemp("crowded") / "store"
    secret = initialise(directory)
    with (
        Server(directory, "--connections-max", str(CONNECTIONS_MIN)) as server,
        Api(server.url) as api,
        watching(server.url) as watcher,
        crowd(server.port, FOLLOWERS) as members,
    ):
        admin = Caller(api, secret)
        caller = issue(admin)
        caller.create()
        reader = issue(admin, capabilities=["memory_read"], scope=caller.scope)
        for member in members:
            member.sendall(post(caller, f"{RECORDS}/changes/stream", query={}))
        until(lambda: caller.get(IDENTITY).status_code == 503, "no room")
        yield Crowded(admin, caller, reader)
        assert watcher.healthy()


def test_paths_methods_and_tokens_are_checked_first(crowded: Crowded) -> None:
    api = crowded.caller.api
    assert (404, "not_found") == refusal(api.send("GET", "/api/v1/nowhere"))
    assert (405, "method_not_allowed") == refusal(api.send("GET", f"{RECORDS}/commands"))
    nobody = Caller(api, "nobody")
    assert UNAUTHORIZED == refusal(nobody.get(IDENTITY)) == refusal(nobody.ask(f"{RECORDS}/query", filter={}))
    assert FORBIDDEN == refusal(crowded.caller.get(CREDENTIALS, contract_version=1))


def test_so_are_bodies_and_authority(crowded: Crowded) -> None:
    commands, create = f"{RECORDS}/commands", {"type": "create", "record": {"content": "c"}}
    assert TOO_LARGE == refusal(crowded.caller.raw(commands, b" " * 65_537))
    assert INVALID == refusal(crowded.caller.ask(commands))
    assert INVALID == refusal(crowded.caller.raw(f"{commands}/batch", b" " * 100_000))
    assert FORBIDDEN == refusal(crowded.reader.ask(commands, idempotency_key="key", operation=create))
    assert BUSY == refusal(crowded.caller.ask(commands, idempotency_key="key", operation=create))


def test_every_route_that_takes_a_credential_is_refused_then(crowded: Crowded) -> None:
    for answer in (
        crowded.caller.get(IDENTITY),
        crowded.admin.get(CREDENTIALS, contract_version=1),
        crowded.caller.ask(f"{RECORDS}/query", filter={}),
    ):
        assert BUSY == refusal(answer)
        assert "1" == answer.headers["retry-after"]


@pytest.mark.parametrize("path", ["/health", "/ready", "/metrics", "/openapi.json", "/docs"])
def test_public_routes_are_answered(path: str, crowded: Crowded) -> None:
    assert 200 == crowded.caller.api.send("GET", path).status_code
