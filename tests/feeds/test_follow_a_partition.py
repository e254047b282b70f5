"""The program of docs/howto/follow-a-partition.md against a real server: killed whenever, its copy becomes exact."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Event, Thread

import pytest

from tests.feeds.restless import Restless
from tests.feeds.wire import Feed, follower_of
from tests.http.client import RECORDS, RELATIONS, Api, Caller, Json, accepted, ref
from tests.http.serving import Server, initialise
from tests.support.polling import WAIT_SECONDS, until

PROGRAM = Path(__file__).parents[2] / "docs" / "howto" / "follow_a_partition.py"
ROUNDS = 3
STEPS = 25
CHANGES_BEFORE_A_KILL = 10
HALF_A_SECOND_MILLIS = 500
LAG_MILLIS = 2_000
"""The program's idea of the server's time lags behind by as long as an answer takes."""


class Program:
    """The program at work on one file; it may be killed and started as often as one likes."""

    def __init__(self, url: str, caller: Caller, path: Path) -> None:
        self._command = [sys.executable, str(PROGRAM), url, json.dumps(caller.scope), str(path)]
        self._environment = os.environ | {"RELATUM_CLIENT_SECRET": caller.secret}
        self._path = path

    @contextmanager
    def running(self) -> Iterator[None]:
        """The program runs meanwhile, and is killed in the end."""
        process = subprocess.Popen(self._command, env=self._environment)
        try:
            yield
            assert process.poll() is None, "the program ended by itself"
        finally:
            process.kill()
            process.wait(WAIT_SECONDS)

    def catch_up(self) -> None:
        subprocess.run([*self._command, "--once"], env=self._environment, timeout=WAIT_SECONDS, check=True)

    def applied(self) -> int:
        """How many changes of both streams the file has seen."""
        return sum(json.loads(cursor)["sequence"] for (cursor,) in self._rows("SELECT cursor FROM cursor"))

    def has_settled(self, changes: int) -> bool:
        """Whether the file has seen so many changes and nothing is left to look at but with time."""
        return self.applied() == changes and not self._rows("SELECT * FROM due WHERE at_millis = 0")

    def _rows(self, query: str) -> list[tuple[str]]:
        try:
            with closing(sqlite3.connect(f"file:{self._path}?mode=ro", uri=True)) as file:
                return file.execute(query).fetchall()
        except sqlite3.OperationalError:
            return []  # the file is not there yet

    def wait_for_changes(self, number: int) -> None:
        """Returns once so many more changes were applied."""
        goal = self.applied() + number
        until(lambda: self.applied() >= goal)

    def copy(self) -> dict[str, Json]:
        with closing(sqlite3.connect(self._path, timeout=WAIT_SECONDS)) as file:
            return {one: json.loads(body) for one, body in file.execute("SELECT relation_id, relation FROM relation")}


def derive(caller: Caller, source: Json) -> Json:
    """A record made from another, as a reference to it."""
    derivation = {"sources": [source], "method": "summary", "method_revision": "1", "evidence_ref": "run/1"}
    return ref(accepted(caller.command(RECORDS, type="derive", record={"content": "so"}, derivation=derivation)))


def retained(caller: Caller) -> list[Json]:
    """Every relation of the scope with the verdict on it."""
    found: list[Json] = []
    cursor = None
    while True:
        page = caller.ask(f"{RELATIONS}/query", filter={"limit": 100, "cursor": cursor}).json()["page"]
        found += page["relations"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


def eligible(caller: Caller) -> dict[str, Json]:
    return {
        entry["relation"]["relation_id"]: entry["relation"]
        for entry in retained(caller)
        if entry["eligibility"]["eligible"]
    }


@contextmanager
def at_work(client: Restless) -> Iterator[None]:
    """The client does one thing after another meanwhile."""
    stop = Event()

    def work() -> None:
        while not stop.is_set():
            client.step()

    thread = Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(WAIT_SECONDS)


def committed(caller: Caller) -> int:
    """How many changes both streams have."""
    pages = [Feed(caller, path).page(limit=1) for path in (RELATIONS, RECORDS)]
    return sum(page["high_watermark"]["sequence"] for page in pages)


def passed(caller: Caller, millis: int) -> bool:
    """Whether the server's time has passed an instant."""
    [entry, *_] = retained(caller)
    moment: int = entry["eligibility"]["evaluated_at_millis"]
    return moment > millis


