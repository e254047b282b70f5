"""Standard output, as the commands use it: documents in UTF-8 whatever the locale, and secrets that are told once.

Always holds: a document that was made can be printed; where it carries a secret that nobody will ever tell again, that
it can be printed is known before the secret is made.
"""

from __future__ import annotations

import errno
import fcntl
import io
import os
import select
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import click
import msgspec

from relatum.store.process_setup import was_started_without

ROOM_BYTES: Final = 4096
"""More than any document with a secret has."""

_STDOUT: Final = 1
_UNSYNCABLE: Final = {errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP}
_ENDED: Final = select.POLLERR | select.POLLHUP | select.POLLNVAL


class NotWritable(click.ClickException):
    """A secret could not be told, and so nothing was made; exit status 1."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"standard output can't be written ({reason}), and the secret would be lost: nothing was made")


def print_json(document: object, *, indented: bool = False) -> None:
    """One document, in one line unless it is `indented`."""
    encoded = msgspec.json.encode(document)
    click.echo(msgspec.json.format(encoded) if indented else encoded)


def shown(path: Path) -> str:
    """A path as text that every encoding of JSON takes: what is no UTF-8 in it is written as an escape."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def as_utf8(argument: str) -> str:
    """A word of the command line as it was given, whatever the locale took it for. Raises UnicodeError if it is none.

    What is no UTF-8 stays as the locale reads it.
    """
    given = os.fsencode(argument)
    with suppress(UnicodeDecodeError):
        return given.decode()
    argument.encode()
    return argument


def take_any_text() -> None:
    """Lets text for people be printed where the locale has no letters for it: as escapes, not as a fault."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


@contextmanager
def room_to_tell() -> Iterator[None]:
    """While the block runs, standard output is known to take `ROOM_BYTES` more. Raises `NotWritable` before it runs."""
    if was_started_without(_STDOUT):
        raise NotWritable("it is closed")
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):  # no file at all: what a test puts in its place takes everything
        yield
        return
    try:
        file_bytes = _checked(descriptor)
    except OSError as error:
        raise NotWritable(error.strerror or "refused") from error
    try:
        yield
    finally:
        if file_bytes is not None:
            sys.stdout.flush()
            os.ftruncate(descriptor, max(file_bytes, os.lseek(descriptor, 0, os.SEEK_CUR)))
            _sync(descriptor)


def _checked(descriptor: int) -> int | None:
    """The size of the file in which room was made; None where nothing is to be given back. Raises OSError."""
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    if flags & os.O_ACCMODE == os.O_RDONLY:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    found = os.fstat(descriptor)
    if stat.S_ISCHR(found.st_mode):
        os.write(descriptor, b"")  # /dev/full refuses that already
    elif not stat.S_ISREG(found.st_mode):
        _require_reader(descriptor)
    else:
        appends = bool(flags & os.O_APPEND)
        return _with_room(descriptor, found.st_size, appends=appends)
    return None


def _require_reader(descriptor: int) -> None:
    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    if any(event & _ENDED for _, event in poll.poll(0)):
        raise BrokenPipeError(errno.EPIPE, os.strerror(errno.EPIPE))


def _with_room(descriptor: int, file_bytes: int, *, appends: bool) -> int | None:
    """Makes room in a file, behind the place where it is written; its size before."""
    place = file_bytes if appends else os.lseek(descriptor, 0, os.SEEK_CUR)
    if place < file_bytes:
        return None  # it is written over what it has
    try:
        left = ROOM_BYTES
        while left:
            left -= os.write(descriptor, b" " * left)
        _sync(descriptor)
    except OSError:
        os.ftruncate(descriptor, file_bytes)
        raise
    if appends:
        os.ftruncate(descriptor, file_bytes)  # what comes would be put behind the room
        return None
    os.lseek(descriptor, place, os.SEEK_SET)
    return file_bytes


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in _UNSYNCABLE:
            raise


class SecretFile:
    """A file of one's own, made with the object; it holds a secret before that is good for anything."""

    def __init__(self, path: Path) -> None:
        """Raises ClickException where there is such a file: it may hold the only copy of another secret."""
        self._path = path
        self.written = False
        try:
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError as error:
            raise click.ClickException(f"{path} exists already, and nothing was made") from error
        os.fchmod(self._descriptor, 0o600)  # whatever the umask took

    def write(self, secret: str) -> None:
        """Keep it, on the disk. Raises OSError."""
        left = secret.encode() + b"\n"
        while left:
            left = left[os.write(self._descriptor, left) :]
        _sync(self._descriptor)
        directory = os.open(self._path.parent, os.O_RDONLY)
        try:
            _sync(directory)
        finally:
            os.close(directory)
        self.written = True

    def close(self, *, needed: bool) -> None:
        """Leave the file, unless nothing is in it or what it holds is known to be good for nothing."""
        os.close(self._descriptor)
        if not (needed and self.written):
            self._path.unlink()
