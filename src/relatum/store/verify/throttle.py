"""A reader that rests within a step that grows long.

A step ends between two objects, and one object may have a million rows: a record that everything points to. Reading
them must not take a core for seconds, nor outlast the server's stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from time import monotonic
from typing import Final

from relatum.store.kv import Reader

ROWS_BETWEEN_RESTS: Final = 500


class Stopped(Exception):
    """The work is to be left where it is."""


class Unhurried:
    """A `Reader` over another one, for one thread. It rests half of the time. Raises Stopped once `stopping` is set."""

    def __init__(self, reader: Reader, stopping: Event) -> None:
        self._reader = reader
        self._stopping = stopping
        self._rows = 0
        self._rested = monotonic()

    def get(self, key: bytes) -> bytes | None:
        """See `Reader.get`."""
        return self._reader.get(key)

    def scan(self, start: bytes, stop: bytes, *, reverse: bool = False) -> Iterator[tuple[bytes, bytes]]:
        """See `Reader.scan`."""
        for row in self._reader.scan(start, stop, reverse=reverse):
            self._rows += 1
            if self._rows % ROWS_BETWEEN_RESTS == 0:
                self._rest()
            yield row

    def _rest(self) -> None:
        if self._stopping.wait(monotonic() - self._rested):
            raise Stopped
        self._rested = monotonic()