@pytest.mark.slow
def test_a_copy_is_exact_however_often_its_program_was_killed(admin: Caller, tmp_path: Path) -> None:
    caller = follower_of(admin)
    program = Program(str(caller.api._client.base_url), caller, tmp_path / "copy.db")
    client = Restless(caller, "harbour")
    for _ in range(ROUNDS):
        with program.running():
            client.take(STEPS)
            until(lambda: program.has_settled(committed(caller)))
        with at_work(client), program.running():
            program.wait_for_changes(CHANGES_BEFORE_A_KILL)
    client.take(STEPS)
    until(lambda: passed(caller, client.last_boundary_millis + LAG_MILLIS))
    program.catch_up()
    assert eligible(caller) == program.copy()
    reasons = {entry["eligibility"]["reason"] for entry in retained(caller)}
    assert {"eligible", "retired", "endpoint_revision_changed"} <= reasons


def test_a_change_far_up_the_ancestry_is_noticed(admin: Caller, tmp_path: Path) -> None:
    caller = follower_of(admin)
    program = Program(str(caller.api._client.base_url), caller, tmp_path / "copy.db")
    origin = caller.create()
    derived = derive(caller, derive(caller, origin))
    by_its_end = caller.relate(derived)["relation_id"]
    by_its_evidence = caller.relate(evidence_sources=[derived])["relation_id"]
    untouched = caller.relate()["relation_id"]
    program.catch_up()
    assert {by_its_end, by_its_evidence, untouched} == set(program.copy())
    target = {"record_id": origin["record_id"], "expected_revision": origin["revision"]}
    accepted(caller.command(RECORDS, type="revise", **target, record={"content": "another note"}))
    program.catch_up()
    assert {untouched} == set(program.copy()) == set(eligible(caller))


def test_what_becomes_eligible_or_expires_with_time_is_looked_at_then(admin: Caller, tmp_path: Path) -> None:
    caller = follower_of(admin)
    program = Program(str(caller.api._client.base_url), caller, tmp_path / "copy.db")
    with program.running():
        caller.relate()
        until(lambda: program.has_settled(committed(caller)))
        now: int = caller.relate()["committed_at_millis"]
        later = caller.relate(valid_from_millis=now + HALF_A_SECOND_MILLIS)["relation_id"]
        ending = caller.relate(valid_until_millis=now + HALF_A_SECOND_MILLIS)["relation_id"]
        until(lambda: later in program.copy() and ending not in program.copy())
    assert eligible(caller) == program.copy()


def test_a_copy_of_a_lost_history_is_made_anew(tmp_path: Path) -> None:
    secret = initialise(tmp_path / "store")
    with Server(tmp_path / "store") as server, Api(server.url) as api:
        caller = follower_of(Caller(api, secret))
        kept = caller.relate()
    shutil.copytree(tmp_path / "store", tmp_path / "backup")
    with Server(tmp_path / "store") as server, Api(server.url) as api:
        lost = Caller(api, caller.secret, caller.scope).relate()
        program = Program(server.url, caller, tmp_path / "copy.db")
        program.catch_up()
        assert {kept["relation_id"], lost["relation_id"]} == set(program.copy())
    with Server(tmp_path / "backup") as server, Api(server.url) as api:
        Caller(api, caller.secret, caller.scope).relate()
        program = Program(server.url, caller, tmp_path / "copy.db")
        program.catch_up()
        assert eligible(Caller(api, caller.secret, caller.scope)) == program.copy()
        assert lost["relation_id"] not in program.copy()
