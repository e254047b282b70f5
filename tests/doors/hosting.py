"""The protocol on real sockets in this process, under an application whose answers a test holds back."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
import uvloop
from starlette.types import Receive, Scope, Send
from uvicorn.server import ServerState

from relatum.http import errors
from relatum.http.connections import Connections
from relatum.http.protocol import BoundedProtocol, Bounds
from relatum.http.responses import Response, write
from relatum.telemetry import Metrics
from tests.support.polling import WAIT_SECONDS

LATER = WAIT_SECONDS
"""A bound that no test comes to."""
SEND_BUFFER_BYTES = 4096


def run(test: Coroutine[Any, Any, None]) -> None:
    """Runs a test on the loop that a server uses, with a bound on all its waits."""

    async def bounded() -> None:
        async with asyncio.timeout(WAIT_SECONDS):
            await test

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(bounded())


async def until(condition: Callable[[], bool]) -> None:
    """Returns once the condition holds; `run` bounds the wait."""
    while not condition():  # noqa: ASYNC110 - what is waited for is told to nobody
        await asyncio.sleep(0)


class Stage:
    """An application. `/at-once` is answered at once, unread; `/long` by so many bytes; any other path when it is let.

    `/watched` is answered by nothing: it waits until the client has gone.

    An answer is the path itself. Bodies are read to their end.
    """

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.left: list[str] = []
        """Whose client had gone, or whose body never came to an end."""
        self.headers: list[tuple[bytes, bytes]] = []
        self.bodies: dict[str, bytes] = {}
        self.long_bytes = 0
        self._let: dict[str, asyncio.Event] = {}

    def let(self, path: str) -> None:
        self._event(path).set()

    def _event(self, path: str) -> asyncio.Event:
        return self._let.setdefault(path, asyncio.Event())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        self.begun.append(path)
        if path != "/at-once":
            self.bodies[path] = b""
            while (message := await receive()).get("more_body", False):
                self.bodies[path] += message["body"]
            self.bodies[path] += message.get("body", b"")
            if message["type"] == "http.disconnect":
                self.left.append(path)
                return
        if path == "/watched":
            assert (await receive())["type"] == "http.disconnect"
            self.left.append(path)
            return
        self.headers = list(scope["headers"])
        if path not in ("/at-once", "/long"):
            await self._event(path).wait()
        await write(scope, send, Response(200, bytes(self.long_bytes) if path == "/long" else path.encode()))


class Host:
    """One listener."""

    def __init__(self, stage: Stage, state: ServerState, metrics: Metrics, port: int) -> None:
        self.stage = stage
        self.port = port
        self._state = state
        self._metrics = metrics
        self._visitors: list[Visitor] = []

    @property
    def connections(self) -> list[BoundedProtocol]:
        return [each for each in self._state.connections if isinstance(each, BoundedProtocol)]

    @property
    def at_rest(self) -> bool:
        """Whether no request runs."""
        return not self._state.tasks

    async def visit(self, sent: bytes = b"") -> Visitor:
        """A new connection on which something is sent at once."""
        visitor = Visitor(*await asyncio.open_connection("127.0.0.1", self.port))
        self._visitors.append(visitor)
        await visitor.send(sent)
        return visitor

    async def see_off(self) -> None:
        """Every visitor leaves."""
        for visitor in self._visitors:
            await visitor.leave()

    def dropped(self, cause: str) -> int:
        return int(self._metrics.connections_dropped(cause)._value.get())

    async def until_begun(self, *paths: str) -> None:
        await until(lambda: self.stage.begun == list(paths))


class Visitor:
    """A client."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()

    async def answer(self) -> tuple[int, bytes]:
        """Status and body of the next answer."""
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
        status = int(head.split(" ", 2)[1])
        length = int(head.lower().split("content-length: ")[1].split("\r\n")[0])
        return status, await self._reader.readexactly(length)

    async def rest(self) -> bytes:
        """Everything until the server closes; a reset is an end too."""
        try:
            return await self._reader.read()
        except ConnectionResetError:
            return b""

    def finish(self) -> None:
        """Close the side on which this client sends."""
        self._writer.write_eof()

    async def leave(self) -> None:
        self._writer.transport.abort()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()


@asynccontextmanager
async def hosted(
    *, connections_max: int = 1024, request_seconds: float = LATER, answer_seconds: float = LATER
) -> AsyncIterator[Host]:
    """A host whose sockets hold as little as may be of what nobody reads."""
    metrics, stage = Metrics(), Stage()
    connections = Connections(connections_max, metrics)
    bounds_of_all = Bounds(connections, metrics, _busy, request_seconds, answer_seconds)

    class Protocol(BoundedProtocol):
        bounds = bounds_of_all

    config = uvicorn.Config(stage, ws="none", lifespan="off", interface="asgi3", access_log=False, log_config=None)
    state = ServerState()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Protocol(config, state, {}, loop), sock=listener)
    host = Host(stage, state, metrics, listener.getsockname()[1])
    try:
        yield host
    finally:
        await host.see_off()
        server.close()
        for connection in host.connections:
            connection.transport.abort()
        for task in list(state.tasks):
            task.cancel()
        await asyncio.gather(*state.tasks, return_exceptions=True)


async def _busy(scope: Scope, receive: Receive, send: Send) -> None:
    await write(scope, send, errors.refused(errors.BUSY))
