"""Other stores, doing the same logical command: what it costs them, on the same machine in the same run.

Each module of a store has a class `Peer` (the interface is `relatum.cli.bench.peers.peer`). What is fair about it and
what is not is told in docs/performance-peers.md.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Final, NamedTuple, cast

from relatum.cli.bench.peers import cluster
from relatum.cli.bench.peers.peer import Peer

_INSTALL: Final = "not installed; pip install 'relatum[bench]'"


class _Kind(NamedTuple):
    module: str
    needs: str | None = None
    committer: bool = False
    server: bool = False


_KINDS: Final = {
    "sqlite": _Kind("sqlite"),
    "sqlite-committer": _Kind("sqlite", committer=True),
    "lmdb": _Kind("lmdb", "lmdb"),
    "lmdb-committer": _Kind("lmdb", "lmdb", committer=True),
    "postgresql": _Kind("postgresql", "psycopg", server=True),
    "postgresql-committer": _Kind("postgresql", "psycopg", committer=True, server=True),
    "postgresql-rows": _Kind("postgresql_rows", "psycopg", server=True),
    "cozo": _Kind("cozo", "pycozo"),
    "rocksdb-committer": _Kind("rocksdb", committer=True),
}


class Available(NamedTuple):
    """The peers that can be measured here, and for each other one why it can't, both by key."""

    peers: dict[str, Callable[[], Peer]]
    missing: dict[str, str]


def available() -> Available:
    """What is installed."""
    reasons = {key: _reason(kind) for key, kind in _KINDS.items()}
    return Available(
        {key: _maker(_KINDS[key]) for key, reason in reasons.items() if reason is None},
        {key: reason for key, reason in reasons.items() if reason is not None},
    )


def _reason(kind: _Kind) -> str | None:
    if kind.needs is not None and find_spec(kind.needs) is None:
        return f"{kind.needs} is {_INSTALL}"
    if kind.server and cluster.programs() is None:
        return "the PostgreSQL server is not installed; apt-get install postgresql"
    return None


def _maker(kind: _Kind) -> Callable[[], Peer]:
    """A late import: the packages of the others need not be there."""

    def make() -> Peer:
        from relatum.cli.bench.peers import committer

        inner = cast("Peer", import_module(f"relatum.cli.bench.peers.{kind.module}").Peer())
        return committer.Peer(inner) if kind.committer else inner

    return make
