"""What a process that holds secrets asks of the operating system before it touches any.

Always holds: nothing here can keep the command from running; where the system refuses, it goes on with what it has.
"""

from __future__ import annotations

import contextlib
import ctypes
import resource
import sys
from typing import Final

FILES_RESERVED: Final = 512
"""Descriptors that no connection may take: the engine's open files, its logs, and whatever it writes next."""

_PR_SET_DUMPABLE: Final = 4


def hide_memory() -> None:
    """No core file of this process is ever written, and no other process of the same user may look into it.

    The limit alone would not do: where core files are piped to a program, Linux does not look at it.
    """
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def room_for_connections() -> int:
    """Raises the limit on open files as far as it may be raised; how many connections fit below it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return sys.maxsize if soft == resource.RLIM_INFINITY else soft - FILES_RESERVED
