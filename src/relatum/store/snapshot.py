"""The rows of an engine between two writes, as a `Cut` that any number of readers share.

What lives here: gets and chunks of scans over what the engine's binding offers for reading. What must not: the binding
itself, which only `relatum.store.rocks` knows.

What always holds: a scan ends by asking for the iterator's status, without which a damaged block looks like the end of
the data. Sharing one iterator costs no parallelism: the binding holds the interpreter lock while it moves one.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final, Protocol

from relatum.errors import Failure
from relatum.limits import KIB
from relatum.store.publication import Chunk, Row

CHUNK_BYTES: Final = 128 * KIB
"""A chunk of a scan ends early once its values are this large, so that large values can't make it a heap of memory."""

_NOT_FOUND: Final = ("key not found",)


class Snapshot(Protocol):
    """What the binding gets single values from."""

    def __getitem__(self, key: bytes, /) -> bytes: ...


class EngineIterator(Protocol):
    """What the binding scans with."""

    def seek(self, key: bytes, /) -> None:
        """Move to the first row at or after `key`."""

    def seek_for_prev(self, key: bytes, /) -> None:
        """Move to the last row at or before `key`."""

    def next(self) -> None:
        """Move on."""

    def prev(self) -> None:
        """Move back."""

    def valid(self) -> bool:
        """Whether it is at a row."""
        ...

    def key(self) -> bytes:
        """The key of the row."""
        ...

    def value(self) -> bytes:
        """The value of the row."""
        ...

    def status(self) -> None:
        """Raise if it was a failure that ended the rows."""


class EngineCut:
    """See `relatum.store.publication.Cut`; every failure of the engine leaves as `translated` makes it."""

    __slots__ = ("_iterator", "_moving", "_snapshot", "_translated")

    def __init__(
        self, snapshot: Snapshot, iterator: EngineIterator, translated: Callable[[Exception], Failure]
    ) -> None:
        self._snapshot = snapshot
        self._iterator = iterator
        self._translated = translated
        self._moving = Lock()

    def get(self, key: bytes) -> bytes | None:
        """The value stored under `key`, or None."""
        try:
            return self._snapshot[key]
        except Exception as error:
            if error.args == _NOT_FOUND:
                return None
            raise self._translated(error) from error

    def chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        """See `Cut.chunk`."""
        try:
            with self._moving:
                return self._chunk(start, stop, reverse, limit)
        except Exception as error:
            raise self._translated(error) from error

    def _chunk(self, start: bytes, stop: bytes, reverse: bool, limit: int) -> Chunk:
        iterator = self._iterator
        valid, current_key, current_value = iterator.valid, iterator.key, iterator.value
        move = iterator.prev if reverse else iterator.next
        if reverse:
            iterator.seek_for_prev(stop)
            if valid() and current_key() == stop:
                move()
        else:
            iterator.seek(start)
        rows: list[Row] = []
        room = CHUNK_BYTES
        while valid():
            key = current_key()
            if not start <= key < stop:
                return rows, True
            if len(rows) == limit or room <= 0:
                return rows, False
            value = current_value()
            rows.append((key, value))
            room -= len(value)
            move()
        iterator.status()  # raises if it was an error that ended the rows
        return rows, True
