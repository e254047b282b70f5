"""A real server for the suite, its administrator, and scopes of tests' own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from relatum.client import Client, CredentialSpec, Scope, Secret
from tests.http.serving import Server, initialise

_NUMBERS = count(1)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("client") / "store"


@pytest.fixture(scope="module")
def administrator(store: Path) -> str:
    return initialise(store)


@pytest.fixture(scope="module")
def server(store: Path, administrator: str) -> Iterator[Server]:
    with Server(store) as running:
        yield running


@pytest.fixture
def issue(server: Server, administrator: str) -> Callable[[], Secret]:
    """Issues the secret of somebody who may do everything at a scope of its own."""

    def secret() -> Secret:
        scope = Scope(project_id=f"project-{next(_NUMBERS)}", agent_id="scout", visibility="shared")
        with Client(server.url, secret=administrator) as client:
            return client.credentials.issue(everything(scope)).secret

    return secret


def everything(scope: Scope) -> CredentialSpec:
    """All that a worker may do at a scope."""
    return CredentialSpec(
        subject_id="worker",
        capabilities=("memory_read", "memory_write", "memory_review", "memory_checkpoint", "memory_mine"),
        grants=(scope,),
    )
