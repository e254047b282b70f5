"""What a head may ask for that is not given: another protocol, a tunnel, an answer to nobody in particular.

Whatever follows such a head is read as what the head's framing says it is, and as nothing else.
"""

from __future__ import annotations

import pytest

from tests.doors.hosting import Host, hosted, run
from tests.doors.test_framing import refused
from tests.http.wire import head

INNER = head("GET", "/inner")
"""A request that no client sends: it is the body of one."""
CHUNKED = b"%x\r\n%b\r\n%x\r\n%b\r\n0\r\n\r\n" % (5, INNER[:5], len(INNER) - 5, INNER[5:])
BODIES = {f"Content-Length: {len(INNER)}": INNER, "Transfer-Encoding: chunked": CHUNKED}


async def _told(host: Host, pieces: list[bytes]) -> list[tuple[int, bytes]]:
    """The answers to `/outer` and to what follows it."""
    visitor = await host.visit()
    for piece in pieces:
        await visitor.send(piece)
    await host.until_begun("/outer")
    host.stage.let("/outer")
    host.stage.let("/next")
    return [await visitor.answer(), await visitor.answer()]


@pytest.mark.parametrize("cut", ["in one piece", "behind the head", "byte by byte"])
@pytest.mark.parametrize("framing", BODIES)
@pytest.mark.parametrize("token", ["h2c", "websocket", "TLS/1.2", "HTTP/2.0, h2c"])
def test_a_body_behind_an_offer_is_a_body(token: str, framing: str, cut: str) -> None:
    async def test() -> None:
        async with hosted() as host:
            offering = head("POST", "/outer", "Connection: keep-alive, Upgrade", f"Upgrade: {token}", framing)
            body, following = BODIES[framing], head("GET", "/next")
            match cut:
                case "in one piece":
                    pieces = [offering + body + following]
                case "behind the head":
                    pieces = [offering, body, following]
                case _:
                    pieces = [bytes([byte]) for byte in offering + body + following]
            assert [(200, b"/outer"), (200, b"/next")] == await _told(host, pieces)
            assert ["/outer", "/next"] == host.stage.begun
            assert INNER == host.stage.bodies["/outer"]

    run(test())


def test_every_one_of_many_offers_in_one_piece_is_answered() -> None:
    async def test() -> None:
        async with hosted() as host:
            offering = head("GET", "/at-once", "Upgrade: h2c", "Connection: Upgrade, HTTP2-Settings")
            visitor = await host.visit(offering * 20 + head("GET", "/at-once", "Connection: close"))
            assert [(200, b"/at-once")] * 21 == [await visitor.answer() for _ in range(21)]
            assert b"" == await visitor.rest()

    run(test())


HEADS = {
    "no Host": b"GET / HTTP/1.1\r\n\r\n",
    "two": b"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
    "two, of HTTP/1.0": b"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n",
    "a list": b"GET / HTTP/1.1\r\nHost: a, b\r\n\r\n",
    "a user": b"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n",
    "a path": b"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n",
    "no port": b"GET / HTTP/1.1\r\nHost: a:b\r\n\r\n",
    "none behind an offer": b"GET / HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
    "a tunnel": b"CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n",
    "a tunnel to a path": b"CONNECT http://a/at-once HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n",
    "HTTP/2": b"GET / HTTP/2.0\r\nHost: a\r\n\r\n",
    "HTTP/0.9": b"GET / HTTP/0.9\r\n\r\n",
    "chunks of HTTP/1.0": b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
}


@pytest.mark.parametrize("name", HEADS)
def test_a_head_that_can_t_be_answered_is_refused_and_nothing_behind_it_is_read(name: str) -> None:
    async def test() -> None:
        async with hosted() as host:
            visitor = await host.visit(HEADS[name] + INNER)
            assert (400, "invalid_request") == refused(await visitor.answer())
            assert b"" == await visitor.rest()
            assert [] == host.stage.begun

    run(test())


@pytest.mark.parametrize("host_line", ["a", "a:1", "127.0.0.1:80", "[::1]:7474", "[::ffff:127.0.0.1]", "", "a.b-c_d:"])
def test_every_spelling_of_a_host_is_taken(host_line: str) -> None:
    async def test() -> None:
        async with hosted() as host:
            visitor = await host.visit(f"GET /at-once HTTP/1.1\r\nHost: {host_line}\r\n\r\n".encode())
            assert (200, b"/at-once") == await visitor.answer()

    run(test())


# HTTP/1.0


def test_a_client_of_http_1_0_needs_no_host_and_is_not_told_to_go_on() -> None:
    async def test() -> None:
        async with hosted() as host:
            visitor = await host.visit(b"POST /outer HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\nx")
            host.stage.let("/outer")
            assert (200, b"/outer") == await visitor.answer()
            assert b"" == await visitor.rest()

    run(test())
