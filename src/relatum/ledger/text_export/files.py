"""The files of an export in a directory: written new, read back strictly.

    DIRECTORY/manifest.txt
    DIRECTORY/<workspace id>/partition.txt
    DIRECTORY/<workspace id>/<record id>.txt

What always holds: the manifest is written last, once the disk has everything else. What version control and desktops
leave in any directory is passed over and told; whatever else is not of an export is refused.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from relatum.ledger.text_export.export_errors import ExportRefused, TextUnusable
from relatum.ledger.text_export.manifest import MANIFEST_NAME
from relatum.ledger.text_export.serializer import PARTITION_NAME
from relatum.store.files import make_directory, new_file, put_durably, sync_directory

_PASSED_OVER: Final = re.compile(
    r"\..*|CVS|_darcs|lost\+found|(eh)?thumbs\.db|desktop\.ini|\$RECYCLE\.BIN|System Volume Information|__MACOSX",
    re.IGNORECASE | re.DOTALL,
)
"""Names that begin with a dot, which no name of an export does, and those of tools that do not hide theirs so."""

_FOLDER: Final = re.compile(r"[0-9a-f]{64}")
_FILE: Final = re.compile(rf"{re.escape(PARTITION_NAME)}|[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}\.txt")


def require_room(directory: Path) -> tuple[str, ...]:
    """What is in `directory` and is passed over. Raises ExportRefused where there is anything else, and OSError."""
    if not directory.exists():
        return ()
    if not directory.is_dir() or not all(_is_passed_over(entry) for entry in _sorted(directory)):
        raise ExportRefused(f"{directory} is not empty; nothing has been written there")
    return tuple(entry.name for entry in _sorted(directory))


def write_folder(directory: Path, files: Mapping[str, bytes], manifest: bytes) -> None:
    """Write every file durably, and the manifest once all of them are there. Raises OSError."""
    make_directory(directory)
    folders = {(directory / path).parent for path in files}
    for folder in folders:
        make_directory(folder)
    for path, data in files.items():
        with new_file(directory / path) as file:  # each is synced: a sync of all at once tells of no error
            file.write(data)
    for folder in folders:
        sync_directory(folder)
    put_durably(directory / MANIFEST_NAME, manifest)


def read_folder(directory: Path) -> tuple[bytes, dict[str, bytes], tuple[str, ...]]:
    """The manifest, every other file by its path, and the paths of what was passed over.

    Raises TextUnusable for anything that no export has and that is not passed over, and OSError.
    """
    if not (directory / MANIFEST_NAME).exists():
        raise TextUnusable(
            f"{directory} is no export: it has no {MANIFEST_NAME}. One that was interrupted has none either; "
            "make it anew"
        )
    manifest = b""
    files: dict[str, bytes] = {}
    passed_over: list[str] = []
    for entry in _sorted(directory):
        if _is_passed_over(entry):
            passed_over.append(entry.name)
        elif entry.name == MANIFEST_NAME:
            manifest = _read(entry)
        elif _FOLDER.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False):
            for below in _sorted(Path(entry.path)):
                path = f"{entry.name}/{below.name}"
                if _is_passed_over(below):
                    passed_over.append(path)
                elif _FILE.fullmatch(below.name):
                    files[path] = _read(below)
                else:
                    raise TextUnusable(f"{below.path} is not of the export")
        else:
            raise TextUnusable(f"{entry.path} is not of the export")
    return manifest, files, tuple(passed_over)


def _is_passed_over(entry: os.DirEntry[str]) -> bool:
    """Whether something may lie beside the files of an export. It is never opened."""
    return _PASSED_OVER.fullmatch(entry.name) is not None


def _sorted(directory: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(directory) as entries:
        yield from sorted(entries, key=lambda entry: entry.name)


def _read(entry: os.DirEntry[str]) -> bytes:
    """The bytes of a plain file, and of nothing that only leads to one."""
    if not stat.S_ISREG(entry.stat(follow_symlinks=False).st_mode):
        raise TextUnusable(f"{entry.path} is no plain file")
    with os.fdopen(os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
        return file.read()
