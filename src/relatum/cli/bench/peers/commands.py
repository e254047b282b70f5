"""The commands that clients send: ready bytes at the cost of one formatting, each under a key of its own."""

from __future__ import annotations

from itertools import count
from typing import Final

import msgspec

from relatum.cli.bench.peers.seed import Seed, command

_STREAMS: Final = count(1)
_MARKS: Final = [f"00000000-0000-4000-8000-00000000000{number}" for number in range(3)]


class Commands:
    """An endless stream of commands of one partition, with source, target and one piece of evidence in turn.

    Keys of two streams of one process never meet. For one thread.
    """

    def __init__(self, seed: Seed, place: int, *, tag: str = "") -> None:
        self._ends = [record_id.encode() for record_id in seed.ends[place]]
        self._prefix = f"{tag}{next(_STREAMS)}-".encode()
        sample = msgspec.json.encode(command(seed.partitions[place].scope, "KEY", _MARKS[0], _MARKS[1], _MARKS[2:]))
        for word in ("KEY", *_MARKS):
            sample = sample.replace(word.encode(), b"%b")
        self._template = sample
        self._number = 0

    def take(self, number: int) -> list[bytes]:
        """The next so many commands."""
        return [self.next() for _ in range(number)]

    def next(self) -> bytes:
        """One more command."""
        number, ends = self._number, self._ends
        self._number = number + 1
        size = len(ends)
        source = number % size
        target = (source + 1 + number // size % (size - 3)) % size
        evidence = (target + 1) % size
        if evidence == source:
            evidence = (evidence + 1) % size
        key = b"%b%d" % (self._prefix, number)
        return self._template % (key, ends[source], ends[target], ends[evidence])
