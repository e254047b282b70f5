"""Logs as the engine writes them, byte by byte: for tests that need one it would not write."""

from __future__ import annotations

from struct import pack
from typing import Final

from google_crc32c import value as crc32c

FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
"""Kinds of fragments."""

UNKNOWN: Final = 130
"""A kind that no version known here writes."""


def fragment(kind: int, data: bytes) -> bytes:
    """A fragment with a sound checksum."""
    body = bytes([kind]) + data
    checksum = crc32c(body)
    masked = ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF
    return pack("<IH", masked, len(data)) + body


def batch(number: int, rows: int = 1) -> bytes:
    """The head of a batch: the number of its first row, and how many rows it has."""
    return pack("<QI", number, rows)
