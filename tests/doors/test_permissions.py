"""Whatever relatum writes is for its owner alone, also in a directory that all may look into."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from relatum.ledger import Ledger
from relatum.store.backup.restore import restore
from relatum.store.layout import BALLAST_NAME, IMAGES_NAME
from relatum.store.verify.repair_copy import keep_copy
from tests.backup.scene import back_up, make_store
from tests.support.builders import PARTITION
from tests.support.desk import Desk
from tests.text_export.carrying import exported
from tests.views.mining import Miner, mined


@pytest.fixture(autouse=True)
def _permissive() -> Iterator[None]:
    """A process that withholds nothing from others by itself."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A directory that all may look into."""
    directory = tmp_path / "shared"
    directory.mkdir(0o755)
    return directory


def open_to_others(directory: Path) -> list[str]:
    """What others may read in a directory, or look into, by its path there."""
    found = [path for path in directory.iterdir() if path.lstat().st_mode & 0o077]
    below = [f"{path.name}/{name}" for path in found if path.is_dir() for name in open_to_others(path)]
    return sorted([*(path.name for path in found), *below])


def test_a_store_in_use_with_all_that_lies_beside_it(shared: Path) -> None:
    with Ledger.open(shared, create=True) as ledger:
        assert ledger.upkeep is not None
        ledger.upkeep.ballast.take(4096)
        desk = Desk(ledger)
        one, two = desk.create(), desk.create()
        Miner(ledger).replace(mined(one, two))
        with ledger.view() as view:
            assert view.search(view.partition(PARTITION), "tide")
        with ledger.image() as image:
            assert image.files()
            names = {path.name for path in shared.iterdir()}
            assert {BALLAST_NAME, IMAGES_NAME, "search.sqlite-wal", "search.sqlite-shm", "derived.sqlite-seal"} < names
            assert [] == open_to_others(shared)
    assert [] == open_to_others(shared)


def test_a_backup_and_what_is_restored_from_it(shared: Path, tmp_path: Path) -> None:
    make_store(tmp_path / "store")
    back_up(tmp_path / "store", shared)
    assert [] == open_to_others(shared)
    restored = tmp_path / "restored"
    restored.mkdir(0o755)
    looks: list[list[str]] = []
    restore(shared, restored, copying=nullcontext(lambda _part: looks.append(open_to_others(restored))))
    assert looks, "while files are copied"
    assert not any(looks)
    assert [] == open_to_others(restored)


def test_an_export(shared: Path) -> None:
    with Ledger.in_memory() as ledger:
        Desk(ledger).create()
        exported(ledger, shared)
    assert 2 == len(list(shared.iterdir()))
    assert [] == open_to_others(shared)


def test_the_copy_that_is_kept_before_a_repair(shared: Path, tmp_path: Path) -> None:
    make_store(tmp_path / "store")
    keep_copy(tmp_path / "store", shared)
    assert 2 == len(list(shared.iterdir()))
    assert [] == open_to_others(shared)
