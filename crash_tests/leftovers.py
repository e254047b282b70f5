"""What a run leaves that was killed or called off: its directories. The next run of the same part takes them away.

A run holds a lock in its directory. If it comes to a verdict, it takes the lock file along, be it because all is well
and the directory goes or because it stays for whoever looks into a violation. So a lock file that nobody holds is that
of a run without a verdict. The stores of some parts lie in memory, in a directory besides, which stays in no case.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from crash_tests.part import Unavailable
from crash_tests.violation import Violation

LOCK_NAME: Final = "running"
_MEMORY: Final = Path("/dev/shm")  # the place is the point


@contextmanager
def claimed(directory: Path, part: str) -> Iterator[None]:
    """The directory of a run of a part is in use as long as the block takes."""
    for left in directory.parent.glob(f"relatum-{part}-*"):
        _remove_if_left(left)
    with (directory / LOCK_NAME).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            yield
        except (Violation, Unavailable):
            (directory / LOCK_NAME).unlink()
            raise
        (directory / LOCK_NAME).unlink()


@contextmanager
def in_memory(part: str) -> Iterator[Path]:
    """A directory for as long as the block takes: in memory, or among temporary files where files can't lie there."""
    parent = _MEMORY if os.access(_MEMORY, os.W_OK | os.X_OK) else None
    place = Path(tempfile.mkdtemp(prefix=f"relatum-{part}-", dir=parent))
    try:
        with claimed(place, part):
            yield place
    finally:
        shutil.rmtree(place)


def _remove_if_left(directory: Path) -> None:
    try:
        with (directory / LOCK_NAME).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory)
    except OSError:  # it was never claimed, it is in use, or somebody else was faster
        return
