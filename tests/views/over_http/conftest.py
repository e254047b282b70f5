"""One real server for these tests. Tests keep apart by scopes of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http.client import Api, Caller, issue
from tests.http.serving import Server, initialise
from tests.views.over_http.calling import MINING


@pytest.fixture(scope="session")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """The administrator of `acme`."""
    directory: Path = tmp_path_factory.mktemp("views") / "store"
    secret = initialise(directory)
    with Server(directory) as server, Api(server.url) as api:
        yield Caller(api, secret)
        assert server.process.poll() is None, "the server ended before its tests"


@pytest.fixture
def caller(admin: Caller) -> Caller:
    """Somebody of `acme` who may read, write, review and mine at a scope of their own."""
    return issue(admin, capabilities=list(MINING))
