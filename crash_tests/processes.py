"""Cases on several processes at once, each in its own namespace of mounts.

Each worker is a new interpreter with one thread, which never opens a store, so it may fork children that do. A case
runs in one worker from its beginning to its end; which one, and after which other cases, changes nothing about it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from signal import SIG_IGN, SIGINT, SIGTERM, signal
from time import monotonic
from typing import Generic, NamedTuple, TypeVar

from crash_tests.kernel import die_with_parent, take_own_mounts
from crash_tests.part import Unavailable
from crash_tests.violation import Violation

TaskT = TypeVar("TaskT")
ResultT = TypeVar("ResultT")

CASE_SECONDS_MAX = 300.0
END_SECONDS_MAX = 60.0
WORKERS = min(2, os.cpu_count() or 1)


class Failed(NamedTuple):
    """What a task raised."""

    error: Violation | Unavailable


class _Worker(NamedTuple):
    process: BaseProcess
    connection: Connection


class Crew(Generic[TaskT, ResultT]):
    """Workers that each run `do` on one task after the other."""

    def __init__(self, workers: list[_Worker]) -> None:
        self._idle = workers
        self._busy: dict[Connection, tuple[_Worker, TaskT, float]] = {}

    def results(self, tasks: Iterable[TaskT]) -> Iterator[ResultT]:
        """The results in the order in which they come. Raises what a task raised; then no more are begun."""
        for task in tasks:
            while not self._idle:
                yield from self._finished()
            worker = self._idle.pop()
            worker.connection.send(task)
            self._busy[worker.connection] = worker, task, monotonic() + CASE_SECONDS_MAX
        while self._busy:
            yield from self._finished()

    def _finished(self) -> Iterator[ResultT]:
        first = min(deadline for _, _, deadline in self._busy.values())
        ready = wait(list(self._busy), max(0.0, first - monotonic()))
        if not ready:
            late = [task for _, task, deadline in self._busy.values() if deadline <= monotonic()]
            raise Violation(f"{late[0]} did not end within {CASE_SECONDS_MAX:g} s")
        for connection in ready:
            assert isinstance(connection, Connection)
            worker, task, _ = self._busy.pop(connection)
            try:
                result = connection.recv()
            except (EOFError, ConnectionResetError) as ended:
                raise RuntimeError(f"a worker died of {task}") from ended
            self._idle.append(worker)
            if isinstance(result, Failed):
                raise result.error
            yield result


@contextmanager
def crew(do: Callable[[TaskT], ResultT], size: int = WORKERS) -> Iterator[Crew[TaskT, ResultT]]:
    """Workers for as long as the block takes. Raises `Unavailable` to those who are not root."""
    if os.geteuid() != 0:
        raise Unavailable("mounting a file system needs root")
    context = get_context("spawn")
    workers: list[_Worker] = []
    try:
        for _ in range(size):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, do), daemon=True)
            process.start()
            theirs.close()
            workers.append(_Worker(process, ours))
        yield Crew(list(workers))
    finally:
        for worker in workers:
            worker.connection.close()
            worker.process.terminate()
        for worker in workers:
            worker.process.join(END_SECONDS_MAX)
            worker.process.kill()
            worker.process.join()


def _work(connection: Connection, do: Callable[[TaskT], ResultT]) -> None:
    signal(SIGINT, SIG_IGN)  # of a terminal's whole group; whoever made this process ends it
    signal(SIGTERM, lambda *_: sys.exit())  # and then it takes down what it has mounted and started
    die_with_parent(SIGTERM)
    try:
        take_own_mounts()
    except OSError as error:
        lacking: Failed | None = Failed(Unavailable(f"no namespace of mounts can be had: {error}"))
    else:
        lacking = None
    with suppress(EOFError, BrokenPipeError):
        while True:
            task = connection.recv()
            connection.send(lacking or _done(do, task))
    signal(SIGTERM, SIG_IGN)  # it is ending, and has nothing left to take down


def _done(do: Callable[[TaskT], ResultT], task: TaskT) -> ResultT | Failed:
    try:
        return do(task)
    except (Violation, Unavailable) as error:
        return Failed(error)
