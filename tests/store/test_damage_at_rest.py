"""A store whose table file has a bad block: what lies elsewhere is readable, what lies there is a loud failure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from relatum.errors import StorageInconsistency
from relatum.store.kv import Reader
from relatum.store.overlay import Overlay
from relatum.store.rocks import RocksStore
from tests.store.helpers import EVERYTHING, commit

KEYS = [b"%05d" % number for number in range(2000)]


@pytest.fixture
def damaged(tmp_path: Path) -> Iterator[RocksStore]:
    store = RocksStore.open(tmp_path, create=True)
    commit(store, {key: key * 40 for key in KEYS})
    store.close()  # which writes the rows to a table file
    table = max(tmp_path.glob("*.sst"), key=lambda path: path.stat().st_size)
    content = bytearray(table.read_bytes())
    content[len(content) // 3] ^= 1
    table.write_bytes(content)
    store = RocksStore.open(tmp_path, create=False)
    yield store
    with suppress(StorageInconsistency):  # closing writes tables, and may meet the damage again
        store.close()


@pytest.fixture(params=["live", "view", "overlay"])
def reader(request: pytest.FixtureRequest, damaged: RocksStore) -> Iterator[Reader]:
    with damaged.view() as view:
        overlay = Overlay(view)
        overlay.put(b"staged", b"1")
        readers: dict[str, Reader] = {"live": damaged, "view": view, "overlay": overlay}
        yield readers[request.param]


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_does_not_end_silently_at_a_bad_block(reader: Reader, reverse: bool) -> None:
    found: list[tuple[bytes, bytes]] = []
    with pytest.raises(StorageInconsistency):
        found.extend(reader.scan(*EVERYTHING, reverse=reverse))
    assert 0 < len(found) < len(KEYS)


def test_a_get_fails_inside_the_bad_block_and_works_outside(reader: Reader) -> None:
    failed = 0
    for key in KEYS:
        try:
            assert key * 40 == reader.get(key)
        except StorageInconsistency:
            failed += 1
    assert 0 < failed < len(KEYS) // 2


def test_a_scan_beside_the_bad_block_goes_on_working_after_one_that_failed(reader: Reader) -> None:
    with pytest.raises(StorageInconsistency):
        list(reader.scan(*EVERYTHING))
    assert KEYS[:20] == [key for key, _ in reader.scan(KEYS[0], KEYS[20])]
    assert KEYS[:-20:-1] == [key for key, _ in reader.scan(KEYS[-19], b"1", reverse=True)]


def test_a_commit_beside_the_damage_is_kept_whatever_closing_says(damaged: RocksStore, tmp_path: Path) -> None:
    commit(damaged, {b"new": b"1"})
    with damaged.view() as view:
        assert b"1" == view.get(b"new")
    with suppress(StorageInconsistency):
        damaged.close()
    again = RocksStore.open(tmp_path, create=False)
    assert b"1" == again.get(b"new")
    with suppress(StorageInconsistency):
        again.close()
