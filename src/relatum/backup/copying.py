"""Files that arrive in chunks and are there after a power cut."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

from blake3 import blake3

from relatum.backup.failures import BackupFailed
from relatum.store.files import make_directory, sync_directory

Progress = Callable[[float], None]
"""Told what part of the work is done, from 0 to 1."""


Watched = AbstractContextManager[Progress]
"""Somebody watches a piece of work, from its beginning to its end."""


def no_progress(_part: float) -> None:
    """Nobody watches."""


UNWATCHED: Final = nullcontext(no_progress)


class Meter:
    """Tells how much of so many bytes has come by."""

    def __init__(self, total: int, told: Progress) -> None:
        self._total = total
        self._told = told
        self._done = 0

    def passed(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """The same chunks, counted."""
        for chunk in chunks:
            self._done += len(chunk)
            self._told(self._done / self._total if self._total else 1.0)
            yield chunk


def require_room(directory: Path) -> None:
    """Make `directory` if it is missing. Raises BackupFailed unless it is empty."""
    make_directory(directory)
    if any(directory.iterdir()):
        raise BackupFailed(f"{directory} is not empty; nothing has been written there")


def write_file(path: Path, chunks: Iterable[bytes]) -> tuple[int, str]:
    """Write a new file durably but for its name; its size and its BLAKE3 digest in hex."""
    hashed = blake3()
    size = 0
    with path.open("xb") as file:
        for chunk in chunks:
            file.write(chunk)
            hashed.update(chunk)
            size += len(chunk)
        file.flush()
        os.fsync(file.fileno())
    return size, hashed.hexdigest()


def sync_tree(directory: Path) -> None:
    """Make every name in `directory` and below durable."""
    for below in directory.iterdir():
        if below.is_dir():
            sync_tree(below)
    sync_directory(directory)
