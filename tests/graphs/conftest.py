"""A desk at an empty ledger in memory, whose clock a test moves by hand, and graphs of what the desk has made."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.graphs.walking import Walking
from tests.http.client import Api, Caller
from tests.http.serving import Server, initialise
from tests.support.desk import Desk


@pytest.fixture
def walking(desk: Desk) -> Walking:
    return Walking(desk)


# Over the wire: one real server for the suite. Tests keep apart by scopes of their own.


@pytest.fixture(scope="session")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    directory = tmp_path_factory.mktemp("graphs") / "store"
    secret = initialise(directory)
    with Server(directory) as server, Api(server.url) as api:
        yield Caller(api, secret)
