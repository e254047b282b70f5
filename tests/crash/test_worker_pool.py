"""Workers and children that are watched: what they say comes through, and none of them can hang or die unnoticed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import Struct

from crash_tests.forks import FAILED, Ended
from crash_tests.pool import ROOT, Worker, work_off
from crash_tests.violation import Violation

SECONDS_MAX = 60.0
WORKER = """
import json, os, signal, sys
for line in sys.stdin:
    number = json.loads(line)["number"]
    print(json.dumps({"kind": "case", "case": number}), flush=True)
    if number == 13:
        print("it ends badly", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 17:
        signal.pause()
    if number == 19:
        print(json.dumps({"kind": "violation", "text": "two and two make five"}), flush=True)
        continue
    print(json.dumps({"kind": "done", "counts": {"squares": number * number}}), flush=True)
"""
COMMAND = (sys.executable, "-c", WORKER)


class Number(Struct):
    """A task."""

    number: int


def work(logs: Path, *numbers: int, silence_seconds_max: float = SECONDS_MAX) -> list[int]:
    tasks = map(Number, numbers)
    done = work_off(tasks, COMMAND, os.environ, logs, silence_seconds_max=silence_seconds_max)
    return [message.counts["squares"] for message in done]


def test_every_task_is_done_once_by_some_worker(tmp_path: Path) -> None:
    assert [1, 4, 9, 16, 25] == sorted(work(tmp_path, 1, 2, 3, 4, 5))


def test_nothing_to_do_is_done_at_once(tmp_path: Path) -> None:
    assert [] == work(tmp_path)


def test_a_violation_that_a_worker_met_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(Violation, match="two and two make five"):
        work(tmp_path, 1, 19, 2)


def test_a_worker_that_dies_is_a_violation_with_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(Violation, match=r"case 13: the process ended with -9\nit ends badly"):
        work(tmp_path, 1, 13)


def test_a_worker_that_has_died_before_it_is_given_a_task_is_a_violation_too(tmp_path: Path) -> None:
    with Worker((sys.executable, "-c", "import sys; sys.exit('tired')"), os.environ, tmp_path / "log") as worker:
        worker._process.wait(SECONDS_MAX)
        worker.give(Number(1))
        with pytest.raises(Violation, match=r"the process ended with 1\ntired"):
            list(worker.listen())


def test_a_worker_that_falls_silent_is_a_violation(tmp_path: Path) -> None:
    with pytest.raises(Violation, match="nothing came for 1 s: it hangs"):
        work(tmp_path, 17, silence_seconds_max=1)


def test_the_last_word_of_a_worker_says_at_what_it_fell_silent(tmp_path: Path) -> None:
    def listen_until_it_is_silent() -> None:
        with Worker(COMMAND, os.environ, tmp_path / "log") as worker:
            worker.give(Number(17))
            while worker.last.case != 17:
                list(worker.listen())
            worker.require_lively(0)

    with pytest.raises(Violation, match="case 17: nothing came"):
        listen_until_it_is_silent()


# Children

ZYGOTE = """
import os, signal, sys
from pathlib import Path
from crash_tests.forks import forked

def say_hello(descriptor):
    os.write(descriptor, b"hello")
    return 3

def kill_itself(descriptor):
    os.write(descriptor, b"well ")
    os.kill(os.getpid(), signal.SIGKILL)

def hang(descriptor):
    os.write(descriptor, b"wait")
    signal.pause()

def fail(descriptor):
    raise ValueError("a mistake of the child")

print(forked(globals()[sys.argv[1]], Path(sys.argv[2]), seconds_max=float(sys.argv[3])))
"""


def ended(act: str, errors: Path, *, seconds_max: float = SECONDS_MAX) -> str:
    """How a child ended: of a process of its own, since this one may have opened a store."""
    command = (sys.executable, "-c", ZYGOTE, act, str(errors), str(seconds_max))
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=2 * SECONDS_MAX)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("act", "how"), [("say_hello", Ended(3, b"hello", hung=False)), ("kill_itself", Ended(-9, b"well ", hung=False))]
)
def test_what_a_child_tells_and_how_it_ends_comes_back(tmp_path: Path, act: str, how: Ended) -> None:
    assert str(how) == ended(act, tmp_path / "errors")


@pytest.mark.slow
def test_a_child_that_hangs_is_killed(tmp_path: Path) -> None:
    assert str(Ended(-9, b"wait", hung=True)) == ended("hang", tmp_path / "errors", seconds_max=5)


def test_a_child_that_fails_leaves_its_trace_in_a_file(tmp_path: Path) -> None:
    errors = tmp_path / "errors"
    assert str(Ended(FAILED, b"", hung=False)) == ended("fail", errors)
    assert errors.read_text().rstrip().endswith("ValueError: a mistake of the child")
