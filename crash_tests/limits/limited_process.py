"""A program within a limit of the system: `python -m crash_tests.limits.limited_process NAME VALUE -- COMMAND...`.

The process becomes the command, so that its id and its group are the command's.
"""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path
from typing import Final

LIMITS: Final = {"nofile": resource.RLIMIT_NOFILE, "as": resource.RLIMIT_AS, "fsize": resource.RLIMIT_FSIZE}
"""Limits by name: open descriptors; bytes of address space; bytes that a file may have."""
CGROUP: Final = "cgroup"
"""The value is a directory of the cgroup hierarchy, and the process enters it."""


def main(arguments: list[str]) -> None:
    """Never returns."""
    name, value, _, *command = arguments
    if name == CGROUP:
        Path(value, "cgroup.procs").write_text(str(os.getpid()))
    else:
        resource.setrlimit(LIMITS[name], (int(value), int(value)))
    os.execv(command[0], command)


if __name__ == "__main__":
    main(sys.argv[1:])
