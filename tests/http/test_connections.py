"""Connections that misbehave: none of them costs the server memory, time, or another client's answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from relatum.http.protocol import HEAD_BYTES_MAX
from tests.http.client import (
    CREDENTIALS,
    IDENTITY,
    NO_RECORD,
    RECEIPTS,
    RECORDS,
    Api,
    Caller,
    Json,
    fresh,
    issue,
    refusal,
)
from tests.http.serving import Server, initialise
from tests.http.wire import Answer, Wire, head, post
from tests.support.matrix import first_of

MIB = 1024 * 1024


@pytest.fixture
def wire(server: Server) -> Iterator[Wire]:
    with Wire(server.port) as connection:
        yield connection


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that waits two seconds for a request."""
    directory = tmp_path_factory.mktemp("hasty") / "store"
    initialise(directory)
    with Server(directory, "--body-timeout-seconds", "2") as running:
        yield running


def is_refusal(answer: Answer, status: int, code: str) -> bool:
    assert ("no-store", "nosniff") == (answer.headers["cache-control"], answer.headers["x-content-type-options"])
    assert {
        "contract_version": 1,
        "error": {"code": code, "message": answer.json()["error"]["message"]},
    } == answer.json()
    return (status, code) == (answer.status, answer.json()["error"]["code"])


# Heads


def test_a_head_up_to_its_bound_is_read_and_a_larger_one_refused(wire: Wire, server: Server) -> None:
    room = HEAD_BYTES_MAX - 200
    wire.send(head("GET", "/health", f"X-Padding: {'x' * room}"))
    assert 200 == wire.answer().status
    wire.send(head("GET", "/health", f"X-Padding: {'x' * HEAD_BYTES_MAX}"))
    assert is_refusal(wire.answer(), 431, "invalid_request")
    assert wire.is_closed()


