"""Worker processes that are given tasks and watched: one that falls silent, or dies, has met a violation.

A worker reads tasks from its standard input and writes messages to its standard output, one JSON value a line each. It
writes one before it begins anything that could hang, so that the last one says what did.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from select import select
from time import monotonic
from types import TracebackType
from typing import Literal, Self

import msgspec
from msgspec import Struct

from crash_tests.violation import Violation

ROOT = Path(__file__).resolve().parents[1]
ENDING_SECONDS_MAX = 60.0
POLL_SECONDS = 1.0
_READ_BYTES = 65536
_SHOWN_BYTES = 1500


class Message(Struct, frozen=True, kw_only=True):
    """What a worker says: that it begins a case, that it has done a task and what came of it, or what it met."""

    kind: Literal["case", "done", "violation"]
    case: int = 0
    text: str = ""
    counts: dict[str, int] = {}


def say(message: Message) -> None:
    """What a worker has to say."""
    sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
    sys.stdout.buffer.flush()


_DECODER = msgspec.json.Decoder(Message)


class Worker:
    """One process. A context manager that ends it, whatever it does."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._log = log
        with log.open("ab") as errors:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,  # where our modules are found
                env=dict(environment),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # so that it can be ended with all that it started
            )
        self._rest = b""
        self.last = Message(kind="done")
        self.heard = monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with suppress(OSError, subprocess.TimeoutExpired):
            self._process.stdin.close()
            if error is None:
                self._process.wait(ENDING_SECONDS_MAX)
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(ENDING_SECONDS_MAX)
        self._hear_out()
        self._process.stdout.close()

    def _hear_out(self) -> None:
        """Until its children, which have its output too, have ended with it: then nobody touches their files."""
        while select([self], [], [], ENDING_SECONDS_MAX)[0] and os.read(self.fileno(), _READ_BYTES):
            pass

    def fileno(self) -> int:
        """For a selector: where messages come from."""
        assert self._process.stdout is not None
        return self._process.stdout.fileno()

    def give(self, task: Struct) -> None:
        """The next task; the one before it must be done. Of a worker that has ended, `listen` tells."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(msgspec.json.encode(task) + b"\n")
            self._process.stdin.flush()
        self.heard = monotonic()

    def listen(self) -> Iterator[Message]:
        """What has come. Raises `Violation` if the process has ended."""
        came = os.read(self.fileno(), _READ_BYTES)
        if not came:
            status = self._process.wait(ENDING_SECONDS_MAX)
            raise Violation(f"case {self.last.case}: the process ended with {status}{self._log_tail()}")
        *lines, self._rest = (self._rest + came).split(b"\n")
        self.heard = monotonic()
        for line in lines:
            self.last = _DECODER.decode(line)
            yield self.last

    def require_lively(self, silence_seconds_max: float) -> None:
        """Raise `Violation` if it has said nothing for so long."""
        if monotonic() - self.heard > silence_seconds_max:
            raise Violation(
                f"case {self.last.case}: nothing came for {silence_seconds_max:.0f} s: it hangs{self._log_tail()}"
            )

    def _log_tail(self) -> str:
        tail = self._log.read_bytes()[-_SHOWN_BYTES:].decode(errors="replace").strip()
        return f"\n{tail}" if tail else ""


def work_off(
    tasks: Iterable[Struct],
    command: Sequence[str],
    environment: Mapping[str, str],
    logs: Path,
    *,
    silence_seconds_max: float,
) -> Iterator[Message]:
    """Has the tasks done by as many workers as there are processors, and passes on what is said of finished ones.

    Raises the first `Violation`.
    """
    waiting = iter(tasks)
    with ExitStack() as stack:
        busy: list[Worker] = []
        for number in range(len(os.sched_getaffinity(0))):
            if (task := next(waiting, None)) is not None:
                worker = stack.enter_context(Worker(command, environment, logs / f"worker-{number}.log"))
                worker.give(task)
                busy.append(worker)
        while busy:
            ready, _, _ = select(busy, [], [], POLL_SECONDS)
            for worker in ready:
                for message in worker.listen():
                    yield from _done(message)
                    if message.kind == "done":
                        _give_next(worker, waiting, busy)
            for worker in busy:
                worker.require_lively(silence_seconds_max)


def _give_next(worker: Worker, waiting: Iterator[Struct], busy: list[Worker]) -> None:
    task = next(waiting, None)
    if task is None:
        busy.remove(worker)
    else:
        worker.give(task)


def _done(message: Message) -> Iterator[Message]:
    if message.kind == "violation":
        raise Violation(message.text)
    if message.kind == "done":
        yield message
