"""What a run leaves that was killed or called off: its directory. The next run of the same part takes it away.

A run holds a lock in its directory. If it comes to a verdict, it takes the lock file along, be it because all is well
and the directory goes or because it stays for whoever looks into a violation. So a lock file that nobody holds is that
of a run without a verdict.
"""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from crash_tests.part import Unavailable
from crash_tests.violation import Violation

LOCK_NAME: Final = "running"


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


def _remove_if_left(directory: Path) -> None:
    try:
        with (directory / LOCK_NAME).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(directory)
    except OSError:  # it was never claimed, it is in use, or somebody else was faster
        return
