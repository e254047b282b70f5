"""The overlay that a group stages its rows on: by their bodies, which are sealed when the group is written.

What lives here: `Bodies`. Of a row that each command of a group replaces, as the head of its partition or a header that
counts, the last alone is packed and sealed, and a command that reads what an earlier one staged has no seal to check.
What one command has read and checked is there for the others: their relations often share an end, and what is changed
is read before it is compared with its other rows.

What always holds: who reads a staged row gets what would be written; who reads a stored body gets one that was checked
since the group began. What is remembered is what is stored, which nobody changes while a group is decided: so there is
nothing to forget when a command is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from relatum.store import rows
from relatum.store.kv import Reader
from relatum.store.overlay import Overlay, Staged, packed

REMEMBERED_ROWS_MAX: Final = 2048
"""The rest of a group's rows are read anew. Few are long: a command reads a content or two, all else is short."""


class Bodies(Overlay):
    """An overlay of bodies over a reader of rows."""

    __slots__ = ("_stored",)

    def __init__(self, base: Reader) -> None:
        super().__init__(base)
        self._stored: dict[bytes, bytes | None] = {}

    def body(self, key: bytes) -> bytes | None:
        """The body of a row, staged or stored; None if there is none, or its deletion is staged."""
        if key in self.fresh:
            return packed(self.fresh[key])
        if key in self._kept:
            return packed(self._kept[key])
        if key in self._stored:
            return self._stored[key]
        row = self._below(key)
        body = None if row is None else rows.unseal(key, row)
        if len(self._stored) < REMEMBERED_ROWS_MAX:
            self._stored[key] = body
        return body

    def _made(self, staged: Mapping[bytes, Staged]) -> dict[bytes, bytes | None]:
        return rows.sealed(staged)
