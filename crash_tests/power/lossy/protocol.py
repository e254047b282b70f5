"""The messages of /dev/fuse, as far as a small file system meets them (version 7.31, little-endian machines).

A request is a header, then fixed fields by its kind, then names or data. An answer is a header, then fields or data.
"""

from __future__ import annotations

import stat
from enum import IntEnum
from struct import Struct
from typing import Final, NamedTuple

MAJOR: Final = 7
MINOR: Final = 31
ROOT_ID: Final = 1
WRITE_BYTES_MAX: Final = 1024 * 1024
REQUEST_BYTES_MAX: Final = WRITE_BYTES_MAX + 4096

_BLOCK_BYTES: Final = 4096
_BIG_WRITES, _MAX_PAGES = 1 << 5, 1 << 22
_DIRECT_IO: Final = 1
_SETS_SIZE: Final = 1 << 3
_MODES: Final = {stat.S_IFDIR: 0o755, stat.S_IFREG: 0o644, stat.S_IFLNK: 0o777}

_REQUEST: Final = Struct("=IIQQIIIHH")
_ANSWER: Final = Struct("=IiQ")
_ATTRIBUTES: Final = Struct("=QQQQQQIIIIIIIIII")
_ENTRY: Final = Struct("=QQQQII")
_ATTRIBUTES_VALID: Final = Struct("=QII")
_OPENED: Final = Struct("=QII")
_INITIALISED: Final = Struct("=IIIIHHIIHHII24x")
_WRITTEN: Final = Struct("=II")
_STATISTICS: Final = Struct("=QQQQQIIII24x")
_NAMED: Final = Struct("=QQII")

_TRANSFER: Final = Struct("=QQI")
"""Handle, offset and size: how reads, writes and listings begin."""
_WRITE_FIELDS_BYTES: Final = 40
_SIZE: Final = Struct("=IIQQ")
"""What is set, padding, handle, size: how a change of attributes begins."""


class Kind(IntEnum):
    """What is asked for. Kinds that are not named here are answered with: not implemented."""

    LOOKUP = 1
    FORGET = 2
    GETATTR = 3
    SETATTR = 4
    READLINK = 5
    SYMLINK = 6
    MKDIR = 9
    UNLINK = 10
    RMDIR = 11
    RENAME = 12
    OPEN = 14
    READ = 15
    WRITE = 16
    STATFS = 17
    RELEASE = 18
    FSYNC = 20
    FLUSH = 25
    INIT = 26
    OPENDIR = 27
    READDIR = 28
    RELEASEDIR = 29
    FSYNCDIR = 30
    CREATE = 35
    INTERRUPT = 36
    DESTROY = 38
    BATCH_FORGET = 42
    RENAME2 = 45


UNANSWERED: Final = frozenset({Kind.FORGET, Kind.BATCH_FORGET, Kind.INTERRUPT})


class Shape(NamedTuple):
    """What a node is, in `stat`'s terms, and its length in bytes."""

    kind: int
    length: int


class Request(NamedTuple):
    """One request on the file or directory `node`. `kind` may be one that has no name here."""

    kind: int
    unique: int
    node: int
    body: bytes

    def name(self, skip: int = 0) -> bytes:
        """The name behind so many bytes of fields."""
        return self.body[skip:].split(b"\0", 1)[0]

    def names(self, skip: int) -> tuple[bytes, bytes]:
        """The two names behind so many bytes of fields."""
        first, second = self.body[skip:].split(b"\0")[:2]
        return first, second

    @property
    def offset(self) -> int:
        """Of a transfer."""
        return int(_TRANSFER.unpack_from(self.body)[1])

    @property
    def size(self) -> int:
        """Of a transfer."""
        return int(_TRANSFER.unpack_from(self.body)[2])

    @property
    def data(self) -> bytes:
        """Of a write."""
        return self.body[_WRITE_FIELDS_BYTES : _WRITE_FIELDS_BYTES + self.size]

    @property
    def new_length(self) -> int | None:
        """Of a change of attributes, if it sets the length."""
        sets, _, _, size = _SIZE.unpack_from(self.body)
        return int(size) if sets & _SETS_SIZE else None

    @property
    def target(self) -> int:
        """Of a renaming: the directory that it goes to."""
        return int.from_bytes(self.body[:8], "little")


def decoded(message: bytes) -> Request:
    """What was read from /dev/fuse."""
    length, kind, unique, node, *_ = _REQUEST.unpack_from(message)
    return Request(kind, unique, node, message[_REQUEST.size : length])


def answer(request: Request, error: int, body: bytes) -> bytes:
    """What is written to /dev/fuse. `error` is 0, or a number of `errno`."""
    return _ANSWER.pack(_ANSWER.size + len(body), -error, request.unique) + body


def initialised() -> bytes:
    """The answer to the first request: what this side can do."""
    flags, pages = _BIG_WRITES | _MAX_PAGES, WRITE_BYTES_MAX // _BLOCK_BYTES
    return _INITIALISED.pack(MAJOR, MINOR, 0, flags, 16, 12, WRITE_BYTES_MAX, 1, pages, 0, 0, 0)


def attributes(node: int, shape: Shape) -> bytes:
    """What a node is; not to be remembered."""
    return _ATTRIBUTES_VALID.pack(0, 0, 0) + _attributes(node, shape)


def entry(node: int, shape: Shape) -> bytes:
    """What a name stands for; not to be remembered."""
    return _ENTRY.pack(node, 0, 0, 0, 0, 0) + _attributes(node, shape)


def opened(handle: int, *, directory: bool = False) -> bytes:
    """A handle. A file's bytes are not to be remembered either."""
    return _OPENED.pack(handle, 0 if directory else _DIRECT_IO, 0)


def written(size: int) -> bytes:
    """So many bytes."""
    return _WRITTEN.pack(size, 0)


def statistics() -> bytes:
    """There is room."""
    return _STATISTICS.pack(1 << 20, 1 << 19, 1 << 19, 1 << 20, 1 << 19, _BLOCK_BYTES, 255, _BLOCK_BYTES, 0)


def listed(node: int, place: int, name: bytes, kind: int) -> bytes:
    """A name in a directory; `place` is where a listing goes on behind it."""
    line = _NAMED.pack(node, place, len(name), kind >> 12) + name
    return line + bytes(-len(line) % 8)


def _attributes(node: int, shape: Shape) -> bytes:
    kind, size = shape
    mode = kind | _MODES[kind]
    return _ATTRIBUTES.pack(node, size, -(-size // 512), 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, _BLOCK_BYTES, 0)
