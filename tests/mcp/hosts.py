"""Hosts as tests see them: the package's own client over either transport, in either era."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, NamedTuple

import httpx2
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

from tests.http.client import Caller
from tests.support.polling import WAIT_SECONDS

Era = Literal["legacy", "2026-07-28"]
Transport = Literal["stdio", "http"]


class Said(NamedTuple):
    """What a tool answered: the same in structure and in text, which is looked at here."""

    ok: bool
    answer: dict[str, Any]


class Host:
    """A host's connection."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The answer of a tool that did what it was asked."""
        said = await self.say(name, arguments)
        assert said.ok, said.answer
        return said.answer

    async def refused(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The answer of one that did not."""
        said = await self.say(name, arguments)
        assert not said.ok, said.answer
        return said.answer

    async def say(self, name: str, arguments: Mapping[str, Any] | None) -> Said:
        result = await self.client.call_tool(name, None if arguments is None else dict(arguments))
        (block,) = result.content
        assert block.type == "text"
        answer = json.loads(block.text)
        assert result.structured_content in (answer, None)
        assert result.is_error == (not answer["ok"])
        return Said(answer["ok"], answer)


@asynccontextmanager
async def host(
    caller: Caller, url: str, transport: Transport = "http", era: Era = "2026-07-28", query: str = "tools=full"
) -> AsyncIterator[Host]:
    """A host of `caller`'s: over HTTP with `query` in the address, over standard streams with the options `query`."""
    if transport == "stdio":
        async with Client(stdio(caller, url, query), mode=era, read_timeout_seconds=WAIT_SECONDS) as client:
            yield Host(client)
        return
    async with (
        httpx2.AsyncClient(headers=caller.headers, timeout=WAIT_SECONDS, trust_env=False) as http,
        Client(
            streamable_http_client(f"{url}/mcp?{query}", http_client=http),
            mode=era,
            read_timeout_seconds=WAIT_SECONDS,
        ) as client,
    ):
        yield Host(client)


def stdio(caller: Caller, url: str, query: str = "tools=full") -> StdioServerParameters:
    """How a host starts the command; members of `query` become its options."""
    options = [f"--{part.replace('_', '-')}".removesuffix("=true") for part in query.split("&") if part]
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "relatum", "mcp", *options],
        env={"RELATUM_CLIENT_URL": url, "RELATUM_CLIENT_SECRET": caller.secret},
    )
