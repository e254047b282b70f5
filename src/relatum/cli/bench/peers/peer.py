"""What a peer is: another store that does the same logical command.

A command is the JSON body of `relations/commands` with the operation `assert`; its answer is the JSON body of the
receipt, or of the error. A peer is started on an empty directory and loaded with a seed before it is asked anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from relatum.cli.bench.peers.seed import Seed


class Client(Protocol):
    """One client's own way in. For one thread, the one that made it."""

    def commit(self, commands: Sequence[bytes]) -> list[bytes]:
        """The answers of commands, decided in order in one transaction, which is durable when this returns.

        A refused command is answered in its place and writes nothing; the others of its transaction go on.
        """
        ...

    def two_hop(self, record_id: str) -> int:
        """How many relations lie within two hops outward of a record of the seed's first partition."""
        ...

    def close(self) -> None:
        """Let go of what this client holds."""
        ...


class Peer(Protocol):
    """A store under a name."""

    @property
    def name(self) -> str:
        """As it is told in tables."""
        ...

    def start(self, directory: Path) -> None:
        """Make an empty store in an empty directory."""
        ...

    def load(self, seed: Seed) -> None:
        """Take over the records of a seed."""
        ...

    def client(self) -> Client:
        """One more client."""
        ...

    def stop(self) -> None:
        """End everything that `start` started. The clients were closed before."""
        ...
