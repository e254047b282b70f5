"""A client of server-sent events tells an orderly end, a break, silence and nonsense apart."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Thread

import pytest

from crash_tests import event_stream
from crash_tests.event_stream import Event, EventStream
from crash_tests.violation import Violation
from crash_tests.wire import Unreachable
from tests.support.polling import WAIT_SECONDS

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
DELIVERY = b'id: one\ndata: {"n":1}\n\n'
IDLE = b'event: checkpoint\ndata: {"n":2}\n\n'
BODY = b'{"asked":"for"}'
END = b"0\r\n\r\n"


def chunk(part: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(part), part)


def served(answer: bytes, read: Callable[[EventStream], object], *, closes: bool = True) -> object:
    """What `read` makes of an answer whose connection is closed, or left open in silence, after these bytes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, suppress(ConnectionError):  # of a reader that gave up before we had our turn
                asked = b""
                while not asked.endswith(BODY):
                    asked += connection.recv(65_536)
                connection.sendall(answer)
                if not closes:
                    connection.recv(1)

        thread = Thread(target=serve)
        thread.start()
        try:
            with EventStream(listening.getsockname()[1], "secret", "/stream", BODY) as stream:
                return read(stream)
        finally:
            thread.join(WAIT_SECONDS)


def test_events_come_whole_however_they_are_cut_into_chunks() -> None:
    expected = [Event("", "one", {"n": 1}), Event("checkpoint", "", {"n": 2})]
    whole = DELIVERY + IDLE
    for cut in range(1, len(whole)):
        answer = HEAD + chunk(whole[:cut]) + chunk(whole[cut:]) + END
        assert expected == served(answer, EventStream.rest)


@pytest.mark.parametrize("sent", [HEAD, HEAD + chunk(DELIVERY), HEAD + chunk(DELIVERY + IDLE[:5]), HEAD + b"9\r\nid: "])
def test_an_answer_that_breaks_off_has_no_orderly_end(sent: bytes) -> None:
    with pytest.raises(Unreachable):
        served(sent, EventStream.rest)


def test_an_orderly_end_within_an_event_is_noticed() -> None:
    with pytest.raises(Violation, match="ended in order within an event"):
        served(HEAD + chunk(DELIVERY[:-1]) + END, EventStream.rest)


def test_what_is_no_event_is_noticed() -> None:
    with pytest.raises(Violation, match="is no event"):
        served(HEAD + chunk(b"id: one\nid: two\ndata: {}\n\n") + END, EventStream.rest)


def test_a_stream_that_falls_silent_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "ANSWER_SECONDS_MAX", 0.05)
    with pytest.raises(Violation, match="/stream was silent"):
        served(HEAD + chunk(DELIVERY), EventStream.rest, closes=False)


def test_a_stream_that_goes_on_for_ever_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def go_on(stream: EventStream) -> None:
        monkeypatch.setattr(event_stream, "ANSWER_SECONDS_MAX", 0)
        stream.rest()

    with pytest.raises(Violation, match="/stream did not end within 0 s"):
        served(HEAD + chunk(DELIVERY), go_on, closes=False)


def test_a_refusal_is_no_stream() -> None:
    answer = b"HTTP/1.1 503 Busy\r\ncontent-length: 2\r\n\r\n{}"
    assert (503, b"{}") == served(answer, lambda stream: stream.refusal)
