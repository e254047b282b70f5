"""Room on the disk that is held back for the day it is full: one file of so many bytes, which nobody reads.

What lives here: `Ballast`. It lies beside the engine's files while a store is open, and is let go of when a commit
fails and when the store closes. So a store that has met a full disk finds room for what an orderly stop and the next
opening still have to write.

What always holds: a ballast is taken only where as much room again is left beside it; that there is none is never an
error.
"""

from __future__ import annotations

import os
import shutil
from contextlib import suppress
from pathlib import Path

from relatum.store.layout import BALLAST_NAME


class Ballast:
    """The ballast of a directory. Any thread may let go of it, any number of times."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self.held_bytes = 0
        """How much room is held back: all that was asked for, or nothing."""

    def take(self, wanted_bytes: int) -> None:
        """Hold back `wanted_bytes`, if the disk has twice as much."""
        if not wanted_bytes:
            return
        try:
            if shutil.disk_usage(self._directory).free < 2 * wanted_bytes:
                return
            _allocate(self._directory / BALLAST_NAME, wanted_bytes)
        except OSError:
            self.let_go()
        else:
            self.held_bytes = wanted_bytes

    def let_go(self) -> None:
        """Give the room back, whoever took it."""
        self.held_bytes = 0
        with suppress(OSError):
            (self._directory / BALLAST_NAME).unlink(missing_ok=True)


def _allocate(path: Path, size_bytes: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size_bytes)
    finally:
        os.close(descriptor)
