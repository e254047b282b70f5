"""From a backup to a store again: everything is checked before there is a store."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from relatum.errors import Failure, StoreUnavailable
from relatum.ledger import Ledger
from relatum.store.backup import manifest
from relatum.store.backup.backup_errors import BackupFailed, BackupUnusable
from relatum.store.backup.restore import restore
from relatum.store.layout import ENGINE_NAME, RESTORING_NAME, WATERMARK_NAME
from relatum.store.lock import DirectoryInUse, making_store_in
from relatum.store.verify.directory import Progress, verify_directory
from tests.backup.scene import back_up, files_of, make_store, rows_in
from tests.support.desk import Desk


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[bytes, bytes]]:
    """A backup, and the rows of what it is of."""
    directory = tmp_path_factory.mktemp("made")
    found = make_store(directory / "store")
    back_up(directory / "store", directory / "backup")
    return directory / "backup", found


@pytest.fixture
def backup(made: tuple[Path, dict[bytes, bytes]], tmp_path: Path) -> Path:
    """A copy of it, to damage."""
    return shutil.copytree(made[0], tmp_path / "backup")


def assert_no_store(directory: Path) -> None:
    assert not directory.exists() or [] == list(directory.iterdir())
    with pytest.raises(StoreUnavailable):
        Ledger.open(directory)


def test_a_restored_store_has_the_same_rows_and_takes_commands(
    made: tuple[Path, dict[bytes, bytes]], tmp_path: Path
) -> None:
    restored = restore(made[0], tmp_path / "store")
    assert manifest.read(made[0]) == restored
    assert {ENGINE_NAME, WATERMARK_NAME} == {path.name for path in (tmp_path / "store").iterdir()}
    assert made[1] == rows_in(tmp_path / "store")
    with Ledger.open(tmp_path / "store") as ledger:
        Desk(ledger).create()
    assert verify_directory(tmp_path / "store").clean


def test_the_backup_is_not_changed_and_can_be_restored_again(backup: Path, tmp_path: Path) -> None:
    before = files_of(backup)
    for name in ("one", "two"):
        restore(backup, tmp_path / name)
    assert before == files_of(backup)


def test_a_place_that_is_not_empty_is_refused_and_left_alone(backup: Path, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / "letter").write_text("dear")
    with pytest.raises(BackupFailed, match="not empty"):
        restore(backup, tmp_path / "place")
    assert {"letter": b"dear"} == files_of(tmp_path / "place")
    restore(backup, tmp_path / "store")
    before = files_of(tmp_path / "store")
    with pytest.raises(BackupFailed, match="not empty"):
        restore(backup, tmp_path / "store")
    assert before == files_of(tmp_path / "store")


def test_without_its_manifest_it_is_no_backup(backup: Path, tmp_path: Path) -> None:
    (backup / "manifest.json").unlink()
    for source in (backup, tmp_path / "nowhere", backup / "store"):
        with pytest.raises(BackupUnusable, match="no backup"):
            restore(source, tmp_path / "store")
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"format": 2}'], ids=["empty", "cut", "another shape", "another format"]
)
def test_a_manifest_that_is_none_is_refused(backup: Path, tmp_path: Path, content: bytes) -> None:
    (backup / "manifest.json").write_bytes(content)
    with pytest.raises(BackupUnusable, match="is damaged, or of a version"):
        restore(backup, tmp_path / "store")
    assert not (tmp_path / "store").exists()


def test_a_manifest_that_leads_elsewhere_is_refused(backup: Path, tmp_path: Path) -> None:
    path = backup / "manifest.json"
    path.write_text(path.read_text().replace('"watermark"', '"../watermark"'))
    with pytest.raises(BackupUnusable, match="no store has"):
        restore(backup, tmp_path / "store")


def flipped(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def shortened(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 1)


def lengthened(path: Path) -> None:
    path.write_bytes(path.read_bytes() + b"\0")


@pytest.mark.parametrize("damage", [flipped, shortened, lengthened, Path.unlink], ids=lambda damage: damage.__name__)
def test_each_file_that_is_damaged_or_missing_is_noticed(
    backup: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    for file in manifest.read(backup).files:
        path = backup / "store" / file.path
        if not file.bytes and damage in (flipped, shortened):
            continue
        content = path.read_bytes()
        damage(path)
        with pytest.raises(BackupUnusable, match=path.name):
            restore(backup, tmp_path / "store")
        assert_no_store(tmp_path / "store")
        path.write_bytes(content)
    restore(backup, tmp_path / "store")


@pytest.mark.parametrize("member", ["position", "rows", "digest"])
def test_a_manifest_that_counts_otherwise_than_the_rows_is_noticed(backup: Path, tmp_path: Path, member: str) -> None:
    found = manifest.read(backup)
    old = str(getattr(found, member))
    new = old[:-1] + ("1" if old[-1] != "1" else "2")
    path = backup / "manifest.json"
    path.write_text(path.read_text().replace(old, new, 1))
    assert manifest.read(backup) != found
    with pytest.raises(BackupUnusable, match="rows are not those"):
        restore(backup, tmp_path / "store")
    assert_no_store(tmp_path / "store")


def test_an_interrupted_restore_is_no_store_and_is_begun_anew(
    made: tuple[Path, dict[bytes, bytes]], tmp_path: Path
) -> None:
    place = tmp_path / "store"
    for watermark_moved in (False, True):
        shutil.copytree(made[0] / "store", place / RESTORING_NAME)
        if watermark_moved:
            (place / RESTORING_NAME / WATERMARK_NAME).rename(place / WATERMARK_NAME)
        for create in (False, True):
            with pytest.raises(StoreUnavailable, match=r"no relatum store in .*a restore was interrupted"):
                Ledger.open(place, create=create)
        restore(made[0], place)
        assert made[1] == rows_in(place)
        shutil.rmtree(place)


def test_a_directory_that_is_named_like_an_interrupted_restore_is_left_alone(
    made: tuple[Path, dict[bytes, bytes]], tmp_path: Path
) -> None:
    (tmp_path / "place" / RESTORING_NAME).mkdir(parents=True)
    (tmp_path / "place" / RESTORING_NAME / "letter").write_text("dear")
    with pytest.raises(BackupFailed, match="not empty"):
        restore(made[0], tmp_path / "place")
    assert {f"{RESTORING_NAME}/letter": b"dear"} == files_of(tmp_path / "place")


def test_a_restore_that_is_at_work_keeps_others_out_and_comes_to_its_end(
    made: tuple[Path, dict[bytes, bytes]], tmp_path: Path
) -> None:
    place, stages = tmp_path / "store", []

    @contextmanager
    def beside(stage: str) -> Iterator[Progress]:
        def told(_part: float) -> None:
            if stage not in stages:
                stages.append(stage)
                before = files_of(place)
                with pytest.raises(DirectoryInUse, match="another process is putting a store into"):
                    restore(made[0], place)
                for create in (False, True):
                    with pytest.raises(StoreUnavailable):
                        Ledger.open(place, create=create)
                assert before == files_of(place)

        yield told

    restore(made[0], place, copying=beside("copying"), verifying=beside("verifying"))
    assert ["copying", "verifying"] == stages
    assert made[1] == rows_in(place)


def test_nothing_is_restored_where_a_store_is_being_made(made: tuple[Path, dict[bytes, bytes]], tmp_path: Path) -> None:
    with making_store_in(tmp_path), pytest.raises(DirectoryInUse):
        restore(made[0], tmp_path)
    assert [] == list(tmp_path.iterdir())


def test_a_backup_and_what_is_restored_from_it_are_for_their_owner_alone(
    made: tuple[Path, dict[bytes, bytes]], tmp_path: Path
) -> None:
    restore(made[0], tmp_path / "store")
    for directory in (made[0], tmp_path / "store"):
        assert 0o700 == directory.stat().st_mode & 0o777


def test_a_store_can_be_restored_through_a_link(made: tuple[Path, dict[bytes, bytes]], tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "store").symlink_to(tmp_path / "disk")
    restore(made[0], tmp_path / "store")
    assert made[1] == rows_in(tmp_path / "disk")


def test_a_restore_that_fails_half_way_leaves_nothing(backup: Path, tmp_path: Path) -> None:
    last = manifest.read(backup).files[-1]
    flipped(backup / "store" / last.path)
    with pytest.raises(Failure):
        restore(backup, tmp_path / "store")
    assert_no_store(tmp_path / "store")
