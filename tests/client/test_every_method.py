"""Every method of both clients against one recorded exchange: the blocking one's with a server."""

from __future__ import annotations

import inspect
import json
import re
from pathlib import Path

import anyio
import httpx
import pytest

from relatum.client import AsyncClient, Client, Secret
from relatum.client.asynchronous import (
    company,
    credentials,
    edges,
    follower,
    graph,
    judgments,
    links,
    memory,
    pages,
    records,
    relations,
)
from tests.client import blocking_program, program
from tests.http.serving import Server

Exchange = list[tuple[str, str, bytes, int, bytes, str]]
CLASSES = (
    AsyncClient,
    memory.AsyncMemory,
    records.AsyncRecords,
    relations.AsyncRelations,
    judgments.AsyncJudgments,
    links.AsyncLinks,
    graph.AsyncGraph,
    edges.AsyncEdges,
    credentials.AsyncCredentials,
    company.AsyncCompany,
    company.AsyncCompanyWorkspace,
    follower.AsyncFollower,
    pages.AsyncPages,
)


class Recorder(httpx.BaseTransport):
    """Passes requests on to a server and writes down what was said."""

    def __init__(self, url: str, exchange: Exchange) -> None:
        self._transport = httpx.HTTPTransport()
        self._url = httpx.URL(url)
        self._exchange = exchange

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.url = request.url.copy_with(host=self._url.host, port=self._url.port)
        request.headers["Host"] = "localhost"
        response = self._transport.handle_request(request)
        body = response.read()
        kind = response.headers.get("content-type", "")
        self._exchange.append(
            (request.method, str(request.url.raw_path), request.content, response.status_code, body, kind)
        )
        return httpx.Response(response.status_code, content=body, headers={"content-type": kind})

    def close(self) -> None:
        self._transport.close()


class Replayer(httpx.AsyncBaseTransport):
    """Answers what was written down, to whoever asks the same in the same order."""

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        method, path, content, status, body, kind = self._exchange.pop(0)
        assert (method, path) == (request.method, str(request.url.raw_path))
        assert without_fresh_keys(content) == without_fresh_keys(request.content)
        return httpx.Response(status, content=body, headers={"content-type": kind})


def without_fresh_keys(content: bytes) -> object:
    """A body whose keys are not told apart: each client draws its own."""
    return json.loads(re.sub(rb'"idempotency_key":"[0-9a-f]{32}"', b'"idempotency_key":"fresh"', content) or b"null")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_both_clients_say_the_same_and_understand_the_same(
    server: Server, administrator: str, backend: str, request: pytest.FixtureRequest, store: Path
) -> None:
    exchange = request.config.stash.get(KEPT, None)
    if exchange is None:
        exchange = recorded(server, administrator)
        request.config.stash[KEPT] = exchange
    left = list(exchange)

    async def replay() -> None:
        client = AsyncClient.over(Replayer(left), secret=administrator)
        secret = await program.administer(client)
        await program.run(client, AsyncClient.over(Replayer(left), secret=secret))

    anyio.run(replay, backend=backend)
    assert [] == left


KEPT = pytest.StashKey[Exchange]()


def recorded(server: Server, administrator: str) -> Exchange:
    exchange: Exchange = []
    client = Client.over(Recorder(server.url, exchange), secret=administrator)
    secret: Secret = blocking_program.administer(client)
    blocking_program.run(client, Client.over(Recorder(server.url, exchange), secret=secret))
    return exchange


def test_the_program_uses_every_method() -> None:
    source = inspect.getsource(program)
    methods = {
        (kind.__name__, name)
        for kind in CLASSES
        for name, found in inspect.getmembers(kind)
        if not name.startswith("_") and inspect.isfunction(found)
    }
    assert len(methods) > 80
    assert set() == {one for one in methods if f".{one[1]}(" not in source}
