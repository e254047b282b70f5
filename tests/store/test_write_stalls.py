"""Writes that come faster than the engine can put them into table files."""

from __future__ import annotations

from pathlib import Path
from time import sleep

import pytest

from relatum.errors import StorageFailure
from relatum.store import rocks
from relatum.store.rocks import RocksStore
from tests.store.helpers import commit, rows_of

# Each fills more than two write buffers, so that every write waits for a table file to be written.
ROWS = {b"%06d" % number: bytes([number]) * 200_000 for number in range(150)}


@pytest.fixture
def small_buffers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rocks, "WRITE_BUFFER_BYTES", 64 * 1024)
    monkeypatch.setattr(rocks, "WRITE_BUFFERS_MAX", 2)


@pytest.fixture
def pauses(small_buffers: None, monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that writes made outside the engine."""
    taken: list[float] = []

    def counted(seconds: float) -> None:
        taken.append(seconds)
        sleep(seconds)

    monkeypatch.setattr(rocks, "sleep", counted)
    return taken


def test_a_stalled_write_waits_outside_the_engine_and_then_succeeds(tmp_path: Path, pauses: list[float]) -> None:
    store = RocksStore.open(tmp_path, create=True)
    for key, value in ROWS.items():
        commit(store, {key: value})
    assert ROWS == rows_of(store)
    store.close()
    assert pauses, "nothing was stalled, so nothing was shown"


def test_a_write_that_stays_stalled_fails_and_wrote_nothing(
    tmp_path: Path, small_buffers: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rocks, "STALL_SECONDS_MAX", -1.0)
    store = RocksStore.open(tmp_path, create=True)
    committed: dict[bytes, bytes] = {}

    def commit_all() -> None:
        for key, value in ROWS.items():
            commit(store, {key: value})
            committed[key] = value

    with pytest.raises(StorageFailure):
        commit_all()
    with store.view() as view:
        assert committed == rows_of(view)
    store.close()
    store = RocksStore.open(tmp_path, create=False)
    assert committed == rows_of(store)
    store.close()
