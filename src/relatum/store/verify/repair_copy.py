"""A plain copy of a store at rest, kept before it is repaired.

What lives here: `keep_copy`. What it makes is no backup in the sense of `relatum backup`, which refuses a store that is
damaged; it is the damaged store, byte for byte, so that nothing is lost by a repair that turns out to be wrong.
"""

from __future__ import annotations

import re
from filecmp import cmp
from pathlib import Path
from shutil import copyfileobj
from typing import Final

from relatum.errors import StorageFailure
from relatum.store.database import ENGINE_NAME, WATERMARK_NAME
from relatum.store.files import make_directory, new_file, sync_directory
from relatum.store.lock import LOCK_FILE_NAME, DirectoryLock, making_store_in

_LEFT_OUT: Final = re.compile(rf"{re.escape(LOCK_FILE_NAME)}|LOCK|LOG|LOG\.old\.\d+")


def keep_copy(directory: Path, destination: Path) -> None:
    """Copies the store in `directory` into `destination`, which is made or must be empty, and compares every byte.

    The copy is laid out as a data directory. Raises StoreUnavailable while somebody has the store open or puts one into
    `destination`, StorageFailure where `destination` is not empty or the copy is another one, and OSError.
    """
    make_directory(destination)
    with making_store_in(destination):
        if any(destination.iterdir()):
            raise StorageFailure("the place for the copy is not empty")
        _keep(directory, destination)


def _keep(directory: Path, destination: Path) -> None:
    lock = DirectoryLock.share(directory / ENGINE_NAME)
    try:
        make_directory(destination / ENGINE_NAME)
        for path in (directory / ENGINE_NAME).iterdir():
            if not _LEFT_OUT.fullmatch(path.name):
                _copy(path, destination / ENGINE_NAME / path.name)
        if (directory / WATERMARK_NAME).exists():
            _copy(directory / WATERMARK_NAME, destination / WATERMARK_NAME)
        sync_directory(destination / ENGINE_NAME)
        sync_directory(destination)
    finally:
        lock.release()


def _copy(path: Path, new: Path) -> None:
    with path.open("rb") as content, new_file(new) as file:
        copyfileobj(content, file)
    if not cmp(path, new, shallow=False):
        raise StorageFailure("the copy is not what was copied")
