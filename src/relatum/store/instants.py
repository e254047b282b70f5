"""Instants at which something may begin or cease to count, as the store writes them (docs/storage-format.md)."""

from __future__ import annotations

from enum import IntEnum


class Bound(IntEnum):
    """Which bound of an interval an instant is."""

    VALID_FROM = 1
    VALID_UNTIL = 2


class Timed(IntEnum):
    """What an instant is of."""

    RECORD = 0
    RELATION = 1
