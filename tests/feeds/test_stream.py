"""The stream of server-sent events over a real server."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from relatum.limits import COMMAND_BATCH_MAX
from tests.feeds.wire import Feed, follower_of
from tests.http.client import CREDENTIALS, RECORDS, RELATIONS, Api, Caller, relation
from tests.http.serving import Server, initialise
from tests.support.polling import WAIT_SECONDS, until
from tests.support.threads import at_once

LOST_DIGEST = "0" * 64
BACKLOG_BATCHES = 32
"""Some 7 MB of events: more than the operating system buffers for a connection."""


def test_a_stream_tells_what_the_pages_tell_and_goes_on_with_what_is_committed(feed: Feed) -> None:
    receipts = [feed.caller.relate() for _ in range(3)]
    with feed.follow() as following:
        told = following.take(3)
        receipts.append(feed.caller.relate())
        told.append(following.next())
    assert feed.page()["changes"] == [event.data for event in told]
    assert [one["relation_id"] for one in receipts] == [event.data["change"]["relation_id"] for event in told]
    assert [""] * 4 == [event.name for event in told]
    assert 4 == len({event.id for event in told})


def test_an_event_is_resumed_from_by_its_id(feed: Feed) -> None:
    for _ in range(3):
        feed.caller.relate()
    with feed.follow() as following:
        told = following.take(3)
    for event, after in pairwise(told):
        with feed.follow(last_event_id=event.id) as resumed:
            assert after == resumed.next()
    with feed.follow(last_event_id=told[0].id, after=feed.page()["baseline"]) as resumed:
        assert told[1:] == resumed.take(2), "the id counts, as the body is that of the first request"


def test_a_stream_of_records_is_one_too(feed: Feed) -> None:
    feed.caller.create()
    records = Feed(feed.caller, RECORDS)
    with records.follow() as following:
        assert records.page()["changes"] == [following.next().data]


def test_many_writers_are_told_in_one_order_without_a_gap(feed: Feed) -> None:
    source, target = feed.caller.create(), feed.caller.create()

    def assert_some() -> None:
        for _ in range(10):
            feed.caller.relate(source, target)

    with feed.follow() as following:
        at_once([assert_some] * 4)
        told = following.take(40)
    assert list(range(1, 41)) == [event.data["cursor"]["sequence"] for event in told]
    assert feed.page()["changes"] == [event.data for event in told]


def test_a_lost_cursor_is_a_conflict_and_where_it_resumes_a_resync(admin: Caller, feed: Feed) -> None:
    feed.caller.relate()
    with feed.follow() as following:
        event = following.next()
    lost = {**event.data["cursor"], "prefix_digest": LOST_DIGEST}
    with feed.open(after=lost) as response:
        assert 409 == response.status_code
    with feed.open(through=lost) as response:
        assert 409 == response.status_code
    stranger = Feed(follower_of(admin))
    stranger.caller.relate()
    with stranger.follow(last_event_id=event.id) as following:
        [resync] = following.rest()
    assert ("resync", "", {"code": "journal_history_conflict"}) == resync


def test_what_is_no_id_of_the_stream_is_a_bad_request(feed: Feed) -> None:
    feed.caller.relate()
    with feed.follow() as following:
        event = following.next()
    for token in ("x", event.id[:-1], event.id + "A", "A" * len(event.id), event.id[:-1] + "="):
        with feed.open(token) as response:
            assert (400, token) == (response.status_code, token)
    with Feed(feed.caller, RECORDS).open(event.id) as response:
        assert 400 == response.status_code
    with feed.open(event.id, through=feed.page()["baseline"]) as response:
        assert 400 == response.status_code, "it lies beyond the fence"


def test_a_revocation_ends_an_idle_stream_at_once(admin: Caller, feed: Feed) -> None:
    with feed.follow() as following:
        admin.post(f"{CREDENTIALS}/{feed.caller.credential['id']}/revoke", expected_revision=1)
        assert [("resync", "", {"code": "unauthorized"})] == following.rest()


# Bounds, on servers of their own


class Bounded(NamedTuple):
    """A server that takes two streams and waits a second for a reader."""

    server: Server
    feed: Feed

    def streams(self) -> int:
        """How many streams the server counts as open."""
        text = self.feed.caller.api._client.get("/metrics").text
        [line] = [line for line in text.splitlines() if line.startswith("relatum_streams ")]
        return int(float(line.split()[1]))


@pytest.fixture(scope="module")
def bounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Caller]]:
    """The server, and its administrator."""
    store = tmp_path_factory.mktemp("bounded") / "store"
    secret = initialise(store)
    with Server(store, "--streams-max", "2", "--stream-write-seconds", "1") as server, Api(server.url) as api:
        yield server, Caller(api, secret)


@pytest.fixture
def bounded(bounds: tuple[Server, Caller]) -> Bounded:
    server, admin = bounds
    return Bounded(server, Feed(follower_of(admin)))


def test_one_stream_too_many_is_refused_until_another_ends(bounded: Bounded) -> None:
    with bounded.feed.follow(), ExitStack() as second:
        second.enter_context(bounded.feed.follow())
        with bounded.feed.open() as response:
            assert (503, "1") == (response.status_code, response.headers["retry-after"])
        second.close()
        until(lambda: bounded.streams() == 1, "the end of the second")
        with bounded.feed.follow():
            assert 2 == bounded.streams()


def test_a_slow_reader_is_cut_and_holds_nothing(bounded: Bounded) -> None:
    feed = bounded.feed
    asserted = {"type": "assert", "relation": relation(feed.caller.create(), feed.caller.create())}
    for batch in range(BACKLOG_BATCHES):
        commands = [{"idempotency_key": f"{batch}-{one}", "operation": asserted} for one in range(COMMAND_BATCH_MAX)]
        assert 200 == feed.caller.ask(f"{RELATIONS}/commands/batch", commands=commands).status_code
    with _socket_with_little_room(bounded.server) as reader:
        reader.sendall(_request(feed))
        assert reader.recv(1, socket.MSG_PEEK), "the stream has begun"
        until(lambda: bounded.streams() == 0, "the end of the stream")
        received = _everything(reader)
    assert b"HTTP/1.1 200" in received
    assert not received.endswith(b"0\r\n\r\n"), "the end of the stream is not an orderly one"
    assert received.count(b"data: ") < BACKLOG_BATCHES * COMMAND_BATCH_MAX


def test_a_client_of_http_1_0_is_sent_no_chunks(bounded: Bounded) -> None:
    feed = bounded.feed
    feed.caller.relate()
    through = feed.page()["next_cursor"]
    with socket.create_connection(("127.0.0.1", bounded.server.port), WAIT_SECONDS) as reader:
        reader.sendall(_request(feed, "HTTP/1.0", query={"through": through}))
        head, _, body = _everything(reader).partition(b"\r\n\r\n")
    assert b"transfer-encoding" not in head
    assert b"\r\nconnection: close" in head
    assert body.startswith(b"id: ")
    assert body.endswith(b"}\n\n")


def test_a_stop_of_the_server_ends_streams_in_order(tmp_path: Path) -> None:
    secret = initialise(tmp_path / "store")
    with Server(tmp_path / "store") as server, Api(server.url) as api:
        feed = Feed(follower_of(Caller(api, secret)))
        feed.caller.relate()
        with feed.follow() as following:
            following.next()
            assert 0 == server.stop()
            assert [] == following.rest()


def _socket_with_little_room(server: Server) -> socket.socket:
    reader = socket.socket()
    reader.settimeout(WAIT_SECONDS)
    reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    reader.connect(("127.0.0.1", server.port))
    return reader


def _request(feed: Feed, version: str = "HTTP/1.1", **members: Any) -> bytes:
    body = json.dumps({"contract_version": 1, "scope": feed.caller.scope, **members}).encode()
    head = (
        f"POST {RELATIONS}/changes/stream {version}\r\nHost: a\r\nAuthorization: Bearer {feed.caller.secret}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _everything(reader: socket.socket) -> bytes:
    """What had been sent before the connection was dropped."""
    received = b""
    with suppress(ConnectionResetError):
        while part := reader.recv(65_536):
            received += part
    return received
