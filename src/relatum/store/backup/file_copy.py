"""Files that travel in chunks, and are there after a power cut where they arrive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from blake3 import blake3

from relatum.limits import KIB
from relatum.store.backup.backup_errors import BackupFailed
from relatum.store.files import make_directory, new_file, sync_directory

CHUNK_BYTES: Final = 256 * KIB


def require_room(directory: Path) -> None:
    """Make `directory` if it is missing. Raises BackupFailed unless it is empty."""
    make_directory(directory)
    if any(directory.iterdir()):
        raise BackupFailed(f"{directory} is not empty; nothing has been written there")


def read_in_chunks(path: Path) -> Iterator[bytes]:
    """The bytes of a file."""
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk


def write_file(path: Path, chunks: Iterable[bytes]) -> tuple[int, str]:
    """Write a new file durably but for its name; its size and its BLAKE3 digest in hex."""
    hashed = blake3()
    size = 0
    with new_file(path) as file:
        for chunk in chunks:
            file.write(chunk)
            hashed.update(chunk)
            size += len(chunk)
    return size, hashed.hexdigest()


def sync_tree(directory: Path) -> None:
    """Make every name in `directory` and below durable."""
    for below in directory.iterdir():
        if below.is_dir():
            sync_tree(below)
    sync_directory(directory)
