"""A reader that sees what a group of commands has staged but nobody has written yet.

What lives here: `Overlay`. The writer decides each command of a group on it, so that a command sees the earlier ones,
and then hands `rows()` to one write. What must not live here: any knowledge of what the rows mean.

What always holds: the base is only read; `drop` leaves the overlay as it was at the last `keep`, to the row.

This is the hottest object of the write path. A put is one dictionary operation, a get of a staged row one or two; keys
are put in order only when somebody scans. A value may be staged as what it is made of (`Packable`), and is made when
somebody reads it, or writes it: of a row that each command of a group replaces, only the last need be made.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from enum import Enum
from itertools import islice
from typing import Final, Protocol

from relatum.store.kv import Reader


class Packable(Protocol):
    """What a value is made of."""

    def pack(self) -> bytes:
        """The value; the same each time."""
        ...


Staged = bytes | Packable | None
"""A value, or None, which stands for a deletion."""


class NotStaged(Enum):
    """Stands for a key under which neither a row nor a deletion is staged."""

    NOTHING = 0


NOT_STAGED: Final = NotStaged.NOTHING


class Overlay:
    """A `Reader` of `base` with puts and deletes staged on top. For one thread.

    A scan sees what was staged when `scan` was called; what is staged while it runs is not in it.
    """

    __slots__ = ("_base", "_below", "_kept", "_order", "fresh")

    def __init__(self, base: Reader) -> None:
        self._base = base
        self._below = base.get
        self._kept: dict[bytes, Staged] = {}  # what was staged until the last `keep`
        self._order: list[bytes] = []  # the keys of the first so many of these, sorted
        self.fresh: dict[bytes, Staged] = {}
        """What was staged since the last `keep`. To put something into it is to stage it."""

    def __len__(self) -> int:
        """How many rows and deletions are staged; one that was kept and staged again since counts twice."""
        return len(self._kept) + len(self.fresh)

    def get(self, key: bytes) -> bytes | None:
        """The staged value of `key`, or else that of the base; None if neither has one or its deletion is staged."""
        staged = self.staged(key)
        return self._below(key) if staged is NOT_STAGED else self._made({key: staged})[key]

    def staged(self, key: bytes) -> Staged | NotStaged:
        """What was staged for `key`, as it was staged; None for a deletion."""
        if key in self.fresh:
            return self.fresh[key]
        return self._kept.get(key, NOT_STAGED)

    def put(self, key: bytes, value: Staged) -> None:
        """Stage a row, or the deletion of `key` if `value` is None."""
        self.fresh[key] = value

    def delete(self, key: bytes) -> None:
        """Stage the deletion of `key`, whether or not it is there."""
        self.fresh[key] = None

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[tuple[bytes, bytes]]:
        """Rows with `start <= key < stop`, staged ones in the place of those of the base; see `Reader.scan`."""
        below = self._base.scan(start, stop, reverse=reverse)
        staged = self._between(start, stop)
        if not staged:
            return below
        if reverse:
            staged.reverse()
        return _merged(staged, below, reverse)

    def rows(self) -> dict[bytes, bytes | None]:
        """Everything staged as rows, ready for `KeyValue.write`."""
        return self._made({**self._kept, **self.fresh})

    def keep(self) -> None:
        """Whatever is staged stays, even if what is staged from now on is dropped."""
        self._kept.update(self.fresh)
        self.fresh.clear()

    def drop(self) -> None:
        """Undo everything staged since the last `keep`."""
        self.fresh.clear()

    def _made(self, staged: Mapping[bytes, Staged]) -> dict[bytes, bytes | None]:
        """The rows of what was staged, in the same order."""
        return {key: packed(value) for key, value in staged.items()}

    def _between(self, start: bytes, stop: bytes) -> list[tuple[bytes, bytes | None]]:
        self._sort()
        order, kept, fresh = self._order, self._kept, self.fresh
        keys = order[bisect_left(order, start) : bisect_left(order, stop)]
        new = [key for key in fresh if start <= key < stop and key not in kept]
        if new:
            keys = sorted(keys + new)
        return list(self._made({key: fresh[key] if key in fresh else kept[key] for key in keys}).items())

    def _sort(self) -> None:
        """Bring `_order` up to date: key by key if few are new, which is a scan inside a command, else all at once."""
        order, kept = self._order, self._kept
        new = list(islice(reversed(kept), len(kept) - len(order)))
        if 16 * len(new) < len(order):
            for key in new:
                insort(order, key)
        elif new:
            order += new
            order.sort()


def packed(value: Staged) -> bytes | None:
    """The bytes of a staged value."""
    return value if value is None or isinstance(value, bytes) else value.pack()


def _merged(
    staged: list[tuple[bytes, bytes | None]], below: Iterator[tuple[bytes, bytes]], reverse: bool
) -> Iterator[tuple[bytes, bytes]]:
    """Both in one order. Where both have a key, the staged row takes the place of the other."""
    at, end = 0, len(staged)
    for row in below:
        base_key = row[0]
        while at < end and (staged[at][0] > base_key if reverse else staged[at][0] < base_key):
            key, value = staged[at]
            at += 1
            if value is not None:
                yield key, value
        if at == end or staged[at][0] != base_key:
            yield row
    for key, value in staged[at:]:
        if value is not None:
            yield key, value
