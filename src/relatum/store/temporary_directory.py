"""Directories that are gone when the block ends, or at the latest when the next one of their kind is made.

What lives here: `ephemeral_directory`. A process that is killed removes nothing; so each directory is locked as long as
its owner lives, and whoever makes one sweeps those beside it that nobody has locked.

What always holds: only the owner may look into such a directory; one that somebody still uses is never swept; that one
can't be removed is no error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import gettempdir, mkdtemp

from relatum.store.lock import try_lock, unlock


@contextmanager
def ephemeral_directory(prefix: str, parent: Path | None = None) -> Iterator[Path]:
    """A new directory for files, as long as the block runs; its name begins with `prefix`, which is its kind.

    It lies in `parent`, or else where the environment has temporary files (`TMPDIR`). Raises OSError.
    """
    place = Path(gettempdir()) if parent is None else parent
    sweep(prefix, place)
    directory, lock = _made(prefix, place)
    try:
        yield directory
    finally:
        _remove(directory)
        unlock(lock)


def sweep(prefix: str, place: Path) -> None:
    """Remove the directories of a kind in `place` whose owners ended without doing so."""
    with suppress(OSError):
        for directory in place.glob(f"{prefix}*"):
            with suppress(OSError):
                _sweep(directory, place)


def _sweep(directory: Path, place: Path) -> None:
    lock = try_lock(directory)
    if lock is None:
        return
    try:
        # In a place that all may write to, only what is our own: somebody else's could be another one in a moment.
        if os.fstat(lock).st_uid in (os.geteuid(), place.stat().st_uid):
            _remove(directory)
    finally:
        unlock(lock)


def _made(prefix: str, place: Path) -> tuple[Path, int]:
    while True:
        directory = Path(mkdtemp(prefix=prefix, dir=place))
        lock = try_lock(directory)
        if lock is not None:
            if directory.exists():
                return directory, lock
            unlock(lock)
        # It was swept before it was locked: once more.


def _remove(directory: Path) -> None:
    # By paths, one call after the other, which is what the crash tests can follow; no more than two levels deep.
    with suppress(OSError):
        for path in directory.iterdir():
            if path.is_dir() and not path.is_symlink():
                _remove(path)
            else:
                path.unlink()
        directory.rmdir()
