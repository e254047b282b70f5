"""How a backup is made: copy, verify the copy, and only then say that it is one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relatum.store.backup import manifest
from relatum.store.backup.backup_errors import BackupFailed
from relatum.store.backup.file_copy import read_in_chunks, require_room, sync_tree, write_file
from relatum.store.backup.image_contents import Contents, Source, contents_of
from relatum.store.backup.manifest import FamilyEntry, FileEntry, Manifest
from relatum.store.backup.progress import Meter, no_progress
from relatum.store.database import Database
from relatum.store.files import make_directory
from relatum.store.layout import ENGINE_NAME
from relatum.store.verify.directory import Progress, verify_directory
from relatum.store.verify.report import Report


@contextmanager
def local_source(directory: Path) -> Iterator[Source]:
    """The store in `directory`, which nobody else may have open. Raises StoreUnavailable."""
    database = Database.open(directory, create=False)
    try:
        assert database.upkeep is not None, "what lies in a directory has files"
        with database.upkeep.image() as image:
            contents = contents_of(image)
            files = ((file.path, read_in_chunks(image.directory / file.path)) for file in contents.files)
            yield Source(contents, files)
    finally:
        database.close()


def copy(source: Source, destination: Path, *, progress: Progress = no_progress) -> tuple[FileEntry, ...]:
    """Write every file of `source` below `destination`, which must be empty. Raises BackupFailed and OSError."""
    store = destination / manifest.STORE_NAME
    require_room(destination)
    make_directory(store)
    make_directory(store / ENGINE_NAME)
    meter = Meter(source.contents.bytes, progress)
    entries = []
    for path, chunks in source.chunks:
        size, digest = write_file(store / path, meter.passed(chunks))
        entries.append(FileEntry(path=path, bytes=size, blake3=digest))
    sync_tree(destination)
    return tuple(entries)


def seal(
    destination: Path,
    contents: Contents,
    files: tuple[FileEntry, ...],
    created_at_millis: int,
    *,
    progress: Progress = no_progress,
) -> Manifest:
    """Verify the copy in `destination` and write its manifest.

    Raises BackupFailed where the copy is not what it should be, or where what it is a copy of is damaged; the copy is
    left for whoever wants to look at it.
    """
    report = verify_directory(destination / manifest.STORE_NAME, progress=progress)
    if not report.clean:
        raise BackupFailed(
            f"the copy has {report.findings_count} findings, the first of them: {report.findings[0].message}. It was "
            f"not made a backup; see: relatum verify {destination / manifest.STORE_NAME}"
        )
    if (report.position, report.digest) != (contents.position, contents.digest):
        raise BackupFailed("the copy is not of the position that it should be of; make it anew")
    made = Manifest(
        format=manifest.FORMAT,
        created_at_millis=created_at_millis,
        position=report.position,
        digest=report.digest,
        rows=report.rows,
        bytes=sum(file.bytes for file in files),
        families=families_of(report),
        files=files,
    )
    manifest.write(made, destination)
    return made


def families_of(report: Report) -> dict[str, FamilyEntry]:
    """What a manifest says about rows."""
    return {name: FamilyEntry(rows=family.rows, digest=family.digest) for name, family in report.families.items()}
