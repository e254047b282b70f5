"""A stand-in for a store's directory, for an engine that must not write there.

What lives here: `shadowed`. Even an engine that was opened for reading writes: the binding puts its configuration
beside the rows. So it is given a directory of its own, in which every file of the store is a symbolic link.

What always holds: nothing of the store changes. Torn ends, which no engine should see (`relatum.store.preflight`), are
left out in copies of the files that have them, and these are in memory: a shadow that a killed process leaves holds
names and the engine's diary, never a row.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from relatum.errors import StoreUnavailable
from relatum.store.preflight import TornEnd, torn_ends
from relatum.store.temporary_directory import ephemeral_directory

SHADOW_PREFIX: Final = "relatum-shadow-"

# What holds rows or leads to them; locks, diaries and the binding's configuration stay out.
_NEEDED_NAME = re.compile(r"CURRENT|IDENTITY|MANIFEST-\d+|OPTIONS-\d+|\d+\.(?:log|sst|blob)")


@contextmanager
def shadowed(directory: Path, place: Path | None = None) -> Iterator[Path]:
    """An ephemeral directory in `place` that holds what an engine needs to read the store in `directory`.

    `place` is where the environment has temporary files (`TMPDIR`) unless it is given. Raises `StoreUnavailable` if
    logs or manifest are damaged anywhere but at their very ends, or files can't be read.
    """
    torn = {end.log.name: end for end in torn_ends(directory)}
    with ExitStack() as stack:
        shadow = _made(stack, place)
        try:
            for path in directory.resolve().iterdir():
                if path.name in torn:
                    (shadow / path.name).symlink_to(_in_memory(stack, torn.pop(path.name)))
                elif _NEEDED_NAME.fullmatch(path.name):
                    (shadow / path.name).symlink_to(path)
        except OSError as error:
            raise StoreUnavailable(f"can't read {directory}: {error.strerror}") from error
        yield shadow


def _made(stack: ExitStack, place: Path | None) -> Path:
    try:
        return stack.enter_context(ephemeral_directory(SHADOW_PREFIX, place))
    except OSError as error:
        where = "where temporary files go (TMPDIR)" if place is None else f"in {place}"
        raise StoreUnavailable(f"can't make a directory {where}: {error.strerror}") from error


def _in_memory(stack: ExitStack, torn: TornEnd) -> str:
    """A name, good in this process and as long as the stack holds, for a file of the whole records alone."""
    descriptor = os.memfd_create("relatum-torn-end")
    stack.callback(os.close, descriptor)
    with open(descriptor, "wb", closefd=False) as file:
        file.write(torn.content[: torn.intact_bytes])
    return f"/proc/self/fd/{descriptor}"
