"""What a process that holds secrets and files asks of the operating system before it touches any.

Always holds: nothing here can keep the command from running; where the system refuses, it goes on with what it has.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import sys
from pathlib import Path
from typing import Final

FILES_RESERVED: Final = 512
"""Descriptors that no connection may take: the engine's open files, its logs, and whatever it writes next."""

_PR_SET_DUMPABLE: Final = 4

_absent: Final[set[int]] = set()


def hide_memory() -> None:
    """No core file of this process is ever written, and no other process of the same user may look into it.

    The limit alone would not do: where core files are piped to a program, Linux does not look at it.
    """
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def open_standard_streams() -> None:
    """Puts a stream that holds nothing in the place of each standard one that the process was started without.

    Without it the next file that is opened, one of the store perhaps, would take the place, and with it all that the
    process or a library writes there.
    """
    for number in range(3):
        while not _is_open(number):
            _absent.add(number)
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest place that is free
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115 - for as long as it runs


def was_started_without(number: int) -> bool:
    """Whether nothing is read or written there but what `open_standard_streams` has put in its place."""
    return number in _absent


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def room_for_connections() -> int:
    """Raises the limit on open files as far as it may be raised; how many connections fit below it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft - FILES_RESERVED