def test_a_head_that_never_ends_is_refused_before_it_fills_memory(wire: Wire) -> None:
    wire.send(b"GET /health HTTP/1.1\r\n")
    answer = None
    try:
        for _ in range(64 * MIB // 65536):
            wire.send(b"X-Padding: " + b"x" * 65523 + b"\r\n")
    except ConnectionError:
        pass  # closed by the server while more was on its way
    else:
        answer = wire.answer()
    assert answer is None or is_refusal(answer, 431, "invalid_request")
    assert answer is None or wire.is_closed()


def test_a_long_path_is_an_unknown_path(wire: Wire) -> None:
    wire.send(head("GET", "/" + "x" * 30_000))
    assert is_refusal(wire.answer(), 404, "not_found")


@pytest.mark.parametrize(
    "path",
    ["/%00", "/%ff", "/../health", "//health", "/health/", "/HEALTH", "/health%2f", "/?/health", "/%2Fhealth"],
)
def test_odd_paths_lead_nowhere_and_harm_nothing(path: str, wire: Wire) -> None:
    wire.send(head("GET", path))
    assert wire.answer().status in {404, 307}
    wire.send(head("GET", "/health"))
    assert 200 == wire.answer().status


@pytest.mark.parametrize(
    "garbage", [b"\x16\x03\x01\x02\x00", b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\0" * 100]
)
def test_what_is_no_http_is_told_so_and_closed(garbage: bytes, wire: Wire) -> None:
    wire.send(garbage)
    assert is_refusal(wire.answer(), 400, "invalid_request")
    assert wire.is_closed()


def test_a_slash_within_a_segment_is_no_slash_between_two(wire: Wire, caller: Caller, admin: Caller) -> None:
    own = caller.get(IDENTITY).json()["credential"]["id"]
    for path in (f"{RECORDS}/query".replace("memory/", "memory%2F"), f"{CREDENTIALS}/{own}%2frevoke"):
        wire.send(post(admin, path))
        assert is_refusal(wire.answer(), 404, "not_found")
    assert 200 == caller.get(IDENTITY).status_code


def test_an_offer_of_another_protocol_changes_nothing(wire: Wire, caller: Caller) -> None:
    request = post(caller, f"{RECORDS}/query", filter={})
    offer = (
        b"\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n"
    )
    wire.send(request.replace(b"\r\n\r\n", offer, 1))  # what OpenJDK's client and `curl --http2` send
    assert 200 == wire.answer().status

    inner = head("GET", IDENTITY, f"Authorization: Bearer {caller.secret}")
    lines = [f"Authorization: Bearer {caller.secret}", "Content-Type: application/json", "Upgrade: h2c"]
    wire.send(head("POST", f"{RECORDS}/commands", *lines, "Connection: Upgrade", f"Content-Length: {len(inner)}"))
    wire.send(inner)
    assert is_refusal(wire.answer(), 400, "invalid_request")
    wire.send(head("GET", "/health"))
    assert b"healthy" in wire.answer().body


# Bodies


def test_an_unauthorized_request_is_answered_before_its_body_arrives(wire: Wire) -> None:
    wire.send(head("POST", f"{RECORDS}/commands/batch", f"Content-Length: {MIB}"))
    assert is_refusal(wire.answer(), 401, "unauthorized")
    wire.send(b"x" * MIB + head("GET", "/health"))
    assert 200 == wire.answer().status


def test_a_body_without_an_end_is_refused_at_its_bound(wire: Wire, caller: Caller) -> None:
    lines = [f"Authorization: Bearer {caller.secret}", "Content-Type: application/json", "Transfer-Encoding: chunked"]
    wire.send(head("POST", f"{RECORDS}/commands", *lines))
    for _ in range(64 * 1024 // 4096 + 1):
        wire.send(b"1000\r\n" + b" " * 4096 + b"\r\n")
    assert is_refusal(wire.answer(), 413, "invalid_request")


def test_a_declared_length_is_not_believed_to_be_too_large(wire: Wire, caller: Caller) -> None:
    lines = [f"Authorization: Bearer {caller.secret}", "Content-Type: application/json"]
    wire.send(head("POST", f"{RECORDS}/commands", *lines, f"Content-Length: {2**62}"))
    wire.send(b" " * 65_537)
    assert is_refusal(wire.answer(), 413, "invalid_request")


def test_a_client_that_asks_first_is_told_to_go_on(wire: Wire, caller: Caller) -> None:
    request = post(caller, f"{RECORDS}/query", filter={})
    whole, _, body = request.partition(b"\r\n\r\n")
    wire.send(whole + b"\r\nExpect: 100-continue\r\n\r\n")
    assert 100 == wire.answer().status
    wire.send(body)
    assert 200 == wire.answer().status


def test_requests_that_arrive_together_are_answered_one_after_another(wire: Wire, caller: Caller) -> None:
    keys = [fresh("key") for _ in range(20)]
    create = {"type": "create", "record": {"content": "c"}}
    wire.send(b"".join(post(caller, f"{RECORDS}/commands", idempotency_key=key, operation=create) for key in keys))
    assert keys == [wire.answer().json()["receipt"]["idempotency_key"] for _ in keys]


# Time


def test_a_body_that_does_not_arrive_in_time_is_refused(hasty: Server, caller: Caller) -> None:
    with Api(hasty.url), Wire(hasty.port) as slow:
        slow.send(head("GET", "/health"))
        assert 200 == slow.answer().status
        slow.send(head("POST", "/health", "Content-Length: 5") + b"x")
        assert is_refusal(slow.answer(), 405, "method_not_allowed")
        assert slow.is_closed()


def test_a_scoped_request_that_does_not_arrive_in_time_is_refused(tmp_path: Path) -> None:
    secret = initialise(tmp_path / "store")
    with Server(tmp_path / "store", "--body-timeout-seconds", "1") as server, Api(server.url) as api:
        caller = issue(Caller(api, secret))
        with Wire(server.port) as slow:
            slow.send(post(caller, f"{RECORDS}/query", filter={})[:-1])
            assert is_refusal(slow.answer(), 400, "invalid_request")
            assert slow.is_closed()
        assert 200 == caller.ask(f"{RECORDS}/query", filter={}).status_code


def test_a_head_that_does_not_arrive_in_time_is_refused(hasty: Server) -> None:
    with Wire(hasty.port) as slow:
        slow.send(b"GET /health HTTP/1.1\r\nHost: rel")
        assert is_refusal(slow.answer(), 400, "invalid_request")
        assert slow.is_closed()


@pytest.mark.parametrize("prologue", first_of([b"\r\n\r\n", b""]))
def test_a_connection_on_which_no_request_begins_is_closed(prologue: bytes, hasty: Server) -> None:
    with Wire(hasty.port) as silent:
        silent.send(prologue)
        assert silent.is_closed()


def test_a_connection_that_is_used_again_in_time_is_kept(wire: Wire) -> None:
    for _ in range(3):
        wire.send(head("GET", "/health"))
        assert 200 == wire.answer().status


# Departures


def test_clients_that_leave_cost_the_others_nothing(server: Server, caller: Caller) -> None:
    create: Json = {"type": "create", "record": {"content": "c"}}
    keys = [fresh("left") for _ in range(10)]
    for key in keys:
        request = post(caller, f"{RECORDS}/commands", idempotency_key=key, operation=create)
        for part in (request, request[:-10], request[:40]):
            leaving = Wire(server.port)
            leaving.send(part)
            leaving.reset()
        assert 200 == caller.command(RECORDS, **create).status_code
    for key in keys:
        found = caller.ask(RECEIPTS, family="record", idempotency_key=key)
        again = caller.command(RECORDS, key, **create)
        assert 200 == again.status_code
        if found.status_code == 200:
            assert found.json()["receipt"] == again.json()["receipt"]
        else:
            assert NO_RECORD == refusal(found)
    assert 200 == caller.get(IDENTITY).status_code
