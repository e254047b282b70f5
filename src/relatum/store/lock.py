"""One process, one owner, or readers alone: the locks on directories.

What lives here: `DirectoryLock` on a store's files, which readers that write nothing may share. RocksDB has a lock of
its own; this one is taken before anything in the directory is looked at, let alone repaired, and says who holds it. And
`try_lock`, for a directory in which there is no store, or none yet: the lock on itself.

What always holds: the lock belongs to the open file, so it ends with the process however that ends, and the file itself
is never removed (removing it would let two owners lock two files of one name).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

from relatum.errors import StoreUnavailable

LOCK_FILE_NAME = "relatum.lock"


class DirectoryInUse(StoreUnavailable):
    """Somebody else has the directory."""


class DirectoryLock:
    """The exclusive right to a directory, held until `release`.

    A forked child would share it, as it would share the engine's files: never fork after opening a store.
    """

    def __init__(self, descriptor: int | None) -> None:
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, directory: Path) -> Self:
        """Lock `directory`, which must exist. Raises `StoreUnavailable` if somebody else has it."""
        try:
            descriptor = os.open(directory / LOCK_FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise StoreUnavailable(f"can't lock {directory}: {error.strerror}") from error
        _lock(descriptor, fcntl.LOCK_EX, directory)
        with suppress(OSError):  # whose lock it is helps whoever is refused; on a full disk the lock holds all the same
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
        return cls(descriptor)

    @classmethod
    def share(cls, directory: Path) -> Self:
        """The right to read `directory`, together with other readers and without writing anything.

        Raises `StoreUnavailable` if an owner has it. Where no owner has ever been there is no lock to take: a copy
        that nobody has opened yet.
        """
        try:
            descriptor = os.open(directory / LOCK_FILE_NAME, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return cls(None)
        except OSError as error:
            raise StoreUnavailable(f"can't lock {directory}: {error.strerror}") from error
        _lock(descriptor, fcntl.LOCK_SH, directory)
        return cls(descriptor)

    def release(self) -> None:
        """Let go of the directory. Releasing twice is allowed."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            unlock(descriptor)


@contextmanager
def making_store_in(directory: Path) -> Iterator[None]:
    """Nobody else makes a store in `directory`, which must exist, while the block runs.

    Raises `DirectoryInUse` if somebody does, and OSError.
    """
    lock = try_lock(directory.resolve())
    if lock is None:
        raise DirectoryInUse(f"directory in use: another process is putting a store into {directory}")
    try:
        yield
    finally:
        unlock(lock)


def try_lock(directory: Path) -> int | None:
    """The lock on a directory itself, a descriptor; None where somebody else has it, or where it is gone."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        unlock(descriptor)
        return None
    except OSError:
        unlock(descriptor)
        raise
    return descriptor


def unlock(descriptor: int) -> None:
    """Let go of a lock."""
    with suppress(OSError):  # the descriptor is gone whatever the system says, and the lock with it
        os.close(descriptor)


def _lock(descriptor: int, kind: int, directory: Path) -> None:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except OSError as error:
        message = _who_has(descriptor, directory)
        os.close(descriptor)
        raise DirectoryInUse(message) from error


def _who_has(descriptor: int, directory: Path) -> str:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        return f"directory in use: {directory} is open in process {owner or '?'}"
    return f"directory in use: {directory} is being read, by a verification or the like"  # which writes no name
