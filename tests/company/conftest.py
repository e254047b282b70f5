"""One real server with several companies, and their administrators."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.http.client import Api, Caller
from tests.http.serving import Server, initialise

COMPANIES = ("acme", "umbrella", "harbour", "estuary", "quiet")


@pytest.fixture(scope="session")
def admins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Caller]]:
    directory = tmp_path_factory.mktemp("company") / "store"
    secrets = {company: initialise(directory, company) for company in COMPANIES}
    with Server(directory) as server, Api(server.url) as api:
        yield {company: Caller(api, secret) for company, secret in secrets.items()}


@pytest.fixture
def admin(admins: dict[str, Caller]) -> Caller:
    """The administrator of `acme`."""
    return admins["acme"]


@pytest.fixture
def stranger(admins: dict[str, Caller]) -> Caller:
    """The administrator of another company."""
    return admins["umbrella"]
