"""What is written down about a backup: the file that makes it one.

    BACKUP/manifest.json   this
    BACKUP/store/          the copy, laid out as a data directory

What always holds: a manifest is there as a whole or not at all, and what it says has been verified.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct

from relatum.store.backup.backup_errors import BackupUnusable
from relatum.store.backup.image_contents import is_path_of_a_store
from relatum.store.files import put_durably

FORMAT: Final = 1
MANIFEST_NAME: Final = "manifest.json"
STORE_NAME: Final = "store"


class FileEntry(Struct, frozen=True, kw_only=True):
    """A file of the copy: its path below `store`, its size, its BLAKE3 digest in hex."""

    path: str
    bytes: int
    blake3: str


class FamilyEntry(Struct, frozen=True, kw_only=True):
    """The rows of one table, of all partitions together: how many there are, and a digest of them in hex."""

    rows: int
    digest: str


class Manifest(Struct, frozen=True, kw_only=True):
    """A backup: when it was made, which place in history it is of, and everything that it holds."""

    format: Literal[1]
    created_at_millis: int
    position: int
    digest: str
    rows: int
    bytes: int
    families: dict[str, FamilyEntry]
    files: tuple[FileEntry, ...]


def write(manifest: Manifest, backup: Path) -> None:
    """Turn the copy in `backup` into a backup."""
    put_durably(backup / MANIFEST_NAME, msgspec.json.format(msgspec.json.encode(manifest)) + b"\n")


def read(backup: Path) -> Manifest:
    """The manifest of a backup. Raises BackupUnusable where there is none, or none that this version reads."""
    path = backup / MANIFEST_NAME
    try:
        manifest = msgspec.json.decode(path.read_bytes(), type=Manifest)
    except FileNotFoundError as error:
        raise BackupUnusable(
            f"{backup} is no backup: it has no {MANIFEST_NAME}. One that was interrupted has none either; make it anew"
        ) from error
    except msgspec.MsgspecError as error:
        raise BackupUnusable(f"{path} is damaged, or of a version of relatum that this one does not know") from error
    if not all(is_path_of_a_store(file.path) for file in manifest.files):
        raise BackupUnusable(f"{path} is damaged: it names a file that no store has")
    return manifest
