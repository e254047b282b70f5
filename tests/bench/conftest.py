"""Peers beside the product, each started once for all tests and loaded with the same seed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import pytest

from relatum.cli.bench.peers import available, product
from relatum.cli.bench.peers.peer import Peer
from relatum.cli.bench.peers.seed import Seed
from tests.support.matrix import first_of

KEYS = ("sqlite", "sqlite-committer", "lmdb", "postgresql", "postgresql-rows", "postgresql-committer", "cozo")


class Beside(NamedTuple):
    """A peer, the product, and what both began with."""

    key: str
    peer: Peer
    product: product.Peer
    seed: Seed


@pytest.fixture(scope="session")
def scratch() -> Iterator[Path]:
    """A directory that a server which may not run as root can reach; pytest's own are closed to it."""
    with TemporaryDirectory(prefix="relatum-peers-") as directory:
        Path(directory).chmod(0o711)
        yield Path(directory)


@pytest.fixture(scope="session")
def ours(scratch: Path) -> Iterator[tuple[product.Peer, Seed]]:
    (scratch / "relatum").mkdir()
    ours = product.Peer()
    ours.start(scratch / "relatum")
    try:
        seed = ours.plant(partitions=2 + len(KEYS), records=8)
        ours.load(seed)
        commit(ours, *seed.tree)
        yield ours, seed
    finally:
        ours.stop()


def commit(peer: Peer, *commands: bytes) -> list[bytes]:
    """The answers of one transaction of a client of its own."""
    client = peer.client()
    try:
        return client.commit(commands)
    finally:
        client.close()


@pytest.fixture(scope="module", params=first_of(KEYS, quick=4))
def beside(request: pytest.FixtureRequest, scratch: Path, ours: tuple[product.Peer, Seed]) -> Iterator[Beside]:
    """Each peer that is installed."""
    found, key = available(), request.param
    if key in found.missing:
        pytest.skip(found.missing[key])
    peer = found.peers[key]()
    (scratch / key).mkdir()
    peer.start(scratch / key)
    try:
        peer.load(ours[1])
        commit(peer, *ours[1].tree)
        yield Beside(key, peer, *ours)
    finally:
        peer.stop()
