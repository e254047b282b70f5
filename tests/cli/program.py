"""The program as an operator runs it: a process, its output, its exit status."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import msgspec

from relatum.cli.bootstrap import make_administrator, with_secret

SECONDS_MAX = 60.0
"""No wait in these tests is longer."""

COMMAND = (sys.executable, "-m", "relatum")
SCOPE = {"project_id": "demo", "mission_id": None, "agent_id": "extractor", "visibility": "shared"}


def environment(**settings: str) -> dict[str, str]:
    """This process's environment without settings of the ledger, but for those given."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("RELATUM_")}
    return clean | settings


def run(*arguments: str | Path, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """The program, run to its end."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        env=env or environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS_MAX,
        check=False,
    )


def init(directory: Path, company: str = "acme", subject: str = "ada") -> dict[str, Any]:
    """What `relatum init` prints; made in this process, since a start takes longer than a store."""
    printed: dict[str, Any] = json.loads(
        msgspec.json.encode(with_secret(make_administrator(directory, company, subject)))
    )
    return printed


class Running:
    """A process of the program that goes on. Its output is read line by line, with a bound on every wait."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._unread = b""

    def line(self) -> str:
        """The next line of its standard output; empty at the end."""
        assert self.process.stdout is not None
        deadline = monotonic() + SECONDS_MAX
        while b"\n" not in self._unread:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, deadline - monotonic()))
            assert ready, f"no line within {SECONDS_MAX} s, after {self._unread!r}"
            chunk = os.read(self.process.stdout.fileno(), 65536)
            if not chunk:
                break
            self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        return line.decode()

    def lines_until(self, pattern: str) -> list[str]:
        """The lines up to the first one that matches, which is the last of them."""
        lines: list[str] = []
        while not lines or not re.search(pattern, lines[-1]):
            lines.append(self.line())
            assert lines[-1] or self.process.poll() is None, lines
        return lines

    def stop(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Tell it to stop; its exit status."""
        self.process.send_signal(number)
        return self.process.wait(SECONDS_MAX)


@contextmanager
def running(*arguments: str | Path, env: Mapping[str, str] | None = None) -> Iterator[Running]:
    """The program while the block runs. It is killed at the end if it has not ended by then."""
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        env=env or environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield Running(process)
        finally:
            if process.poll() is None:
                process.kill()


@contextmanager
def serving(directory: Path, *options: str, env: Mapping[str, str] | None = None) -> Iterator[tuple[Running, str]]:
    """A server on a free port, ready, and its address."""
    with running("serve", directory, "--port", "0", *options, env=env) as server:
        announced = re.fullmatch(r"relatum listening on (http://\S+)", server.line())
        assert announced is not None
        yield server, announced[1]
