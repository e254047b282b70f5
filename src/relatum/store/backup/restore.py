"""How a store is made from a backup: check and copy every file, verify the rows, and only then let it be a store.

What always holds: the copy lies in DIRECTORY/restoring until it was verified. Then its parts take their places, the
engine's files last, and before they are in theirs there is no store that anybody would open. One restore at a time
is at work in a directory, so what it finds there was interrupted.
"""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

from relatum.store import failpoints
from relatum.store.backup import manifest
from relatum.store.backup.backup_errors import BackupUnusable
from relatum.store.backup.create import families_of
from relatum.store.backup.file_copy import read_in_chunks, require_room, sync_tree, write_file
from relatum.store.backup.manifest import Manifest
from relatum.store.backup.progress import UNWATCHED, Meter, Watched
from relatum.store.files import make_directory, sync_directory
from relatum.store.layout import ENGINE_NAME, RESTORING_NAME, WATERMARK_NAME
from relatum.store.lock import making_store_in
from relatum.store.verify.directory import Progress, verify_directory


def restore(backup: Path, directory: Path, *, copying: Watched = UNWATCHED, verifying: Watched = UNWATCHED) -> Manifest:
    """Make a store in `directory`, which must be empty, from a backup; what an interrupted restore left is no matter.

    Raises BackupUnusable where the backup is incomplete or damaged, BackupFailed where the directory is not empty,
    DirectoryInUse where another restore is at work in it, and OSError. Whatever is raised, `directory` holds
    no store then, or a whole one.
    """
    found = manifest.read(backup)
    make_directory(directory)
    with making_store_in(directory):
        _clear_interrupted(directory)
        require_room(directory)
        place = directory / RESTORING_NAME
        try:
            with copying as told:
                _copy(found, backup / manifest.STORE_NAME, place, told)
            failpoints.reach("restore.copied")
            with verifying as told:
                _verify(found, place, told)
        except BaseException:
            shutil.rmtree(place, ignore_errors=True)
            raise
        _settle(place, directory)
    return found


def _clear_interrupted(directory: Path) -> None:
    """Remove what a restore left that was interrupted before there was a store, and nothing else."""
    place = directory / RESTORING_NAME
    if (
        place.is_dir()
        and _names_in(directory) <= {RESTORING_NAME, WATERMARK_NAME}
        and _names_in(place) <= {ENGINE_NAME, WATERMARK_NAME}
    ):
        (directory / WATERMARK_NAME).unlink(missing_ok=True)
        shutil.rmtree(place)


def _names_in(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def _copy(found: Manifest, store: Path, place: Path, told: Progress) -> None:
    make_directory(place)
    make_directory(place / ENGINE_NAME)
    meter = Meter(found.bytes, told)
    for file in found.files:
        try:
            size, digest = write_file(place / file.path, meter.passed(read_in_chunks(store / file.path)))
        except FileNotFoundError as error:
            raise BackupUnusable(f"the backup is incomplete: {store / file.path} is missing") from error
        if (size, digest) != (file.bytes, file.blake3):
            raise BackupUnusable(f"the backup is damaged: {store / file.path} is not as its manifest says")
    sync_tree(place)


def _verify(found: Manifest, place: Path, told: Progress) -> None:
    report = verify_directory(place, progress=told)
    restored = (report.position, report.digest, report.rows, families_of(report))
    if not report.clean or restored != (found.position, found.digest, found.rows, found.families):
        raise BackupUnusable("the backup is damaged: its rows are not those that its manifest counts")


def _settle(place: Path, directory: Path) -> None:
    # IMPORTANT: the engine's files come last.
    (place / WATERMARK_NAME).rename(directory / WATERMARK_NAME)
    sync_directory(directory)
    (place / ENGINE_NAME).rename(directory / ENGINE_NAME)
    failpoints.reach("restore.settled")
    with suppress(FileNotFoundError):  # whoever opens the store at this moment may have been faster
        place.rmdir()
    sync_directory(directory)
