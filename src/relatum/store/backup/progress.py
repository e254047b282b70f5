"""How far a copy has come, told to whoever watches."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from relatum.store.verify.directory import Progress

Watched = AbstractContextManager[Progress]
"""Somebody watches a piece of work, from its beginning to its end."""


def no_progress(_part: float) -> None:
    """Nobody watches."""


UNWATCHED: Final = nullcontext(no_progress)


class Meter:
    """Tells how much of so many bytes has come by."""

    def __init__(self, total: int, told: Progress) -> None:
        self._total = total
        self._told = told
        self._done = 0

    def passed(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """The same chunks, counted."""
        for chunk in chunks:
            self._done += len(chunk)
            self._told(self._done / self._total if self._total else 1.0)
            yield chunk
