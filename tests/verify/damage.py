"""Damage done to the rows of a store on disk, with every checksum in order."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from relatum.store.keys import PREFIX_BYTES, STORE_PREFIX, Table
from relatum.store.rocks import RocksStore, reading
from tests.support.stores import BEYOND_EVERYTHING


def stored(directory: Path) -> dict[bytes, bytes]:
    """Every row of a store that nobody has open."""
    with reading(directory / "engine") as view:
        return dict(view.scan(b"", BEYOND_EVERYTHING))


def write_rows(directory: Path, rows: Mapping[bytes, bytes | None]) -> None:
    """Puts and removes rows of a store that nobody has open."""
    store = RocksStore.open(directory / "engine", create=False)
    try:
        store.write(rows)
        store.sync()
    finally:
        store.close()


def remove_rows(directory: Path, table: Table, count: int) -> list[bytes]:
    """Removes the first rows of a table; their keys."""
    keys = [key for key in stored(directory) if key[PREFIX_BYTES] == table and not key.startswith(STORE_PREFIX)][:count]
    write_rows(directory, dict.fromkeys(keys))
    return keys
