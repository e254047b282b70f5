"""One server for these tests; each test has a scope of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.http.client import Api, Caller, issue
from tests.http.serving import Server, initialise


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    """A server, and the secret of its administrator."""
    directory = tmp_path_factory.mktemp("mcp") / "store"
    secret = initialise(directory)
    with Server(directory, "--mcp", "on") as running:
        yield running, secret


@pytest.fixture(scope="session")
def admin(server: tuple[Server, str]) -> Iterator[Caller]:
    running, secret = server
    with Api(running.url) as api:
        yield Caller(api, secret)


@pytest.fixture(scope="session")
def url(server: tuple[Server, str]) -> str:
    return server[0].url


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def caller(admin: Caller) -> Caller:
    """Somebody who may read, write and review at one scope."""
    return issue(admin)
