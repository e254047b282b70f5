"""What the files of this host say of the time: evidence that a clock is right, when a store has long been idle.

What lives here: the newest time of the files that a host keeps writing, and the word of an operator, which is a small
file beside the engine's. What must not: what follows from either.

What always holds: nothing of the store itself counts, since its own process writes that by its own clock: neither its
directory, nor those above it, nor what lies beside it. Only names and times are read, of a few directories, each as far
as a bound. What others write by the same wrong clock does count: a host that was booted by it bears it out.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Final

from relatum.store.files import put_durably
from relatum.store.layout import CONFIRMED_CLOCK_NAME

ENTRIES_MAX: Final = 1_000
"""How many entries of each directory are looked at."""

_PLACES: Final = (
    "/",
    "/etc",
    "/run",
    "/run/systemd",
    "/run/systemd/units",
    "/tmp",  # noqa: S108 - nothing is kept there
    "/var/lib",
    "/var/log",
    "/var/tmp",  # noqa: S108
)
_GROUPS: Final = (("/var/log/journal", "*"), ("/run/log/journal", "*"), ("/dev/pts", ""))
_NOT_FILES: Final = frozenset({"proc", "sys", "dev"})
"""What the system makes up whenever somebody looks."""


def newest_file_millis(store: Path) -> int:
    """The newest time of a file that this host keeps, in Unix milliseconds; 0 where none can be seen.

    Left out are the directory `store`, whether there is one yet or not, all above it, and what lies beside it. To be
    asked before the store is opened, which makes files.
    """
    store = store.resolve()
    above = frozenset(map(_identity, (store, *store.parents)))
    beside = {_identity(store), _identity(store.parent)}
    places = [Path(place) for place in _PLACES]
    for place, below in _GROUPS:
        places.extend(islice(Path(place).glob(below), ENTRIES_MAX) if below else [Path(place)])
    with suppress(RuntimeError, KeyError):  # of a user that nobody knows
        places.append(Path.home())
    seen = (place for place in places if _identity(place) not in beside)
    return max((millis for place in seen for millis in _times_in(place, above)), default=0)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _times_in(place: Path, left_out: Collection[tuple[int, int] | None]) -> Iterator[int]:
    with suppress(OSError), os.scandir(place) as entries:
        for entry in islice(entries, ENTRIES_MAX):
            if entry.name not in _NOT_FILES:
                with suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    if (found.st_dev, found.st_ino) not in left_out:
                        yield found.st_mtime_ns // 1_000_000


def confirm_clock(directory: Path, at_millis: int) -> None:
    """Keeps an operator's word that the clock was right when it said `at_millis`. Raises OSError."""
    put_durably(directory / CONFIRMED_CLOCK_NAME, b"%d\n" % at_millis)


def confirmed_millis(directory: Path) -> int:
    """What the clock said when an operator last confirmed it, 0 where nobody did."""
    try:
        return int((directory / CONFIRMED_CLOCK_NAME).read_bytes())
    except (OSError, ValueError):
        return 0
