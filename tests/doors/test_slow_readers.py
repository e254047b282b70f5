"""Clients that don't take what they are sent: nothing of them lasts longer than the time for an answer."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

import pytest

from relatum.http.protocol import BoundedProtocol
from tests.doors.hosting import LATER, SEND_BUFFER_BYTES, Host, hosted, run, until
from tests.http.wire import head

LONG = 4 * 1024 * 1024
SOON = 0.05


def get(path: str, *lines: str) -> bytes:
    return head("GET", path, *lines)


def test_an_answer_that_is_not_taken_in_time_costs_the_connection() -> None:
    async def test() -> None:
        async with hosted(answer_seconds=SOON) as host:
            host.stage.long_bytes = LONG
            visitor = await host.visit(get("/long"))
            await until(lambda: host.dropped("unread") == 1)
            assert len(await visitor.rest()) < LONG

    run(test())


def test_answers_that_are_taken_in_time_are_whole_however_long_they_are() -> None:
    async def test() -> None:
        async with hosted(answer_seconds=LATER) as host:
            host.stage.long_bytes = SEND_BUFFER_BYTES * 64
            visitor = await host.visit(get("/long") * 3)
            assert [(200, bytes(SEND_BUFFER_BYTES * 64))] * 3 == [await visitor.answer() for _ in range(3)]
            assert 0 == host.dropped("unread")

    run(test())


# The last bytes of an answer, behind which nothing is to be sent any more


@contextmanager
def deaf(host: Host) -> Iterator[socket.socket]:
    """A client that reads nothing, and whose system keeps little for it."""
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SEND_BUFFER_BYTES)
        client.setblocking(False)
        yield client


async def with_bytes_to_take(host: Host, client: socket.socket) -> BoundedProtocol:
    """The connection of the client, idle but for the end of an answer that fits nowhere any more."""
    loop = asyncio.get_running_loop()
    await loop.sock_connect(client, ("127.0.0.1", host.port))
    host.stage.long_bytes = SEND_BUFFER_BYTES
    await until(lambda: len(host.connections) == 1)
    [connection] = host.connections
    while not connection.transport.get_write_buffer_size():
        await loop.sock_sendall(client, get("/long"))
        await until(lambda: len(connection._unanswered) == 1)
        await until(lambda: not connection._unanswered)
    assert not connection.flow.write_paused, "so little that the server does not wait for it"
    return connection


async def stop(connection: BoundedProtocol, client: socket.socket) -> None:
    connection.shutdown()


async def idle(connection: BoundedProtocol, client: socket.socket) -> None:
    connection.timeout_keep_alive_handler()


async def leave(connection: BoundedProtocol, client: socket.socket) -> None:
    client.shutdown(socket.SHUT_WR)


async def ask_to_close(connection: BoundedProtocol, client: socket.socket) -> None:
    await asyncio.get_running_loop().sock_sendall(client, get("/at-once", "Connection: close"))


@pytest.mark.parametrize("end", [stop, idle, leave, ask_to_close])
def test_a_close_waits_no_longer_for_the_last_bytes_to_be_taken(
    end: Callable[[BoundedProtocol, socket.socket], Awaitable[None]],
) -> None:
    async def test() -> None:
        async with hosted(answer_seconds=SOON) as host:
            with deaf(host) as client:
                connection = await with_bytes_to_take(host, client)
                assert 0 == host.dropped("unread")
                await end(connection, client)
                await until(lambda: host.connections == [])
                assert 1 == host.dropped("unread")

    run(test())
