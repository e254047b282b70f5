"""A forked process that tells a pipe what it does, and can be stopped in its tracks.

What always holds: the process that forks has one thread and has never opened a store; a child ends with its parent, and
with the context it was made in.
"""

from __future__ import annotations

import os
import select
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from fcntl import F_SETPIPE_SZ, fcntl
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Final, Self

from crash_tests.kernel import die_with_parent
from crash_tests.violation import Violation
from relatum.limits import MIB

_POLL_SECONDS: Final = 0.001
_LOG_TAIL_BYTES: Final = 4000


class Forked:
    """A child that runs `work`, which is given a descriptor to write to. Its standard error goes to `log`."""

    def __init__(self, work: Callable[[int], None], log: Path, seconds_max: float) -> None:
        self.told = b""
        """What it has written so far."""
        self._log = log
        self._deadline = monotonic() + seconds_max
        self._ended = False
        self._silent = False
        self._output, output = os.pipe()
        with suppress(OSError):
            fcntl(output, F_SETPIPE_SZ, MIB)
        self._id = _fork()
        if self._id == 0:
            _run(work, output, log)
        os.close(output)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()
        os.close(self._output)

    def wait_for_lines(self, lines: int) -> None:
        """Until it has written so many whole lines, or has stopped or ended."""
        while self.told.count(b"\n") < lines and not self._silent and not self.stopped:
            self._read(_POLL_SECONDS)

    def wait_until_stopped(self) -> None:
        """Until it has stopped itself, or ended."""
        while not self._silent and not self.stopped:
            self._read(_POLL_SECONDS)

    def wait(self, seconds: float) -> None:
        """Listens for so long."""
        until = monotonic() + seconds
        while (left := until - monotonic()) > 0 and not self._silent:
            self._read(left)

    def finish(self) -> bytes:
        """All that it writes until it ends by itself."""
        while not self._silent:
            self._read(_POLL_SECONDS)
        self._reap()
        return self.told

    def stop(self) -> None:
        """SIGSTOP, and wait until no thread of it runs any more."""
        if self._ended:
            return
        os.kill(self._id, signal.SIGSTOP)
        while not self.stopped and not self._ended:
            self._require_time()

    def kill(self) -> None:
        """SIGKILL, and wait until the kernel has let go of what it held; then `told` is complete."""
        if not self._ended:
            os.kill(self._id, signal.SIGKILL)
            self._reap()
        while not self._silent:
            self._take()

    def drain(self) -> None:
        """Takes what is in the pipe now."""
        while not self._silent and select.select([self._output], [], [], 0)[0]:
            self._take()

    @property
    def stopped(self) -> bool:
        """Whether it stands still, or has ended."""
        if self._ended:
            return True
        state = os.waitid(os.P_PID, self._id, os.WSTOPPED | os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return state is not None

    def log_tail(self) -> str:
        """The end of what it wrote to standard error, for a message."""
        tail = self._log.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace").strip() if self._log.exists() else ""
        return f"; its log ends:\n{tail}" if tail else ""

    def _read(self, seconds_max: float) -> None:
        self._require_time()
        if select.select([self._output], [], [], seconds_max)[0]:
            self._take()

    def _take(self) -> None:
        read = os.read(self._output, MIB)
        self.told += read
        self._silent = not read

    def _reap(self) -> None:
        self._ended = True  # from now on its number may be somebody else's
        os.waitpid(self._id, 0)

    def _require_time(self) -> None:
        if monotonic() > self._deadline:
            raise Violation(f"the process hangs{self.log_tail()}")


def _fork() -> int:
    """Forks. What SIGTERM raises in this process would be swallowed by what Python calls around a fork."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    try:
        return os.fork()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run(work: Callable[[int], None], output: int, log: Path) -> None:
    """The child, which never returns."""
    status = 1
    try:
        die_with_parent()
        errors = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(errors, 2)
        work(output)
        status = 0
    except BaseException:  # noqa: BLE001 - whatever it was, it is told in the log
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(status)
