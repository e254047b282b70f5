"""A reader that sees what a group of commands has staged but nobody has written yet.

What lives here: `Overlay`. The writer decides each command of a group on it, so that a command sees the earlier ones,
and then hands `rows()` to one write. What must not live here: any knowledge of what the rows mean.

What always holds: the base is only read; a rollback leaves the overlay as it was at the mark, to the row.

This is the hottest object of the write path. A get or put of a staged row is one or two dictionary operations; keys are
put in order only when somebody scans.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Final, NewType

from relatum.store.kv import Reader

Mark = NewType("Mark", int)
"""A point in the life of one overlay to roll back to. Marks nest; rolling back to one drops all later ones."""


class _Nothing(Enum):
    STAGED = 0


_NOTHING_STAGED: Final = _Nothing.STAGED


class Overlay:
    """A `Reader` of `base` with puts and deletes staged on top. For one thread.

    A scan sees the rows staged when `scan` was called; what is staged while it runs is not in it.
    """

    __slots__ = ("_base", "_base_get", "_order", "_ordered", "_rows", "_undo")

    def __init__(self, base: Reader) -> None:
        self._base = base
        self._base_get = base.get
        self._rows: dict[bytes, bytes | None] = {}
        self._undo: list[tuple[bytes, bytes | _Nothing | None]] = []  # what each put replaced, oldest first
        self._order: list[bytes] = []  # the staged keys, sorted, as far as ...
        self._ordered = 0  # ... the first so many puts brought them

    def get(self, key: bytes) -> bytes | None:
        """The staged value of `key`, or else that of the base; None if neither has one or its deletion is staged."""
        rows = self._rows
        if key in rows:
            return rows[key]
        return self._base_get(key)

    def put(self, key: bytes, value: bytes | None) -> None:
        """Stage a row, or the deletion of `key` if `value` is None."""
        rows = self._rows
        self._undo.append((key, rows.get(key, _NOTHING_STAGED)))
        rows[key] = value

    def delete(self, key: bytes) -> None:
        """Stage the deletion of `key`, whether or not it is there."""
        self.put(key, None)

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[tuple[bytes, bytes]]:
        """Rows with `start <= key < stop`, staged ones in the place of those of the base; see `Reader.scan`."""
        below = self._base.scan(start, stop, reverse=reverse)
        staged = self._staged(start, stop)
        if not staged:
            return below
        if reverse:
            staged.reverse()
        return _merged(staged, below, reverse)

    def rows(self) -> Mapping[bytes, bytes | None]:
        """Everything staged, ready for `KeyValue.write`. Not a copy: it follows later puts and rollbacks."""
        return self._rows

    def mark(self) -> Mark:
        """A savepoint: everything staged from now on can be undone."""
        return Mark(len(self._undo))

    def rollback(self, mark: Mark) -> None:
        """Undo everything staged since `mark`, newest first."""
        rows, undo = self._rows, self._undo
        while len(undo) > mark:
            key, before = undo.pop()
            if before is _NOTHING_STAGED:
                del rows[key]
            else:
                rows[key] = before
        if self._ordered > mark:  # a scan has put undone keys in order
            self._order = sorted(rows)
            self._ordered = mark

    def _staged(self, start: bytes, stop: bytes) -> list[tuple[bytes, bytes | None]]:
        self._sort()
        order, rows = self._order, self._rows
        return [(key, rows[key]) for key in order[bisect_left(order, start) : bisect_left(order, stop)]]

    def _sort(self) -> None:
        """Bring `_order` up to date: key by key if few are new, which is a scan inside a command, else all at once."""
        undo, order = self._undo, self._order
        if self._ordered == len(undo):
            return
        new = [key for key, before in undo[self._ordered :] if before is _NOTHING_STAGED]
        self._ordered = len(undo)
        if 16 * len(new) < len(order):
            for key in new:
                insort(order, key)
        else:
            order += new
            order.sort()


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
