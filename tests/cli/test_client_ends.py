"""How client verbs end: statuses, pipes, terminals, secrets, feeds that are killed and stores that are restored."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import socket
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import COMMAND, SECONDS_MAX, environment
from tests.cli.served import Caller, served


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    with served(tmp_path_factory.mktemp("ends")) as (_, _, caller):
        yield caller


def process(caller: Caller, *words: str, **extra: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen([*COMMAND, *words], env=environment(**caller.environment), **extra)


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (("record", "get", "0196f0a1-0000-7000-8000-000000000001"), 1, "404 record_not_found"),
        (("record", "create", " "), 1, "400 invalid_request"),
        (("record", "create"), 2, "text"),
        (("record", "delete", "0196f0a1-0000-7000-8000-000000000001"), 2, "--yes"),
        (("record", "list", "--profile", "nobody"), 2, "no such profile"),
        (("credential", "list"), 4, "403 forbidden"),
    ],
)
def test_each_end_has_its_status_and_prints_nothing(
    worker: Caller, words: tuple[str, ...], status: int, told: str
) -> None:
    for form in ((), ("-o", "json")):
        done = worker.run(*words, *form)
        assert (status, "") == (done.exit_code, done.stdout)
        if form:
            assert {"code", "message", "status"} <= json.loads(done.stderr)["error"].keys()
        else:
            assert told in done.stderr


def test_a_server_that_is_not_there_is_status_3_within_the_deadline(worker: Caller) -> None:
    done = worker.run("record", "list", "--url", f"http://127.0.0.1:{free_port()}", "--deadline", "0.2")
    assert (3, "") == (done.exit_code, done.stdout)


def test_an_unknown_outcome_prints_the_line_that_repeats_it(worker: Caller) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # takes the request and never answers
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = worker.run("record", "create", "a b", "--url", url, "--deadline", "0.3")
        again = worker.run("record", "create", "a b", "--url", url, "--deadline", "0.3", "-o", "json")
    assert (3, "") == (done.exit_code, done.stdout)
    key = done.stderr.split("--key ")[1].strip()
    assert f"run it again: relatum record create 'a b' --url {url} --deadline 0.3 --key {key}" in done.stderr
    assert 32 == len(json.loads(again.stderr)["error"]["idempotency_key"])


def test_without_a_profile_it_is_told_how_to_make_one(tmp_path: Path) -> None:
    done = Caller(tmp_path / "client.toml").run("whoami", "--url", "http://127.0.0.1:1")
    assert (2, "") == (done.exit_code, done.stdout)


def test_a_pipe_that_closes_ends_a_list_in_silence(worker: Caller) -> None:
    caller = worker.at("pipe")
    lines = "".join(json.dumps({"record": {"content": "x" * 2_000 + str(n)}}) + "\n" for n in range(250))
    caller.one("load", "-", given=lines)
    with process(caller, "record", "list", "--all", stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert json.loads(running.stdout.readline())
        running.stdout.close()
        assert b"" == running.stderr.read()
        assert 0 == running.wait(SECONDS_MAX)


@pytest.mark.parametrize("no_color", ["", "1"])
def test_a_terminal_has_tables_and_colour_only_where_it_is_not_declined(worker: Caller, no_color: str) -> None:
    caller = worker.at("terminal")
    made = caller.one("record", "create", "\x1b[31mred\x1b[0m and " + "long " * 100)
    near, far = pty.openpty()
    env = environment(**caller.environment, NO_COLOR=no_color, COLUMNS="80", TERM="xterm")
    with subprocess.Popen([*COMMAND, "record", "list"], env=env, stdout=far, stdin=far, stderr=far) as running:
        os.close(far)
        shown = b""
        while True:
            assert select.select([near], [], [], SECONDS_MAX)[0]
            try:
                chunk = os.read(near, 65536)
            except OSError:  # the other end is closed
                break
            if not chunk:
                break
            shown += chunk
        assert 0 == running.wait(SECONDS_MAX)
    os.close(near)
    head, line = shown.decode().split("\r\n")[:2]
    assert made["record_id"] in line
    assert len(line) <= 80
    assert "\x1b" not in line
    assert ("\x1b" in head) == (no_color == "")


def test_a_secret_is_in_no_output_and_no_argument(worker: Caller) -> None:
    secret = worker.config.read_text().split('secret = "')[1].split('"')[0]
    cases = (("whoami", "--debug"), ("profile", "show"), ("record", "get", secret), ("api", "nothing"))
    for words in cases:
        done = worker.run(*words)
        assert words == ("record", "get", secret) or secret[-43:] not in done.output
    with process(worker, "feed", "tail", "records", stdout=subprocess.DEVNULL) as running:
        listed = Path(f"/proc/{running.pid}/cmdline").read_bytes()
        running.kill()
    assert secret.encode() not in listed


def changes(lines: list[bytes]) -> list[int]:
    return [json.loads(line)["cursor"]["sequence"] for line in lines]


def test_a_consumer_killed_and_started_again_misses_nothing(worker: Caller) -> None:
    caller = worker.at("mirror")
    lines = "".join(json.dumps({"record": {"content": str(n)}}) + "\n" for n in range(30))
    caller.one("load", "-", given=lines)
    seen: list[int] = []
    words = ("feed", "tail", "records", "--consumer", "mirror")
    for taken in (3, 1, 5):
        with process(caller, *words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
            assert running.stdout is not None
            seen += changes([running.stdout.readline() for _ in range(taken)])
            running.kill()
    seen += [one["cursor"]["sequence"] for one in caller.lines(*words, "--until", "tip")]
    assert [*range(1, 31)] == sorted(set(seen))
    assert all(after - before <= 1 for before, after in pairwise(seen))


def test_a_command_that_fails_ends_the_tail_and_is_given_the_delivery_again(worker: Caller, tmp_path: Path) -> None:
    caller = worker.at("exec")
    for n in range(5):
        caller.one("record", "create", str(n))
    taken = tmp_path / "taken"
    program = f"cat >> {taken}; test $(wc -l < {taken}) -ne 3"
    words = ("feed", "tail", "records", "--consumer", "mailer", "--until", "tip", "--exec", program)
    failed = caller.run(*words)
    assert (1, "") == (failed.exit_code, failed.stdout)
    assert 2 == caller.one("feed", "checkpoint", "mailer")["cursor"]["sequence"]
    assert 0 == caller.run(*words).exit_code
    assert [1, 2, 3, 3, 4, 5] == changes(taken.read_bytes().splitlines())


def test_an_interrupted_tail_is_status_130(worker: Caller) -> None:
    caller = worker.at("interrupt")
    caller.one("record", "create", "x")
    words = ("feed", "tail", "records", "--from", "baseline")
    with process(caller, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stdout.readline()
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=SECONDS_MAX)
    assert 130 == running.returncode


def test_a_witness_ahead_of_the_journal_ends_the_tail_with_its_diagnostics(worker: Caller) -> None:
    caller = worker.at("restored")
    caller.one("record", "create", "x")
    words = ("feed", "tail", "records", "--consumer", "mirror", "--until", "tip")
    (delivery,) = caller.lines(*words)
    (witness,) = [
        path
        for path in (caller.config.parent / "state" / "relatum").iterdir()
        if json.loads(path.read_text()) == delivery["cursor"]
    ]
    witness.write_text(json.dumps(delivery["cursor"] | {"sequence": 9}))  # as over a store restored from before
    ended = caller.run(*words, "-o", "json")
    assert (1, "") == (ended.exit_code, ended.stdout)
    error = json.loads(ended.stderr)["error"]
    assert ("journal_history_conflict", "history_incompatible") == (error["code"], error["details"]["witness_status"])
