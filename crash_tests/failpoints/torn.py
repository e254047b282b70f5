"""The torn end of a write-ahead log: what a crash in the middle of a write leaves."""

from __future__ import annotations

from pathlib import Path

from relatum.store.database import ENGINE_NAME

BEGINNING = b"\x00\x00\x00\x00\xff\x7f\x01the beginning of a record whose end was never written"
"""A header that promises 32,767 bytes of one whole record, and a few of them."""


def tear(store: Path) -> None:
    """Append the beginning of a record to the last log of a store that nobody has open."""
    log = max((store / ENGINE_NAME).glob("*.log"), key=lambda path: (len(path.name), path.name))
    with log.open("ab") as file:
        file.write(BEGINNING)
