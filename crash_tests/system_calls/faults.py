"""What may become of a system call: the faults that the injector knows (injector.c), one kind of call each."""

from __future__ import annotations

import errno
from enum import IntEnum
from typing import NamedTuple


class Call(IntEnum):
    """Kinds of calls on files, numbered as in the injector."""

    OPEN = 0
    READ = 1
    WRITE = 2
    SYNC = 3
    RESIZE = 4
    RENAME = 5
    UNLINK = 6
    MAKE = 7
    LINK = 8
    LIST = 9
    STAT = 10
    LOCK = 11
    CLOSE = 12


class Mode(IntEnum):
    """How a call goes wrong, numbered as in the injector."""

    ONCE = 1
    """It fails, the ones after it don't."""
    FOREVER = 2
    """It fails, and so do all that follow it."""
    SHORT = 3
    """It does half of what was asked for and says so, as POSIX allows."""
    SHORT_ONCE = 4
    """The same, and the attempt to do the rest fails."""
    TORN = 5
    """It does half of what was asked for, and the process ends."""
    LIE = 6
    """It does nothing and says that it has; in the end the power fails."""
    FLIP = 7
    """It reads with one bit wrong in the middle."""
    FLIP_LAST = 8
    """It reads with one bit wrong in the last byte: of a log, in what was acknowledged last."""
    KILL_BEFORE = 9
    KILL_AFTER = 10


class Fault(NamedTuple):
    """What happens to one call of a kind."""

    call: Call
    mode: Mode
    error: int = 0

    def __str__(self) -> str:
        name = f" {errno.errorcode[self.error]}" if self.error else ""
        return f"{self.call.name.lower()} {self.mode.name.lower().replace('_', ' ')}{name}"

    @property
    def may_lose(self) -> bool:
        """Whether what was acknowledged may be gone afterwards, as long as the store says so."""
        return self.mode is Mode.LIE


NO_FAULT = Fault(Call.OPEN, Mode.FLIP)
"""Strikes nothing, since nothing is read by opening."""


def _failing(call: Call, *errors: int) -> tuple[Fault, ...]:
    return tuple(Fault(call, mode, error) for error in errors for mode in (Mode.ONCE, Mode.FOREVER))


def _ending(call: Call) -> tuple[Fault, ...]:
    return Fault(call, Mode.KILL_BEFORE), Fault(call, Mode.KILL_AFTER)


FAULTS: tuple[Fault, ...] = (
    *_failing(Call.SYNC, errno.EIO, errno.ENOSPC),
    Fault(Call.SYNC, Mode.LIE),
    *_ending(Call.SYNC),
    *_failing(Call.WRITE, errno.EIO, errno.ENOSPC),
    Fault(Call.WRITE, Mode.SHORT),
    Fault(Call.WRITE, Mode.SHORT_ONCE, errno.ENOSPC),
    Fault(Call.WRITE, Mode.TORN),
    *_ending(Call.WRITE),
    *_failing(Call.READ, errno.EIO),
    Fault(Call.READ, Mode.FLIP),
    Fault(Call.READ, Mode.FLIP_LAST),
    Fault(Call.READ, Mode.SHORT),
    *_failing(Call.OPEN, errno.EIO, errno.EMFILE),
    Fault(Call.OPEN, Mode.ONCE, errno.ENOSPC),
    *_ending(Call.OPEN),
    *_failing(Call.RESIZE, errno.EIO),
    *_ending(Call.RESIZE),
    *_failing(Call.RENAME, errno.EIO),
    Fault(Call.RENAME, Mode.ONCE, errno.ENOSPC),
    *_ending(Call.RENAME),
    *_failing(Call.UNLINK, errno.EIO),
    *_ending(Call.UNLINK),
    *_failing(Call.MAKE, errno.EIO, errno.ENOSPC),
    *_ending(Call.MAKE),
    *_failing(Call.LINK, errno.EIO),
    *_failing(Call.LIST, errno.EIO, errno.EMFILE),
    *_failing(Call.STAT, errno.EIO),
    *_failing(Call.LOCK, errno.EIO),
    *_failing(Call.CLOSE, errno.EIO),
)
"""Every fault that is tried, those of the commit first."""
