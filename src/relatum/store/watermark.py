"""How far the store had come when it last answered anybody, or a group before: one small file beside the engine's.

What lives here: `WatermarkFile`. Whoever opens a store compares it with the state found there: a state behind the
watermark has lost acknowledged data, be it to a log that was cut short, emptied or deleted, none of which the engine
notices by itself.

What always holds: two slots are written in turn, each in a sector of its own and with a checksum, so that a write torn
by a power cut leaves the watermark before it. A new file says in one slot that nothing was answered yet, so that one
without a mark is never taken for new. The file never grows, so syncing it costs one write and no metadata.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import NamedTuple, Self
from zlib import crc32

from relatum.errors import StorageFailure, StorageInconsistency, StoreUnavailable
from relatum.store import failpoints
from relatum.store.files import sync_directory, write_durably

DIGEST_BYTES = 32

_MAGIC = b"rltmark1"
_SLOT = Struct(f"<8sQ{DIGEST_BYTES}s")  # magic, position, head; then the checksum of these
_CHECKSUM = Struct("<I")
_SLOT_BYTES = 4096  # no disk's sector is larger, so a torn write never reaches both slots
_SLOT_OFFSETS = (0, _SLOT_BYTES)
_FILE_BYTES = 2 * _SLOT_BYTES


class Watermark(NamedTuple):
    """A position that was durable, and the digest of the head there."""

    position: int
    head: bytes


NOTHING_ANSWERED = Watermark(0, bytes(DIGEST_BYTES))
"""What the watermark of a new store says."""


class WatermarkFile:
    """The high watermark of one store, open for overwriting. For one thread."""

    def __init__(self, descriptor: int) -> None:
        """Takes over an open file, and lets go of it where it can't be read. Raises OSError."""
        self._descriptor: int | None = descriptor
        self._failed = False
        try:
            stored = os.pread(descriptor, _FILE_BYTES, 0)
        except OSError:
            self.close()
            raise
        self._whole = len(stored) == _FILE_BYTES
        self._marks = [_decode(stored[at : at + _SLOT_BYTES]) for at in _SLOT_OFFSETS]

    @classmethod
    def open(cls, path: Path, *, create: bool) -> Self:
        """Open the watermark at `path`; if it is missing and `create` is set, make one of a new store.

        Raises `StoreUnavailable` if it is missing or can't be opened.
        """
        try:
            if create and not path.exists():
                make_watermark(path, NOTHING_ANSWERED)
            return cls(os.open(path, os.O_RDWR | os.O_CLOEXEC))
        except FileNotFoundError as error:
            raise StoreUnavailable(
                f"the high watermark is missing: {path}. Without it nobody can tell whether acknowledged commands are "
                "lost. Nothing has been changed; put it back, or restore a backup with: relatum restore. If you have "
                "neither, see: relatum rebuild --help"
            ) from error
        except OSError as error:
            raise StoreUnavailable(f"can't open the high watermark {path}: {error.strerror}") from error

    def read(self) -> Watermark:
        """The newest valid watermark. Raises `StorageInconsistency` if no slot can be trusted."""
        marks = [mark for mark in self._marks if mark is not None]
        if not self._whole or not marks:
            raise StorageInconsistency("the high watermark is damaged")
        return max(marks)

    def write(self, position: int, head: bytes) -> None:
        """Raise the watermark to `position`, durable on return. Other threads run while the disk is waited for.

        Raises ValueError if it would not rise, and `StorageFailure` if the disk fails, now or ever before.
        """
        newest = self.read()
        if position <= newest.position:
            raise ValueError("a watermark only rises")
        if len(head) != DIGEST_BYTES:
            raise ValueError("a head is a digest of 32 bytes")
        slot = 1 if newest == self._marks[0] else 0  # never the one that holds the newest
        self._overwrite(_SLOT_OFFSETS[slot], _encode(position, head))
        self._marks[slot] = Watermark(position, head)

    def close(self) -> None:
        """Let go of the file. Closing twice is allowed."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            with suppress(OSError):  # whatever was written has been synced, and the descriptor is gone
                os.close(descriptor)

    def _overwrite(self, offset: int, slot: bytes) -> None:
        if self._descriptor is None or self._failed:
            raise StorageFailure("the high watermark is closed, or a write to it has failed")
        try:
            os.pwrite(self._descriptor, slot, offset)
            os.fdatasync(self._descriptor)
        except OSError as error:
            self._failed = True  # after a failed sync the page cache may claim what the disk does not hold
            raise StorageFailure("the high watermark can't be written") from error


def read_watermark(path: Path) -> Watermark:
    """The newest watermark of a file that may not be writable.

    Raises `StorageInconsistency` as `WatermarkFile.read` does, and OSError.
    """
    file = WatermarkFile(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
    try:
        return file.read()
    finally:
        file.close()


def make_watermark(path: Path, mark: Watermark) -> None:
    """Put a watermark at `path` that says `mark`, in the place of whatever lies there. Raises OSError.

    It has its full size; a power cut leaves all of it or nothing.
    """
    new = path.with_name(f"{path.name}.new")
    write_durably(new, file_of(mark))
    failpoints.reach("make.watermark")
    new.replace(path)
    sync_directory(path.parent)


def file_of(mark: Watermark) -> bytes:
    """The bytes of a new file that says `mark`."""
    return _encode(*mark).ljust(_FILE_BYTES, b"\0")


def _encode(position: int, head: bytes) -> bytes:
    body = _SLOT.pack(_MAGIC, position, head)
    return body + _CHECKSUM.pack(crc32(body))


def _decode(slot: bytes) -> Watermark | None:
    body, checksum = slot[: _SLOT.size], slot[_SLOT.size : _SLOT.size + _CHECKSUM.size]
    if checksum != _CHECKSUM.pack(crc32(body)) or not body.startswith(_MAGIC):
        return None
    _, position, head = _SLOT.unpack(body)
    return Watermark(position, head)
