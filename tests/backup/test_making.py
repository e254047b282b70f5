"""A backup of a store at rest: a verified copy, with a manifest that says what it is."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from blake3 import blake3

from relatum.errors import StoreUnavailable
from relatum.store import keys, rows
from relatum.store.backup import create, manifest
from relatum.store.backup.backup_errors import BackupFailed, BackupUnusable
from relatum.store.backup.image_contents import Source
from relatum.store.keys import Table, beyond
from relatum.store.layout import ENGINE_NAME, WATERMARK_NAME
from relatum.store.rocks import RocksStore
from relatum.store.verify.directory import verify_directory
from tests.backup.scene import CREATED_AT_MILLIS, back_up, files_of, make_store, rows_in


@pytest.fixture
def store(tmp_path: Path) -> Path:
    make_store(tmp_path / "store")
    return tmp_path / "store"


def test_a_backup_has_the_rows_of_the_store_and_a_manifest_that_counts_them(store: Path, tmp_path: Path) -> None:
    before = rows_in(store)
    made = back_up(store, tmp_path / "backup")
    assert made == manifest.read(tmp_path / "backup")
    position = rows.POSITION.decode(rows.unseal(keys.POSITION, before[keys.POSITION]))
    assert (position.position, position.digest.hex()) == (made.position, made.digest)
    assert (CREATED_AT_MILLIS, len(before)) == (made.created_at_millis, made.rows)
    assert len(before) == sum(family.rows for family in made.families.values())
    report = verify_directory(tmp_path / "backup" / "store")
    assert create.families_of(report) == made.families
    assert before == rows_in(store)
    assert before == rows_in(tmp_path / "backup" / "store")


def test_the_manifest_names_every_file_with_its_size_and_digest(store: Path, tmp_path: Path) -> None:
    made = back_up(store, tmp_path / "backup")
    found = files_of(tmp_path / "backup" / "store")
    assert {(path, len(content), blake3(content).hexdigest()) for path, content in found.items()} == {
        (file.path, file.bytes, file.blake3) for file in made.files
    }
    assert {"watermark", "engine/CURRENT"} < found.keys()
    assert sum(map(len, found.values())) == made.bytes
    assert {"manifest.json", "store"} == {path.name for path in (tmp_path / "backup").iterdir()}


def test_the_store_goes_on_as_before(store: Path, tmp_path: Path) -> None:
    before = {path.name for path in store.iterdir()}
    back_up(store, tmp_path / "one")
    back_up(store, tmp_path / "two")
    assert before == {path.name for path in store.iterdir()}
    assert {ENGINE_NAME, WATERMARK_NAME} == {path.name for path in (tmp_path / "one" / "store").iterdir()}
    one, two = manifest.read(tmp_path / "one"), manifest.read(tmp_path / "two")
    assert one.families == two.families


def test_a_place_that_is_not_empty_is_refused_and_left_alone(store: Path, tmp_path: Path) -> None:
    (tmp_path / "backup").mkdir()
    (tmp_path / "backup" / "letter").write_text("dear")
    with pytest.raises(BackupFailed, match="not empty"):
        back_up(store, tmp_path / "backup")
    assert {"letter": b"dear"} == files_of(tmp_path / "backup")
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        back_up(store, tmp_path / "file")


def test_a_backup_of_nothing_is_refused_and_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="no relatum store"):
        back_up(tmp_path / "nothing", tmp_path / "backup")
    assert [] == list(tmp_path.iterdir())


def test_a_copy_that_was_interrupted_is_no_backup(store: Path, tmp_path: Path) -> None:
    with create.local_source(store) as source:
        files = iter(source.chunks)
        with pytest.raises(ZeroDivisionError):
            create.copy(Source(source.contents, (one for one in [next(files)] if 1 // 0)), tmp_path / "backup")
    with pytest.raises(BackupUnusable, match="no backup"):
        manifest.read(tmp_path / "backup")


def test_a_copy_of_another_position_is_no_backup(store: Path, tmp_path: Path) -> None:
    with create.local_source(store) as source:
        files = create.copy(source, tmp_path / "backup")
    other = msgspec.structs.replace(source.contents, position=source.contents.position + 1)
    with pytest.raises(BackupFailed, match="position"):
        create.seal(tmp_path / "backup", other, files, CREATED_AT_MILLIS)
    assert not (tmp_path / "backup" / "manifest.json").exists()


def test_a_damaged_store_is_copied_but_its_copy_is_not_called_a_backup(store: Path, tmp_path: Path) -> None:
    engine = RocksStore.open(store / ENGINE_NAME, create=False)
    key = next(
        key for key, _ in engine.scan(beyond(keys.STORE_PREFIX), b"\xff" * 17) if key[16] == Table.RECORD_REVISION
    )
    engine.write({key: None})
    engine.sync()
    engine.close()
    with pytest.raises(BackupFailed, match=r"findings.*relatum verify"):
        back_up(store, tmp_path / "backup")
    assert not (tmp_path / "backup" / "manifest.json").exists()


def test_a_destination_that_has_no_room_leaves_no_backup(store: Path, tmp_path: Path) -> None:
    """A directory that turns into a file where the engine's files should go stands for any failure of the disk."""
    with create.local_source(store) as source:
        chunks = ((path if path != "watermark" else "engine", parts) for path, parts in source.chunks)
        with pytest.raises(OSError, match="engine"):
            create.copy(Source(source.contents, chunks), tmp_path / "backup")
    with pytest.raises(BackupUnusable):
        manifest.read(tmp_path / "backup")
