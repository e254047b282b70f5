"""Who may have a directory at the same time: one owner, or readers; in a copy that nobody has opened yet, too."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from relatum.errors import StoreUnavailable
from relatum.store.lock import LOCK_FILE_NAME, DirectoryInUse, DirectoryLock
from relatum.store.rocks import RocksStore, reading
from tests.store import children
from tests.store.helpers import EVERYTHING, commit

OPENED, NEVER_OPENED = "a store that was open", "a copy that never was"
BEING_READ = "is being read"


@pytest.fixture(params=[OPENED, NEVER_OPENED])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """One row, in a directory with or without the file that names an owner."""
    made = RocksStore.open(tmp_path / "store", create=True)
    commit(made, {b"a": b"1"})
    made.close()
    if request.param == NEVER_OPENED:
        (tmp_path / "store" / LOCK_FILE_NAME).unlink()
    return tmp_path / "store"


def test_readers_share_a_store_and_leave_it_as_it_was(store: Path) -> None:
    before = {path.name: path.read_bytes() for path in store.iterdir()}
    with reading(store) as one, reading(store) as other:
        assert [(b"a", b"1")] == list(one.scan(*EVERYTHING)) == list(other.scan(*EVERYTHING))
    assert before == {path.name: path.read_bytes() for path in store.iterdir()}


def test_nobody_opens_a_store_while_it_is_read(store: Path) -> None:
    with reading(store):
        with pytest.raises(DirectoryInUse, match=BEING_READ):
            RocksStore.open(store, create=False)
        with reading(store), pytest.raises(DirectoryInUse, match=BEING_READ):
            RocksStore.open(store, create=False)
        with pytest.raises(DirectoryInUse, match=BEING_READ):
            RocksStore.open(store, create=False)
    RocksStore.open(store, create=False).close()


def test_nobody_reads_a_store_while_it_is_open(store: Path) -> None:
    owner = RocksStore.open(store, create=False)
    with pytest.raises(DirectoryInUse, match=f"is open in process {os.getpid()}$"), reading(store):
        pass
    owner.close()
    with reading(store) as view:
        assert [(b"a", b"1")] == list(view.scan(*EVERYTHING))


def test_nobody_reads_a_store_while_another_process_has_it_open(store: Path) -> None:
    with children.start("hold", store) as owner:
        assert owner.stdout is not None
        assert "open\n" == owner.stdout.readline()
        with pytest.raises(DirectoryInUse, match=f"is open in process {owner.pid}$"), reading(store):
            pass
        owner.communicate(timeout=60)


def test_the_file_that_names_the_owner_locks_nothing(store: Path) -> None:
    lock = DirectoryLock.acquire(store)
    (store / LOCK_FILE_NAME).unlink()
    with pytest.raises(DirectoryInUse, match=r"is open in process \?"):
        DirectoryLock.acquire(store)
    with pytest.raises(DirectoryInUse, match=r"is open in process \?"):
        DirectoryLock.share(store)
    lock.release()
    lock.release()
    DirectoryLock.acquire(store).release()


def test_a_directory_that_is_gone_is_a_clear_refusal(store: Path) -> None:
    shutil.rmtree(store)
    for lock in (DirectoryLock.acquire, DirectoryLock.share):
        with pytest.raises(StoreUnavailable, match="can't lock"):
            lock(store)


def test_an_owner_that_can_not_leave_its_name_has_no_lock_left(store: Path) -> None:
    (store / LOCK_FILE_NAME).unlink(missing_ok=True)
    (store / LOCK_FILE_NAME).mkdir()
    with pytest.raises(StoreUnavailable, match="can't lock"):
        DirectoryLock.acquire(store)
    DirectoryLock.share(store).release()
