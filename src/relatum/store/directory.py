"""What must hold of a directory before the engine may touch it.

What lives here: the checks that tell a store from an empty place and from somebody else's files, and the watchdog over
the engine's opening. They run before the engine because the engine litters a directory that it then refuses.
"""

from __future__ import annotations

import faulthandler
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from relatum.errors import StoreUnavailable
from relatum.store.files import make_directory
from relatum.store.lock import LOCK_FILE_NAME

_STANDARD_ERROR = 2
_ROOT_FILE_NAME = "CURRENT"  # names the manifest, which names everything else; a store without it can't be read

# What an interrupted creation may leave: none of it holds a row.
_HARMLESS_NAME = re.compile(
    rf"{re.escape(LOCK_FILE_NAME)}|LOCK|LOG|LOG\.old\.\d+|IDENTITY|MANIFEST-\d+|OPTIONS-\d+|\d+\.dbtmp|rocksdict-config\.json"
)


def holds_store(directory: Path) -> bool:
    """Whether `directory` holds a store."""
    return (directory / _ROOT_FILE_NAME).is_file()


def require_store(directory: Path) -> None:
    """Raise `StoreUnavailable` unless `directory` holds a store."""
    if not holds_store(directory):
        raise StoreUnavailable(f"there is no store in {directory}")


def require_store_or_room(directory: Path) -> None:
    """Make `directory` if it is missing. Raise `StoreUnavailable` unless it holds a store or room for one."""
    try:
        make_directory(directory)
        names = {path.name for path in directory.iterdir()}
    except OSError as error:
        raise StoreUnavailable(f"can't use {directory}: {error.strerror}") from error
    if _ROOT_FILE_NAME not in names and not all(map(_HARMLESS_NAME.fullmatch, names)):
        raise StoreUnavailable(f"{directory} is not empty and holds no whole store")


@contextmanager
def watchdog(seconds: float) -> Iterator[None]:
    """End the process, with a traceback on standard error, if the block takes longer than `seconds`.

    Nothing milder helps: an engine that spins while it opens keeps every other thread from running, this one included.
    """
    faulthandler.dump_traceback_later(seconds, exit=True, file=_STANDARD_ERROR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
