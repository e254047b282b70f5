"""Images and compaction of a store that is in use, one level below the ledger: rows are plain bytes here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from threading import Event

import pytest

from relatum.errors import StorageFailure, StoreUnavailable
from relatum.ledger import Ledger
from relatum.store import file_maintenance, keys, rows
from relatum.store.ballast import Ballast
from relatum.store.database import Database
from relatum.store.file_maintenance import Upkeep
from relatum.store.layout import BALLAST_NAME, ENGINE_NAME, IMAGES_NAME, WATERMARK_NAME
from relatum.store.lock import DirectoryLock
from relatum.store.rocks import RocksStore, reading
from relatum.store.watermark import NOTHING_ANSWERED, WatermarkFile
from tests.backup import scene
from tests.store.helpers import rows_of
from tests.support.polling import until

SOON = 60.0


class Store:
    """A database whose commits are numbers."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.database = Database.open(directory, create=True)
        assert self.database.upkeep is not None
        self.upkeep: Upkeep = self.database.upkeep

    def commit(self, value: bytes = b"") -> None:
        """One more row, numbered as the position that it brings."""
        number = self.database.position.position + 1
        position = rows.Position(position=number, committed_at_millis=number, digest=bytes([number % 256]) * 32)
        self.database.commit({row(number): value}, position)


def row(number: int) -> bytes:
    """The key of a row; store-wide, so that no partition is asked for it."""
    return keys.STORE_PREFIX + b"\xf0" + number.to_bytes(8, "big")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "store")
    yield opened
    opened.database.close()


