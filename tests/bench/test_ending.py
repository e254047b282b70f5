"""A run that is ended before its time leaves neither a process nor a file."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest

from relatum.cli.bench.isolation import undisturbed
from relatum.cli.bench.peers import rates
from relatum.cli.signals import stoppable
from tests.cli.program import COMMAND, Running, environment
from tests.support.signals import heeded


def of_session(session: int) -> list[int]:
    """The processes of a session, by their ids."""
    found = []
    for process in (int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()):
        with suppress(ProcessLookupError):
            if session == os.getsid(process):
                found.append(process)
    return found


@contextmanager
def bench(*arguments: str | Path) -> Iterator[Running]:
    """A run in a session of its own, which whatever it starts stays in; all of that is killed at the end."""
    with subprocess.Popen(
        [*COMMAND, "bench", *map(str, arguments)],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            yield Running(process)
        finally:
            for one in of_session(process.pid):
                os.kill(one, signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.parametrize("told", ["reads: relations to read", "reads: round 1"])
def test_a_run_that_is_terminated_leaves_neither_a_process_nor_a_file(told: str, tmp_path: Path) -> None:
    with bench("--parts", "reads", "--scratch", tmp_path) as run:
        run.lines_until(told)
        assert 1 == run.stop(signal.SIGTERM)
        assert [] == of_session(run.process.pid)
        assert run.process.stdout is not None
        assert (run._unread + run.process.stdout.read()).endswith(b"\nAborted!\n")
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_step_is_done_whole_before_a_signal_ends_the_program(number: signal.Signals) -> None:
    done: list[str] = []

    def do() -> None:
        with undisturbed():
            with undisturbed():
                signal.raise_signal(number)
                done.append("inner")
            done.append("outer")
        done.append("more")

    with heeded(number), stoppable(), pytest.raises(KeyboardInterrupt):
        do()
    assert ["inner", "outer"] == done


def test_clients_that_are_interrupted_are_done_before_their_store_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[Thread] = []

    class Second(Thread):
        """One that nobody gets to start, while the first waits for it."""

        def start(self) -> None:
            threads.append(self)
            if len(threads) == 2:
                raise KeyboardInterrupt
            super().start()

    monkeypatch.setattr(rates, "Thread", Second)
    crew = rates._Crew(2, seconds=60.0)

    def wait_for_the_other(_: int) -> None:
        crew.begin()

    with pytest.raises(KeyboardInterrupt):
        crew.work(wait_for_the_other)
    assert [False, False] == [thread.is_alive() for thread in threads]
