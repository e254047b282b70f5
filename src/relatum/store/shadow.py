"""A stand-in for a store's directory, for an engine that must not write there.

What lives here: `shadowed`. Even an engine that was opened for reading writes: the binding puts its configuration
beside the rows. So it is given a directory of its own, in which every file of the store is a symbolic link.

What always holds: nothing in the store's directory changes; torn ends, which no engine should see
(`relatum.store.preflight`), are left out in copies of the files that have them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from relatum.errors import StoreUnavailable
from relatum.store.preflight import TornEnd, torn_ends

# What holds rows or leads to them; locks, diaries and the binding's configuration stay out.
_NEEDED_NAME = re.compile(r"CURRENT|IDENTITY|MANIFEST-\d+|OPTIONS-\d+|\d+\.(?:log|sst|blob)")


@contextmanager
def shadowed(directory: Path) -> Iterator[Path]:
    """A temporary directory that holds what an engine needs to read the store in `directory`.

    Raises `StoreUnavailable` if logs or manifest are damaged anywhere but at their very ends, or files can't be read.
    """
    torn = {end.log.name: end for end in torn_ends(directory)}
    with TemporaryDirectory(prefix="relatum-shadow-") as name:
        shadow = Path(name)
        try:
            _fill(shadow, directory.resolve(), torn)
        except OSError as error:
            raise StoreUnavailable(f"can't read {directory}: {error.strerror}") from error
        yield shadow


def _fill(shadow: Path, directory: Path, torn: dict[str, TornEnd]) -> None:
    for path in directory.iterdir():
        if path.name in torn:
            end = torn[path.name]
            (shadow / path.name).write_bytes(end.content[: end.intact_bytes])
        elif _NEEDED_NAME.fullmatch(path.name):
            (shadow / path.name).symlink_to(path)
