"""Rows that are spread over several write-ahead logs: one that is missing is noticed, whichever it is.

Of the last one the watermark tells (tests/ops/test_lost_files.py); here it is about the others, after which the store
would look whole.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from rocksdict import DBRecoveryMode, Options, Rdict

from relatum.errors import StoreUnavailable
from relatum.store import rocks
from relatum.store.rocks import RocksStore, reading
from relatum.store.wal import scan_log
from tests.store.helpers import commit, rows_of

BUFFERS = 16


def bare(directory: Path, *, remembers: bool) -> Rdict:
    """The engine itself on such a store, with the setting that has no setter or without it."""
    options = Options.load_latest(str(rocks._FURTHER_SETTINGS))[0] if remembers else Options(raw_mode=True)
    options.create_if_missing(False)
    options.set_wal_recovery_mode(DBRecoveryMode.tolerate_corrupted_tail_records())
    return Rdict(str(directory), options, column_families={"default": options})


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a process leaves that was killed while several write buffers waited for their table files."""
    directory = tmp_path_factory.mktemp("killed")
    with pytest.MonkeyPatch.context() as patch:
        options = rocks._options

        def lazy(create: bool) -> Options:
            made = options(create)
            made.set_write_buffer_size(64 * 1024)
            made.set_max_write_buffer_number(BUFFERS)
            made.set_min_write_buffer_number_to_merge(BUFFERS - 1)
            return made

        patch.setattr(rocks, "_options", lazy)
        store = RocksStore.open(directory / "lived", create=True)
        for number in range(40):
            commit(store, {b"%06d" % number: os.urandom(8_000), b"last": b"%06d" % number})
        shutil.copytree(directory / "lived", directory / "left")
        store.close()
    return directory / "left"


@pytest.fixture
def store(killed: Path, tmp_path: Path) -> Path:
    return shutil.copytree(killed, tmp_path / "store")


def logs_of(directory: Path) -> list[Path]:
    return sorted(path for path in directory.glob("*.log") if path.stat().st_size)


def cut_by_whole_records(log: Path) -> None:
    content = log.read_bytes()
    scan, _ = scan_log(content[: len(content) // 2])
    assert 0 < scan.intact_bytes < len(content) // 2
    os.truncate(log, scan.intact_bytes)


def emptied(log: Path) -> None:
    os.truncate(log, 0)


LOSSES: dict[str, Callable[[Path], None]] = {
    "deleted": Path.unlink,
    "emptied": emptied,
    "cut by whole records": cut_by_whole_records,
}


def test_what_is_left_is_whole(store: Path) -> None:
    assert len(logs_of(store)) > 3
    opened = RocksStore.open(store, create=False)
    assert 41 == len(rows_of(opened))
    opened.close()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("which", [0, 1, -2])
def test_a_log_that_is_not_the_last_is_missed_and_nothing_is_changed(store: Path, which: int, loss: str) -> None:
    LOSSES[loss](logs_of(store)[which])
    before = {path.name: path.read_bytes() for path in store.iterdir() if path.name != "relatum.lock"}
    with pytest.raises(StoreUnavailable):
        RocksStore.open(store, create=False)
    with pytest.raises(StoreUnavailable), reading(store):
        pass
    assert before == {path.name: path.read_bytes() for path in store.iterdir() if path.name != "relatum.lock"}


def torn(log: bytes) -> bytes:
    return log[:-1_000]


def broken_in_the_middle(log: bytes) -> bytes:
    return log[:9_000] + b"\xff" + log[9_001:]


@pytest.mark.parametrize("left", [bytes, torn, broken_in_the_middle])
def test_a_log_that_is_left_over_is_not_judged(tmp_path: Path, left: Callable[[bytes], bytes]) -> None:
    """Its rows are in table files; a power cut has taken back its removal, and may have torn what was never synced."""
    lived = RocksStore.open(tmp_path / "lived", create=True)
    commit(lived, {b"first": os.urandom(8_000)})
    lived.write({b"second": os.urandom(8_000)})
    [log] = logs_of(tmp_path / "lived")
    content = log.read_bytes()
    lived.flush()
    lived.sync()
    commit(lived, {b"third": os.urandom(8_000)})
    rows = rows_of(lived)
    lived.close()  # a copy of an open one may lack a file that the engine was making
    store = shutil.copytree(tmp_path / "lived", tmp_path / "store")
    assert not (store / log.name).exists()
    (store / log.name).write_bytes(left(content))
    with reading(store) as view:
        assert rows == rows_of(view)
    assert left(content) == (store / log.name).read_bytes()
    opened = RocksStore.open(store, create=False)
    assert () == tuple(opened.torn_tails)
    assert rows == rows_of(opened)
    commit(opened, {b"fourth": b"4"})
    opened.close()
    assert not (store / log.name).exists()


@pytest.mark.parametrize("loss", LOSSES)
def test_the_engine_misses_it_too_if_it_was_told_to_remember_its_logs(store: Path, loss: str) -> None:
    LOSSES[loss](logs_of(store)[1])
    with pytest.raises(Exception, match=r"Corruption: (Missing WAL|Size mismatch)"):
        bare(store, remembers=True)
    bare(store, remembers=False).close()  # without a word: that is what the setting is for
