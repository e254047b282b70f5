"""What an image of a store holds, before anything of it was copied."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from msgspec import Struct

from relatum.store.file_maintenance import Image

_PATH: Final = re.compile(r"watermark|engine/[A-Za-z0-9_][A-Za-z0-9._-]{0,100}")


class FileSize(Struct, frozen=True, kw_only=True):
    """A file of a store: its path below the data directory, with `/`, and its size."""

    path: str
    bytes: int


class Contents(Struct, frozen=True, kw_only=True):
    """The files of an image and the place in history that they are of; `digest` in hex."""

    position: int
    digest: str
    files: tuple[FileSize, ...]

    @property
    def bytes(self) -> int:
        """All of them together."""
        return sum(file.bytes for file in self.files)


class Source(NamedTuple):
    """Something a backup can be made from: what it holds, and each of its files once, in the same order, in chunks."""

    contents: Contents
    chunks: Iterator[tuple[str, Iterator[bytes]]]


def contents_of(image: Image) -> Contents:
    """What an image holds."""
    files = (
        FileSize(path=path.relative_to(image.directory).as_posix(), bytes=path.stat().st_size) for path in image.files()
    )
    return Contents(position=image.position.position, digest=image.position.digest.hex(), files=tuple(files))


def is_path_of_a_store(path: str) -> bool:
    """Whether a file that somebody else names may be written into a data directory."""
    return _PATH.fullmatch(path) is not None