def files_of(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def position_in(image: Path) -> tuple[int, list[int]]:
    """The position of a store at rest and the numbers of its rows; its watermark must agree."""
    with reading(image / ENGINE_NAME) as view:
        found = rows_of(view)
    position = rows.POSITION.decode(rows.unseal(keys.POSITION, found[keys.POSITION]))
    watermark = WatermarkFile.open(image / WATERMARK_NAME, create=False)
    assert (position.position, position.digest) == watermark.read()
    watermark.close()
    prefix = row(0)[:-8]
    return position.position, [int.from_bytes(key[-8:], "big") for key in found if key.startswith(prefix)]


def test_an_image_is_the_store_as_it_was_and_stays_so_while_the_store_goes_on(store: Store) -> None:
    for _ in range(3):
        store.commit()
    with store.upkeep.image() as image:
        assert store.database.position == image.position
        for _ in range(4):
            store.commit()
        assert (3, [1, 2, 3]) == position_in(image.directory)
        assert sorted(image.files()) == [path for path in image.files() if path.is_file()]
    assert 7 == store.database.position.position


def test_an_image_of_a_store_without_history_has_the_watermark_of_a_new_one(store: Store) -> None:
    with store.upkeep.image() as image:
        watermark = WatermarkFile.open(image.directory / WATERMARK_NAME, create=False)
        assert NOTHING_ANSWERED == watermark.read()
        watermark.close()


def test_images_are_of_whole_commits_whatever_the_writer_is_at(store: Store) -> None:
    stop = Event()

    def write() -> None:
        while not stop.is_set():
            store.commit(os.urandom(2_000))

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(write)
        try:
            until(lambda: store.database.position.position > 20)
            for _ in range(12):
                before = store.database.position.position
                with store.upkeep.image() as image:
                    after = store.database.position.position
                    position, numbers = position_in(image.directory)
                assert before <= position <= after
                assert image.position.position == position
                assert list(range(1, position + 1)) == numbers
        finally:
            stop.set()
        writing.result(SOON)


def test_an_image_is_gone_when_it_is_let_go_of_whatever_happens(store: Store) -> None:
    store.commit()
    seen: list[Path] = []

    def fail() -> None:
        with store.upkeep.image() as image:
            seen.append(image.directory)
            assert image.directory.is_dir()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert not seen[0].exists()
    assert {ENGINE_NAME, WATERMARK_NAME} == files_of(store.directory)


def test_several_images_may_be_open_at_once(store: Store) -> None:
    store.commit()
    with store.upkeep.image() as first:
        store.commit()
        with store.upkeep.image() as second:
            assert (1, 2) == (position_in(first.directory)[0], position_in(second.directory)[0])
        assert (1, [1]) == position_in(first.directory)


def test_no_image_is_taken_once_a_commit_is_in_doubt(store: Store) -> None:
    store.commit()
    watermark = store.database._watermark
    assert watermark is not None
    watermark.close()  # as if the disk failed there: the rows are on disk, and nobody was told
    with pytest.raises(StorageFailure):
        store.commit()
    with pytest.raises(StorageFailure, match="unknown"), store.upkeep.image():
        pass
    assert {ENGINE_NAME, WATERMARK_NAME} == files_of(store.directory)


def test_leftovers_of_a_process_that_was_killed_are_removed_by_the_next_opening(tmp_path: Path) -> None:
    Store(tmp_path).database.close()
    (tmp_path / IMAGES_NAME / "7" / ENGINE_NAME).mkdir(parents=True)
    (tmp_path / IMAGES_NAME / "7" / ENGINE_NAME / "000001.sst").touch()
    Ballast(tmp_path).take(1_000)
    Store(tmp_path).database.close()
    assert {ENGINE_NAME, WATERMARK_NAME} == files_of(tmp_path)


def test_leftovers_are_left_alone_while_somebody_has_the_store(tmp_path: Path) -> None:
    Store(tmp_path).database.close()
    Ballast(tmp_path).take(1_000)
    lock = DirectoryLock.acquire(tmp_path / ENGINE_NAME)
    with pytest.raises(StoreUnavailable, match="directory in use"):
        Store(tmp_path)
    lock.release()
    assert {ENGINE_NAME, WATERMARK_NAME, BALLAST_NAME} == files_of(tmp_path)


def test_a_commit_that_fails_gives_the_ballast_back_and_so_does_closing(tmp_path: Path) -> None:
    for fails in (False, True):
        store = Store(tmp_path / str(fails))
        store.upkeep.ballast.take(1_000)
        store.commit()
        assert 1_000 == store.upkeep.ballast.held_bytes
        if fails:
            assert store.database._watermark is not None
            store.database._watermark.close()
            with pytest.raises(StorageFailure):
                store.commit()
            assert BALLAST_NAME not in files_of(store.directory)
        store.database.close()
        assert BALLAST_NAME not in files_of(store.directory)


# Compaction


def bytes_in(directory: Path) -> bytes:
    """Every byte of every file."""
    return b"".join(scene.files_of(directory).values())


def overwritten(store: Store) -> bytes:
    """A value that was overwritten, once in a table file and once in the log only."""
    secret = os.urandom(64)
    number = count(1)
    for _ in range(2):
        store.database.commit(
            {row(0): secret},
            rows.Position(position=next(number), committed_at_millis=1, digest=os.urandom(32)),
        )
        if not list((store.directory / ENGINE_NAME).glob("*.sst")):
            assert isinstance(store.database.store, RocksStore)
            store.database.store.flush()
    store.database.commit(
        {row(0): b"other"}, rows.Position(position=next(number), committed_at_millis=1, digest=bytes(32))
    )
    return secret


def test_a_compaction_removes_every_byte_of_what_was_overwritten(store: Store) -> None:
    secret = overwritten(store)
    (store.directory / ENGINE_NAME / "000001.log.torn-at-7").write_bytes(secret)
    assert bytes_in(store.directory).count(secret) >= 3
    before, after = store.upkeep.compact()
    assert secret not in bytes_in(store.directory)
    assert before > after > 0
    with store.database.view() as view:
        assert b"other" == view.get(row(0))
    store.commit()


def test_what_a_compaction_removed_stays_removed_after_a_power_cut(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = store.directory / ENGINE_NAME
    tail = engine / "000001.log.torn-at-7"
    tail.write_bytes(b"remains")
    (superseded,) = (path for path in engine.glob("*.log") if path.stat().st_size)
    removed_when_synced = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        if os.path.samestat(os.fstat(descriptor), engine.stat()):
            removed_when_synced.append(not tail.exists() and not superseded.exists())
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    store.upkeep.compact()
    assert removed_when_synced[-1:] == [True]


def test_a_compaction_waits_for_views_that_still_show_what_was_overwritten(store: Store) -> None:
    secret = overwritten(store)
    number = store.database.position.position
    store.database.commit({row(0): secret}, rows.Position(position=number + 1, committed_at_millis=1, digest=bytes(32)))
    view = store.database.view()
    store.database.commit({row(0): None}, rows.Position(position=number + 2, committed_at_millis=1, digest=bytes(32)))
    with ThreadPoolExecutor(1) as pool:
        compacted = pool.submit(store.upkeep.compact)
        assert secret == view.get(row(0))
        view.close()
        compacted.result(SOON)
    assert secret not in bytes_in(store.directory)


def test_a_view_that_never_ends_makes_a_compaction_fail_and_nothing_else(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.commit()
    monkeypatch.setattr(file_maintenance, "VIEWS_SECONDS_MAX", 0.01)
    with store.database.view() as view:
        store.commit()
        with pytest.raises(StorageFailure, match="nothing is lost"):
            store.upkeep.compact()
        assert view.get(row(1)) == b""
    store.upkeep.compact()
    store.commit()


def test_an_open_image_keeps_the_old_files_so_there_is_no_compaction_beside_it(store: Store) -> None:
    secret = overwritten(store)
    with store.upkeep.image():
        with pytest.raises(StorageFailure, match="an image of the store is open"):
            store.upkeep.compact()
        assert secret in bytes_in(store.directory)
    store.upkeep.compact()
    assert secret not in bytes_in(store.directory)


def test_views_and_commits_go_on_while_a_store_is_compacted(store: Store) -> None:
    for _ in range(30):
        store.commit(os.urandom(100_000))
    with ThreadPoolExecutor(1) as pool:
        compacted = pool.submit(store.upkeep.compact)
        beside = 0
        while not compacted.done() or not beside:
            store.commit()
            beside += 1
            with store.database.view() as view:
                assert view.get(row(store.database.position.position)) == b""
        before, after = compacted.result(SOON)
    assert before > 0
    assert after > 0


@pytest.mark.parametrize("work", ["compact", "image"])
def test_closing_does_not_wait_for_upkeep_to_come_to_its_end(tmp_path: Path, work: str) -> None:
    store = Store(tmp_path)
    engine = store.database.store
    assert isinstance(engine, RocksStore)
    for _ in range(100):
        store.commit(os.urandom(100_000))

    def keep() -> str:
        try:
            if work == "compact":
                store.upkeep.compact()
            else:
                with store.upkeep.image():
                    pass
        except StorageFailure as failure:
            return str(failure)
        return "done"

    with ThreadPoolExecutor(1) as pool:
        kept = pool.submit(keep)
        until(lambda: engine._keeping.locked() or kept.done())
        store.database.close()
        assert kept.result(SOON) in ("the store is closed", "done", "the storage engine failed")
    assert (100, list(range(1, 101))) == position_in(tmp_path)


def test_a_closed_store_takes_no_upkeep(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.database.close()
    works: list[Callable[[], object]] = [store.upkeep.compact, lambda: store.upkeep.image().__enter__()]
    for work in works:
        with pytest.raises(StorageFailure, match="the store is closed"):
            work()


def test_a_store_in_memory_has_no_files_to_keep_up() -> None:
    with Ledger.in_memory() as ledger:
        assert ledger.upkeep is None
        works: list[Callable[[], object]] = [ledger.compact, ledger.image]
        for work in works:
            with pytest.raises(StorageFailure, match="no files"):
                work()
