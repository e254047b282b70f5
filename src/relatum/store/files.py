"""Files and directories that are there after a power cut, and are nobody else's.

What lives here: the few steps that make a new name durable. What must not: any knowledge of what is in the files.

What always holds: what is made here is for its owner alone. The engine's own files are as the umask of the process
says; so each lies in a directory that was made here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def make_directory(directory: Path) -> None:
    """Create `directory` for its owner alone, and the ones above it that are missing, each durable in its parent.

    One that is there keeps the permissions that it has.
    """
    _make(directory, 0o700)


def _make(directory: Path, mode: int) -> None:
    if directory.is_dir():
        return
    _make(directory.parent, 0o777)
    directory.mkdir(mode, exist_ok=True)
    sync_directory(directory.parent)


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """A new file, to be written in the block; durable but for its name once that ends well.

    Raises FileExistsError where there is one, and OSError.
    """
    with open(path, "xb", opener=_private) as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def write_durably(path: Path, data: bytes) -> None:
    """Write a whole new file and its name. A power cut before the return may leave a part of it.

    One that is there is written over, and keeps the permissions that it has.
    """
    with open(path, "wb", opener=_private) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    sync_directory(path.parent)


def put_durably(path: Path, data: bytes) -> None:
    """Put a whole file at `path`, in the place of whatever lies there. A power cut leaves all of it or nothing."""
    new = path.with_name(f"{path.name}.new")
    write_durably(new, data)
    new.replace(path)
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Make the names in `directory` durable: those that came, went or changed."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
