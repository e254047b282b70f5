"""Two real servers for the suite, with few slots and few streams. One of them waits two seconds for its clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pytest

from tests.doors.watching import Watcher, watching
from tests.feeds.wire import follower_of
from tests.http.client import RECORDS, Api, Caller
from tests.http.serving import Server, initialise

SLOTS = 4
STREAMS = 4
FEW = ("--slots", str(SLOTS), "--streams-max", str(STREAMS))
HASTY = (*FEW, "--body-timeout-seconds", "2", "--answer-timeout-seconds", "2")


class Running(NamedTuple):
    """A server, its operator's view of it, and its administrator."""

    server: Server
    watcher: Watcher
    admin: Caller

    @property
    def port(self) -> int:
        return self.server.port


def running(factory: pytest.TempPathFactory, name: str, *options: str) -> Iterator[Running]:
    directory = factory.mktemp(name) / "store"
    secret = initialise(directory)
    with (
        Server(directory, *options) as server,
        Api(server.url) as api,
        watching(server.url) as watcher,
    ):
        admin = Caller(api, secret)
        make_the_index(follower_of(admin))
        yield Running(server, watcher, admin)
        assert server.process.poll() is None, "the server ended before its tests"


def make_the_index(caller: Caller) -> None:
    """The search index is made, and its files are open from then on.

    Else that comes in the background some time after the first command, and a base that was taken before is left.
    """
    assert 200 == caller.command(RECORDS, type="create", record={"content": "the first"}).status_code
    assert 200 == caller.ask(f"{RECORDS}/search", text="first").status_code


@pytest.fixture(scope="session")
def patient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    yield from running(tmp_path_factory, "patient", *FEW)


@pytest.fixture(scope="session")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    yield from running(tmp_path_factory, "hasty", *HASTY)


@pytest.fixture
def caller(patient: Running) -> Caller:
    """Somebody who may do everything at a scope of their own, on the patient server."""
    return follower_of(patient.admin)


@pytest.fixture
def hurried(hasty: Running) -> Caller:
    """Likewise on the hasty one."""
    return follower_of(hasty.admin)
