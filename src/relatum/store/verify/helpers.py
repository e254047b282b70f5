"""Processes that help to verify a store at rest, each with the store open for reading.

What lives here: `Helpers`, a fixed number of them. They are processes and not threads because what takes the time is
Python code; and programs started anew and not forked, because an engine is open here.

What always holds: no helper outlives the block; one that ends early is a StorageFailure, never a missing result. All
have the same key for `hash`, so that the marks which they add up (`audit.py`) can be compared.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType
from typing import Final, Self

from relatum.entropy import SystemEntropy
from relatum.errors import ProgramFailure, StorageFailure
from relatum.store.verify.messages import Failed, read_answer, write_task
from relatum.store.verify.tasks import Result, Task

_END_SECONDS_MAX: Final = 10.0
_SEED_BYTES: Final = 4


class HelperFault(ProgramFailure):
    """A helper met a fault of the program; nothing is known about the store."""

    def __init__(self, fault: str) -> None:
        super().__init__(
            f"a fault in relatum itself: {fault}; relatum --debug verify --jobs 1, on this store, prints a traceback"
        )


class _Helper:
    """One process."""

    def __init__(self, directory: Path, environment: Mapping[str, str]) -> None:
        command = [sys.executable, "-m", "relatum.store.verify.worker", str(directory)]
        # In a session of its own: an interrupt from the keyboard is for the one who waits for the results.
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )

    def ask(self, task: Task) -> Result:
        """Has a task done."""
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            write_task(self._process.stdin, task)
            answer = read_answer(self._process.stdout)
        except OSError as error:
            raise StorageFailure("a helper of the verification ended early") from error
        if answer is None:
            raise StorageFailure("a helper of the verification ended early")
        if isinstance(answer, Failed):
            raise HelperFault(answer.message) if answer.fault else StorageFailure(answer.message)
        return answer.result

    def kill(self) -> None:
        """Ends it where it is."""
        self._process.kill()

    def end(self) -> None:
        """Lets it end by itself, if it does so soon."""
        try:
            self._process.communicate(timeout=_END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()


class Helpers:
    """So many processes, for as long as the block runs."""

    def __init__(self, directory: Path, count: int) -> None:
        """`directory` is the engine's."""
        self.count = count
        self._idle: SimpleQueue[_Helper] = SimpleQueue()
        self._all: list[_Helper] = []
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="relatum-helper")
        environment = {**os.environ, "PYTHONHASHSEED": _drawn_seed()}
        try:
            for _ in range(count):
                self._all.append(_Helper(directory, environment))
                self._idle.put(self._all[-1])
        except OSError as error:
            self._end()
            raise StorageFailure("the helpers of the verification can't be started") from error

    def submit(self, task: Task) -> Future[Result]:
        """Has a task done by who is idle first. Where that fails, the future raises StorageFailure or HelperFault."""
        return self._threads.submit(self._ask, task)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            for helper in self._all:
                helper.kill()  # nobody waits for what they are doing
        self._end()

    def _ask(self, task: Task) -> Result:
        helper = self._idle.get()
        try:
            return helper.ask(task)
        finally:
            self._idle.put(helper)

    def _end(self) -> None:
        self._threads.shutdown(cancel_futures=True)
        for helper in self._all:
            helper.end()


def _drawn_seed() -> str:
    return str(int.from_bytes(SystemEntropy().draw(_SEED_BYTES), "big"))
