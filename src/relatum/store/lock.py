"""One process, one owner: the lock on a data directory.

What lives here: `DirectoryLock`. RocksDB has a lock of its own; this one is taken before anything in the directory is
looked at, let alone repaired, and says who holds it.

What always holds: the lock belongs to the open file, so it ends with the process however that ends, and the file itself
is never removed (removing it would let two owners lock two files of one name).
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from relatum.errors import StoreUnavailable

LOCK_FILE_NAME = "relatum.lock"


class DirectoryLock:
    """The exclusive right to a directory, held until `release`.

    A forked child would share it, as it would share the engine's files: never fork after opening a store.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def acquire(cls, directory: Path) -> Self:
        """Lock `directory`, which must exist. Raises `StoreUnavailable` if somebody else has it."""
        try:
            descriptor = os.open(directory / LOCK_FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreUnavailable(f"can't lock {directory}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
            os.close(descriptor)
            raise StoreUnavailable(f"directory in use: {directory} is open in process {owner or '?'}") from error
        with suppress(OSError):  # whose lock it is helps whoever is refused; on a full disk the lock holds all the same
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        return cls(descriptor)

    def release(self) -> None:
        """Let go of the directory. Releasing twice is allowed."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
