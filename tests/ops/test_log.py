"""What a server says of its life: one line of JSON for each thing that an operator wants to know."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from relatum import __version__
from relatum.store.backup.operator_paths import COMPACT_PATH, IMAGE_PATH
from tests.backup.operated import TOKEN, operated
from tests.http.client import IDENTITY, RELATIONS, Api, Caller, issue
from tests.http.serving import Server
from tests.support.polling import WAIT_SECONDS, until

Line = dict[str, Any]


def lines(server: Server, message: str) -> list[Line]:
    """The lines of the log with this message."""
    told: list[Line] = [json.loads(line) for line in server.log_path.read_text().splitlines()]
    return [line for line in told if line["message"] == message]


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("log") / "store"


@pytest.fixture(scope="module")
def served(directory: Path) -> Iterator[tuple[Server, str]]:
    with operated(directory, "--ballast-mib", "8", "--slots", "7") as (server, secret):
        yield server, secret


def test_a_start_tells_the_version_the_directory_and_the_settings_without_secrets(served: tuple[Server, str]) -> None:
    server, _ = served
    (started,) = lines(server, "started")
    expected = {"version": __version__, "recovered": False, "slots": 7, "port": 0, "uds": None, "operator": True}
    assert expected == {name: started[name] for name in expected}
    assert started["directory"].endswith("/store")
    assert "operator.token" not in server.log_path.read_text()
    (too_small,) = lines(server, "the ballast may be too small for a restart on a full disk")
    assert (8, 64) == (too_small["ballast_mib"], too_small["needed"])


def test_a_request_is_called_what_its_client_calls_it_or_else_by_the_server(served: tuple[Server, str]) -> None:
    server, _ = served
    for given in ("a", "7b1e9c5e-0f0c-4d0e-9a2b-0c8f1f6f3b7a", "!" * 128):
        assert given == httpx.get(f"{server.url}{IDENTITY}", headers={"X-Request-Id": given}).headers["x-request-id"]
    with httpx.Client(base_url=server.url, timeout=WAIT_SECONDS) as client:
        made = {client.get(path).headers["x-request-id"] for path in ("/health", "/nowhere", "/metrics", IDENTITY)}
        for unfit in ("", "x" * 129, "a b", "a\tb"):
            made.add(client.get("/health", headers={"X-Request-Id": unfit}).headers["x-request-id"])
        two = client.get("/health", headers=[("X-Request-Id", "a"), ("X-Request-Id", "b")])
        made.add(two.headers["x-request-id"])
    assert 9 == len(made)
    assert all(len(name) == 16 and int(name, 16) >= 0 for name in made)


def test_a_stream_is_named_and_not_to_be_buffered(served: tuple[Server, str]) -> None:
    server, secret = served
    with Api(server.url) as api:
        caller = issue(Caller(api, secret))
        caller.relate()
        body = {"contract_version": 1, "scope": caller.scope}
        headers = {**caller.headers, "X-Request-Id": "stream-1"}
        with httpx.stream("POST", f"{server.url}{RELATIONS}/changes/stream", json=body, headers=headers) as response:
            assert 200 == response.status_code
            assert ("no", "stream-1") == (response.headers["x-accel-buffering"], response.headers["x-request-id"])


def test_what_an_operator_does_and_who_was_refused_is_told(served: tuple[Server, str]) -> None:
    server, secret = served
    named = {"X-Request-Id": "operator-1"}
    for path in (IMAGE_PATH, COMPACT_PATH):
        for wrong in (secret, TOKEN + "x"):
            refused = httpx.post(f"{server.url}{path}", headers=named | {"Authorization": f"Bearer {wrong}"})
            assert 401 == refused.status_code
        done = httpx.post(f"{server.url}{path}", headers=named | {"Authorization": f"Bearer {TOKEN}"}, timeout=60)
        assert 200 == done.status_code
    refusals = lines(server, "somebody without the operator's credential was refused")
    assert [("127.0.0.1", path) for path in (IMAGE_PATH, IMAGE_PATH, COMPACT_PATH, COMPACT_PATH)] == [
        (line["client"], line["route"]) for line in refusals
    ]
    until(lambda: bool(lines(server, "a backup was sent")), "the end of the backup is told")
    told = [*lines(server, "a backup was sent"), *lines(server, "the store was compacted")]
    assert 2 == len(told)
    assert {"operator-1"} == {line["request_id"] for line in (*refusals, *told)}
    assert told[1]["bytes_before"] > 0
    assert all(secret not in json.dumps(line) and TOKEN not in json.dumps(line) for line in refusals)


def test_a_stop_is_told_and_whether_the_store_was_closed(served: tuple[Server, str], directory: Path) -> None:
    server, _ = served
    assert 0 == server.stop()
    (stopping,), (stopped,) = lines(server, "stopping"), lines(server, "stopped")
    assert stopping["drain_seconds"] == 30
    assert stopped["finished"]
    for recovered in (False, True):
        with operated(directory) as (again, _):
            assert recovered is lines(again, "started")[-1]["recovered"]
            again.process.kill()
            again.process.wait(WAIT_SECONDS)
