"""One process, one owner, or readers alone: the locks on directories.

What lives here: `DirectoryLock` on a store's files, which readers that write nothing may share. RocksDB has a lock of
its own; this one is taken before anything in the directory is looked at, let alone repaired. And `try_lock`, for a
directory in which there is no store, or none yet.

What always holds: what is locked is the directory itself, so readers can lock a copy in which nobody may write; the
lock belongs to the open directory, so it ends with the process however that ends. The file `relatum.lock` locks
nothing: it names the owner to whoever is refused.
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

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


class DirectoryInUse(StoreUnavailable):
    """Somebody else has the directory."""


class DirectoryLock:
    """The right to a directory, held until `release`.

    A forked child would share it, as it would share the engine's files: never fork after opening a store.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor: int | None = descriptor

    @classmethod
    def acquire(cls, directory: Path) -> Self:
        """The exclusive right to `directory`, which must exist. Raises `StoreUnavailable` if somebody else has it."""
        descriptor = _locked(directory, fcntl.LOCK_EX)
        try:
            _sign(directory)
        except OSError as error:
            unlock(descriptor)
            raise StoreUnavailable(f"can't lock {directory}: {error.strerror}") from error
        return cls(descriptor)

    @classmethod
    def share(cls, directory: Path) -> Self:
        """The right to read `directory`, together with other readers and without writing anything.

        Raises `StoreUnavailable` if an owner has it.
        """
        return cls(_locked(directory, fcntl.LOCK_SH))

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
        descriptor = os.open(directory, _DIRECTORY | os.O_NOFOLLOW)
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


def _locked(directory: Path, kind: int) -> int:
    try:
        descriptor = os.open(directory, _DIRECTORY)
    except OSError as error:
        raise StoreUnavailable(f"can't lock {directory}: {error.strerror}") from error
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError as error:
        message = _who_has(descriptor, directory)
        unlock(descriptor)
        raise DirectoryInUse(message) from error
    except OSError as error:
        unlock(descriptor)
        raise StoreUnavailable(f"can't lock {directory}: {error.strerror}") from error
    return descriptor


def _sign(directory: Path) -> None:
    descriptor = os.open(directory / LOCK_FILE_NAME, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        with suppress(OSError):  # a name helps whoever is refused; on a full disk the lock holds all the same
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
    finally:
        os.close(descriptor)


def _who_has(descriptor: int, directory: Path) -> str:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return f"directory in use: {directory} is open in process {_signature(directory) or '?'}"
    return f"directory in use: {directory} is being read, by a verification or the like"  # which writes no name


def _signature(directory: Path) -> str:
    try:
        return (directory / LOCK_FILE_NAME).read_bytes()[:32].decode("ascii", "replace").strip()
    except OSError:
        return ""
