"""Children of a process that has everything imported and has never opened a store.

A process that has opened one must not fork, so whatever opens a store does it in a child of its own; and nothing that
happens there, be it a kill or a hang, costs more than the child.
"""

from __future__ import annotations

import os
import select
import signal
import traceback
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import NamedTuple, NoReturn

FAILED = 70
"""The exit status of a child that met an exception it did not expect."""
_READ_BYTES = 65536


Act = Callable[[int], int]
"""What a child does. It may tell something to the descriptor that it is given, and answers its exit status."""


class Ended(NamedTuple):
    """How a child ended: its exit status or the negative number of the signal that killed it, and what it had told."""

    status: int
    told: bytes
    hung: bool


def forked(act: Act, errors: Path, *, seconds_max: float) -> Ended:
    """Has a child `act`.

    Its standard error goes to the file `errors`. It is killed if it has not ended after so long.
    """
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _be_child(act, writing, errors)
    os.close(writing)
    process = os.pidfd_open(child)
    try:
        told, hung = _heard(reading, process, monotonic() + seconds_max)
        if hung:
            signal.pidfd_send_signal(process, signal.SIGKILL)
    finally:
        os.close(reading)
        os.close(process)
    _, status = os.waitpid(child, 0)
    return Ended(os.waitstatus_to_exitcode(status), told, hung)


def _heard(reading: int, process: int, deadline: float) -> tuple[bytes, bool]:
    """What a child told until it ended, and whether it had not ended in time."""
    told: list[bytes] = []
    while True:
        ready, _, _ = select.select([reading, process], [], [], max(0.0, deadline - monotonic()))
        if not ready:
            return b"".join(told), True
        if reading in ready and (came := os.read(reading, _READ_BYTES)):
            told.append(came)
        elif process in ready:
            return b"".join(told), False


def _be_child(act: Act, writing: int, errors: Path) -> NoReturn:
    status = FAILED
    try:
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        status = act(writing)
    except BaseException:  # noqa: BLE001 - the parent is told; nothing may go on from here in the child
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)
