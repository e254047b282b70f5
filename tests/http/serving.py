"""A real server for tests: its own process on a store of its own, and whoever started it ends it."""

from __future__ import annotations

import select
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from relatum.cli.bootstrap import make_administrator
from tests.support.polling import WAIT_SECONDS


def initialise(directory: Path, company_id: str = "acme", subject_id: str = "root") -> str:
    """Make a store, or a further company in it, as `relatum init` does; answers the administrator's secret."""
    return make_administrator(directory, company_id, subject_id).secret


PROGRAM = (sys.executable, "-m", "relatum")


class Server:
    """`relatum serve` on a free port, its clock put forward if told so; a context manager.

    `program` is what else is started in the place of relatum.
    """

    def __init__(
        self, directory: Path, *options: str, program: tuple[str, ...] = PROGRAM, clock_offset_millis: int = 0
    ) -> None:
        self.log_path = directory.parent / f"{directory.name}.log"
        self._log = self.log_path.open("ab")
        if clock_offset_millis:
            clock = directory.parent / f"{directory.name}.clock"
            clock.write_text(str(clock_offset_millis))
            program = (sys.executable, "-m", "crash_tests.relatum_process", "--clock", str(clock), "--")
            options = (*options, "--clock-ahead-max-seconds", "0")  # it is far ahead of the files of this host
        self.process = subprocess.Popen(
            [*program, "serve", str(directory), "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=self._log,
        )
        self.url = self._announced()

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])

    def _announced(self) -> str:
        assert self.process.stdout is not None
        readable, _, _ = select.select([self.process.stdout], [], [], WAIT_SECONDS)
        line = self.process.stdout.readline().decode() if readable else ""
        if not line.startswith("relatum listening on http://"):
            self.end()
            raise AssertionError(f"the server announced {line!r}; see {self.log_path}")
        return line.split()[-1]

    def stop(self) -> int:
        """SIGTERM; the exit status."""
        self.process.terminate()
        return self.process.wait(WAIT_SECONDS)

    def end(self) -> None:
        """End the process, whatever state it is in."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(WAIT_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait(WAIT_SECONDS)
        assert self.process.stdout is not None
        self.process.stdout.close()
        self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
