"""The real server as a child process, and the few commands of the program that a campaign needs.

What always holds: a child runs in a process group of its own, only such groups are signalled, every wait has a bound,
and running over a bound is a violation: a server that hangs is as bad as one that forgets.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Any, Self

from crash_tests.violation import Violation, require

START_SECONDS_MAX = 60.0
STOP_SECONDS_MAX = 60.0
PROGRAM_SECONDS_MAX = 60.0
DYING_SECONDS_MAX = 60.0
"""From when connections break until the kernel has told that the process has ended."""

ROOT = Path(__file__).resolve().parents[1]
"""Where `crash_tests` can be imported from."""

_READY = "relatum listening on "
_LOG_TAIL_BYTES = 2_000


def module(name: str, *arguments: str | Path) -> list[str]:
    """The command line that runs a module: `relatum`, the program under test, or one of our own."""
    return [sys.executable, "-m", name, *map(str, arguments)]


def program(*arguments: str | Path, launch: Sequence[str] = ()) -> list[str]:
    """The command line of the program under test, by itself or prepared by `crash_tests.relatum_process`."""
    return module("crash_tests.relatum_process", *launch, "--", *arguments) if launch else module("relatum", *arguments)


class Child:
    """A process in a group of its own, with its standard output at hand and its standard error in a file.

    Its temporary files lie beside that file: who is killed can't remove them.
    """

    def __init__(self, command: Sequence[str], log: Path) -> None:
        self._log = log
        self.told = b""
        self.silent = False
        """Whether it has closed its output: it is ending or has ended."""
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**os.environ, "TMPDIR": str(log.parent)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def process_id(self) -> int:
        """Also the id of its group."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether it has ended by itself or otherwise."""
        return self._process.poll() is not None

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the whole group, unless it has ended."""
        if not self.ended:
            os.killpg(self._process.pid, number)

    def kill(self) -> int:
        """SIGKILL, and wait until the kernel has let go of everything the process held; how it ended."""
        self.signal(signal.SIGKILL)
        status = self.wait(STOP_SECONDS_MAX)
        if self._process.stdout is not None:
            self._process.stdout.close()
        return status

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Stops it in its tracks for as long as the block takes."""
        self.signal(signal.SIGSTOP)
        deadline = monotonic() + STOP_SECONDS_MAX
        while os.waitid(os.P_PID, self.process_id, os.WSTOPPED | os.WNOHANG) is None:
            require(monotonic() < deadline, "the process could not be paused")
        yield
        self.signal(signal.SIGCONT)

    def wait(self, seconds_max: float) -> int:
        """The exit status; a violation if it has not ended in time."""
        if not self._ends_within(seconds_max):
            raise Violation(f"the process did not end within {seconds_max:g} s{self.log_tail()}")
        return self._process.wait()

    def _ends_within(self, seconds_max: float) -> bool:
        try:
            self._process.wait(seconds_max)
        except subprocess.TimeoutExpired:
            return False
        return True

    def read_line(self, seconds_max: float) -> str | None:
        """The first line of its output; None if there is none by its end or after `seconds_max`."""
        deadline = monotonic() + seconds_max
        while b"\n" not in self.told:
            if not self._read(deadline - monotonic()):
                return None
        return self.told.split(b"\n", 1)[0].decode()

    def read_all(self, seconds_max: float) -> str:
        """Everything it writes until it ends; a violation if that takes longer."""
        deadline = monotonic() + seconds_max
        while self._read(deadline - monotonic()):
            pass
        self.wait(max(0.0, deadline - monotonic()))
        return self.told.decode()

    def _read(self, seconds_max: float) -> bool:
        """Whether something more came."""
        output = self._process.stdout
        assert output is not None
        if not select.select([output], [], [], max(0.0, seconds_max))[0]:
            return False
        read = os.read(output.fileno(), 65_536)
        self.told += read
        self.silent = not read
        return bool(read)

    def log_tail(self) -> str:
        """The end of what it wrote to standard error, for a message."""
        return tail_of(self._log)


class Server(Child):
    """`relatum serve` on a store, by itself or prepared with options of `crash_tests.relatum_process`.

    `stopping` is set before it is killed or told to stop: from then on it may vanish. One that is `doomed` kills itself
    at some place, and may vanish at any time.
    """

    def __init__(
        self,
        directory: Path,
        log: Path,
        *options: str,
        wrapper: Sequence[str] = (),
        launch: Sequence[str] = (),
        doomed: bool = False,
    ) -> None:
        served = program("serve", directory, "--port", "0", *options, launch=launch)
        super().__init__([*wrapper, *served], log)
        self.stopping = False
        self.doomed = doomed
        self.port = 0

    def vanished(self) -> bool:
        """Whether a connection that broke was to break: it was to stop, or has died as it was doomed to."""
        return self.stopping or (self.doomed and self._ends_within(DYING_SECONDS_MAX))

    def wait_until_ready(self, seconds_max: float = START_SECONDS_MAX) -> None:
        """Wait for the line with the address. A violation if it does not come."""
        line = self.read_line(seconds_max)
        if line is None and self.silent:
            raise Violation(f"the server did not start and ended with {self.wait(STOP_SECONDS_MAX)}{self.log_tail()}")
        require(line is not None, f"the server was not ready within {seconds_max:g} s{self.log_tail()}")
        assert line is not None
        require(line.startswith(_READY), f"the server said {line!r} when it was ready")
        self.port = int(line.rpartition(":")[2])


def tail_of(log: Path) -> str:
    """The end of a log, for a message."""
    tail = log.read_bytes()[-_LOG_TAIL_BYTES:].decode(errors="replace").strip()
    return f"; its log ends:\n{tail}" if tail else ""


def run(log: Path, command: Sequence[str], seconds_max: float = PROGRAM_SECONDS_MAX) -> tuple[int, str]:
    """Exit status and output of a command that ends by itself."""
    with Child(command, log) as child:
        output = child.read_all(seconds_max)
        return child.wait(0.0), output


def initialise(
    directory: Path,
    log: Path,
    company: str,
    subject: str,
    *,
    killed_before: bool = False,
    launch: Sequence[str] = (),
) -> dict[str, Any]:
    """What `relatum init` prints, prepared with options of `crash_tests.relatum_process` if there are any.

    An init that was killed may have come far enough to make the company, and the secret is lost with it: then, and only
    then, what `relatum admin issue` prints.
    """
    names = ("--company", company, "--subject", subject)
    status, output = run(log, program("init", directory, *names, launch=launch))
    if status != 0 and killed_before:
        status, output = run(log, program("admin", "issue", directory, *names, launch=launch))
    require(status == 0, f"no administrator could be made; the program ended with {status}{tail_of(log)}")
    made: dict[str, Any] = json.loads(output)
    return made
