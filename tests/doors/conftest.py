"""One real server for the whole suite, with short times, few slots and few streams, and somebody who may use it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.watching import Watcher, watching
from tests.feeds.wire import follower_of
from tests.http.client import Api, Caller
from tests.http.serving import Server, initialise

SLOTS = 4
STREAMS = 4
OPTIONS = (
    *("--slots", str(SLOTS)),
    *("--streams-max", str(STREAMS)),
    *("--body-timeout-seconds", "2"),
    *("--answer-timeout-seconds", "2"),
)


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("doors") / "store"


@pytest.fixture(scope="session")
def secret(directory: Path) -> str:
    """The administrator's."""
    return initialise(directory)


@pytest.fixture(scope="session")
def server(directory: Path, secret: str) -> Iterator[Server]:
    with Server(directory, *OPTIONS) as running:
        yield running
        assert running.process.poll() is None, "the server ended before its tests"


@pytest.fixture(scope="session")
def api(server: Server) -> Iterator[Api]:
    with Api(server.url) as client:
        yield client


@pytest.fixture
def caller(api: Api, secret: str) -> Caller:
    """Somebody who may do everything at a scope of their own."""
    return follower_of(Caller(api, secret))


@pytest.fixture
def watcher(server: Server) -> Iterator[Watcher]:
    with watching(server.url) as watcher:
        yield watcher
