"""A desk at an empty ledger in memory, and a consumer that follows what the desk does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relatum.clock import ManualClock
from relatum.ledger import Ledger
from tests.feeds.following import Consumer
from tests.feeds.wire import Feed, follower_of
from tests.http.client import Api, Caller
from tests.http.serving import Server, initialise
from tests.support.desk import Desk
from tests.support.stores import TrialStore, database_on


@pytest.fixture
def ledger(clock: ManualClock) -> Iterator[Ledger]:
    with Ledger(database_on(TrialStore()), clock=clock) as opened:
        yield opened


@pytest.fixture
def consumer(desk: Desk) -> Consumer:
    return Consumer(desk)


# Over the wire: one real server for the suite. Tests keep apart by scopes of their own.


@pytest.fixture(scope="session")
def admin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    directory = tmp_path_factory.mktemp("feeds") / "store"
    secret = initialise(directory)
    with Server(directory) as server, Api(server.url) as api:
        yield Caller(api, secret)


@pytest.fixture
def feed(admin: Caller) -> Feed:
    """The relations of a scope of its own, to somebody who may do everything there."""
    return Feed(follower_of(admin))
