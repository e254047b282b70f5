"""Commits of one peer between two marks, to be run under strace.

    strace -f -e trace=... python -m tests.bench.syncing KEY COMMITS DIRECTORY SEED

The key `replay` is the ledger once more, with one command that is sent again and again.

The marks are calls of getsid, which nothing else makes; what lies between them in the trace belongs to the commits.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from relatum.cli.bench.peers import available, product
from relatum.cli.bench.peers.commands import Commands
from relatum.cli.bench.peers.peer import Peer
from relatum.cli.bench.peers.seed import Seed
from tests.support.polling import until

REPLAY = "replay"


def main() -> None:
    """Commits one command after another."""
    key, commits, directory, seed_file = sys.argv[1:]
    peer, seed = started(key, Path(directory), Path(seed_file))
    try:
        commands, client = Commands(seed, 0), peer.client()
        first = commands.next()
        answer = client.commit([first])
        os.getsid(0)
        for _ in range(int(commits)):
            if key == REPLAY:
                assert answer == client.commit([first]), "a replay is answered as before"
            else:
                client.commit([commands.next()])
        os.getsid(0)
        client.close()
    finally:
        peer.stop()


def started(key: str, directory: Path, seed_file: Path) -> tuple[Peer, Seed]:
    """A peer with a seed: the product's is made here."""
    if key in {"relatum", REPLAY}:
        ours = product.Peer()
        ours.start(directory)
        seed = ours.plant(partitions=1, records=8)
        ours.load(seed)
        index(ours)
        return ours, seed
    peer = available().peers[key]()
    seed = msgspec.msgpack.decode(seed_file.read_bytes(), type=Seed)
    peer.start(directory)
    peer.load(seed)
    return peer, seed


def index(ours: product.Peer) -> None:
    """Waits until the search index has every record: it is kept in the background, with syncs of its own."""

    def is_indexed() -> bool:
        with ours.ledger.view() as view:
            [partition] = view.partitions()
            found = view.searched(view.partition(partition), "word")
            return found.indexed == found.changes

    until(is_indexed, "the index of what was planted")


if __name__ == "__main__":
    main()
