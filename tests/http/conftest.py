"""One real server for the whole suite. Tests keep apart by scopes of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.http.client import Api, Caller, issue
from tests.http.serving import Server, initialise


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("http") / "store"


@pytest.fixture(scope="session")
def secrets(directory: Path) -> dict[str, str]:
    """The administrators of two companies."""
    return {company: initialise(directory, company) for company in ("acme", "umbrella")}


@pytest.fixture(scope="session")
def server(directory: Path, secrets: dict[str, str]) -> Iterator[Server]:
    with Server(directory) as running:
        yield running
        assert running.process.poll() is None, "the server ended before its tests"


@pytest.fixture(scope="session")
def api(server: Server) -> Iterator[Api]:
    with Api(server.url) as client:
        yield client


@pytest.fixture(scope="session")
def admin(api: Api, secrets: dict[str, str]) -> Caller:
    """The administrator of `acme`."""
    return Caller(api, secrets["acme"])


@pytest.fixture(scope="session")
def stranger(api: Api, secrets: dict[str, str]) -> Caller:
    """The administrator of another company."""
    return Caller(api, secrets["umbrella"])


@pytest.fixture
def caller(admin: Caller) -> Caller:
    """Somebody of `acme` who may read, write and review at a scope of their own."""
    return issue(admin)
