"""An image as one stream of bytes, which is how a server hands it out: a tar archive.

Its first member, `image.json`, is the `Contents`; the files follow in that order. What always holds: whoever unpacks
has every file at its full size, or an error; no path leads out of the directory.
"""

from __future__ import annotations

import io
import tarfile
from collections.abc import Iterator
from typing import Final, NoReturn, cast

import msgspec

from relatum.store.backup.backup_errors import BackupFailed
from relatum.store.backup.file_copy import CHUNK_BYTES, read_in_chunks
from relatum.store.backup.image_contents import Contents, Source, contents_of, is_path_of_a_store
from relatum.store.file_maintenance import Image

MEDIA_TYPE: Final = "application/x-tar"

_CONTENTS_NAME: Final = "image.json"
_END: Final = bytes(2 * tarfile.BLOCKSIZE)


def packed(image: Image) -> Iterator[bytes]:
    """The archive of an image, chunk by chunk; every chunk is read when it is asked for."""
    contents = contents_of(image)
    told = msgspec.json.encode(contents)
    yield _header(_CONTENTS_NAME, len(told)) + told + _padding(len(told))
    for file in contents.files:
        yield _header(file.path, file.bytes)
        yield from read_in_chunks(image.directory / file.path)
        yield _padding(file.bytes)
    yield _END


def unpacked(chunks: Iterator[bytes]) -> Source:
    """What an archive holds, while it arrives. Raises BackupFailed, now or later, where it is none or incomplete."""
    try:
        arriving = cast("io.BytesIO", _Arriving(chunks))
        archive = tarfile.open(fileobj=arriving, mode="r|")  # noqa: SIM115 - there is nothing to close
        first = archive.next()
        if first is None or first.name != _CONTENTS_NAME:
            _refuse()
        contents = msgspec.json.decode(b"".join(_content(archive, first)), type=Contents)
    except (tarfile.TarError, msgspec.MsgspecError):
        _refuse()
    if not all(is_path_of_a_store(file.path) for file in contents.files):
        _refuse()
    return Source(contents, _files(archive, contents))


def _files(archive: tarfile.TarFile, contents: Contents) -> Iterator[tuple[str, Iterator[bytes]]]:
    for file in contents.files:
        try:
            member = archive.next()
        except tarfile.TarError:
            _refuse()
        if member is None or (member.name, member.size) != (file.path, file.bytes) or not member.isreg():
            _refuse()
        yield file.path, _content(archive, member)


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> Iterator[bytes]:
    content = archive.extractfile(member)
    left = member.size
    while left:
        try:
            chunk = content.read(min(left, CHUNK_BYTES)) if content is not None else b""
        except tarfile.TarError:
            _refuse()
        if not chunk:
            _refuse()
        left -= len(chunk)
        yield chunk


class _Arriving:
    """A stream of chunks as a file that can be read from."""

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._waiting = bytearray()

    def read(self, size: int) -> bytes:
        while len(self._waiting) < size and (chunk := next(self._chunks, b"")):
            self._waiting += chunk
        taken = bytes(self._waiting[:size])
        del self._waiting[:size]
        return taken


def _header(name: str, size: int) -> bytes:
    member = tarfile.TarInfo(name)
    member.size = size
    return member.tobuf(tarfile.PAX_FORMAT)


def _padding(size: int) -> bytes:
    return bytes(-size % tarfile.BLOCKSIZE)


def _refuse() -> NoReturn:
    raise BackupFailed("what the server sent is no whole image of a store")
