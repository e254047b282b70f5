"""A database that is opened and its watermark: what is shown from now on is what may not be lost from now on."""

from __future__ import annotations

from pathlib import Path

import pytest

from relatum.errors import StoreUnavailable
from relatum.store import keys, rows
from relatum.store.database import FORMAT_VERSION, Database
from relatum.store.memory import MemoryStore
from relatum.store.watermark import Watermark, WatermarkFile

FIRST = rows.Position(position=1, committed_at_millis=1, digest=bytes([1]) * 32)
SECOND = rows.Position(position=2, committed_at_millis=2, digest=bytes([2]) * 32)


def store_at(position: rows.Position) -> MemoryStore:
    form = rows.Format.of(FORMAT_VERSION, bytes(32))
    return MemoryStore(
        {
            keys.FORMAT: rows.seal(keys.FORMAT, rows.FORMAT.encode(form)),
            keys.POSITION: rows.seal(keys.POSITION, rows.POSITION.encode(position)),
        }
    )


def opened(path: Path, position: rows.Position) -> Database:
    return Database.on(store_at(position), lambda _: WatermarkFile.open(path, create=True), create=False)


def mark(path: Path) -> Watermark:
    file = WatermarkFile.open(path, create=False)
    try:
        return file.read()
    finally:
        file.close()


def test_a_store_ahead_of_its_watermark_raises_it_before_anybody_reads(tmp_path: Path) -> None:
    path = tmp_path / "watermark"
    opened(path, FIRST).close()
    assert Watermark(1, FIRST.digest) == mark(path)
    opened(path, SECOND).close()
    assert Watermark(2, SECOND.digest) == mark(path)


def test_a_store_at_its_watermark_leaves_it_alone(tmp_path: Path) -> None:
    path = tmp_path / "watermark"
    opened(path, SECOND).close()
    before = path.read_bytes()
    opened(path, SECOND).close()
    assert before == path.read_bytes()


def test_what_was_shown_after_a_crash_is_missed_when_it_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "watermark"
    opened(path, FIRST).close()
    opened(path, SECOND).close()
    with pytest.raises(StoreUnavailable, match="acknowledged commands are lost"):
        opened(path, FIRST)
