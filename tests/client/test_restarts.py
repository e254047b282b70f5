"""A server killed and started again beneath running callers, and a store that is restored beneath a follower."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from relatum.client import Client, Follower, HistoryDiverged, Scope
from relatum.core.answers.feeds import RecordChange
from tests.client.conftest import everything
from tests.http.serving import Server, initialise
from tests.support.polling import WAIT_SECONDS, until
from tests.support.ports import port_for_nobody_else

SCOPE = Scope(project_id="demo", agent_id="scout", visibility="shared")


@contextmanager
def served(directory: Path, port: int) -> Iterator[Server]:
    with Server(directory, "--port", str(port)) as server:
        yield server


def grown(entries: list[str], by: int) -> Callable[[], bool]:
    """Whether a list has got longer by so many since now."""
    before = len(entries)
    return lambda: len(entries) >= before + by


@pytest.mark.parametrize("kills", [1, pytest.param(10, marks=pytest.mark.slow)])
def test_a_server_that_is_killed_beneath_costs_nobody_anything(tmp_path: Path, kills: int) -> None:
    directory, port = tmp_path / "store", port_for_nobody_else()
    administrator = initialise(directory)
    url = f"http://127.0.0.1:{port}"
    done = threading.Event()
    made: list[str] = []
    seen: list[str] = []
    stored: list[str] = []

    with served(directory, port), Client(url, secret=administrator) as client:
        secret = client.credentials.issue(everything(SCOPE)).secret
    with Client(url, secret=secret, timeout=5) as client:
        memory = client.scope()

        def create(thread: int) -> None:
            number = 0
            while not done.is_set():
                made.append(memory.records.create(f"{thread}/{number}").record_id)
                number += 1

        def follow(follower: Follower[RecordChange]) -> None:
            with follower as changes:
                seen.extend(change.change.record_id for change in changes)

        follower = memory.records.follow("watcher", wait_millis=200)
        threads = [threading.Thread(target=create, args=(number,)) for number in range(4)]
        threads.append(threading.Thread(target=follow, args=(follower,)))
        for killed in range(kills + 1):
            with served(directory, port) as server:
                if killed == 0:
                    memory.records.activate()
                    for thread in threads:
                        thread.start()
                until(grown(made, 20))
                if killed < kills:
                    server.process.kill()
                    server.process.wait(WAIT_SECONDS)
                else:
                    done.set()
                    for thread in threads[:-1]:
                        thread.join(WAIT_SECONDS)
                    until(lambda: len(seen) >= len(made))
                    follower.stop()
                    threads[-1].join(WAIT_SECONDS)
                    stored = [one.record_id for one in memory.records.list(limit=100, scan_limit=10_000)]
    assert len(made) == len(set(made)) == len(stored)
    assert set(made) == set(stored)
    assert len(seen) == len(stored)
    assert set(seen) == set(stored)


def test_a_witness_notices_a_restore_and_a_checkpoint_alone_does_not(tmp_path: Path) -> None:
    directory = tmp_path / "store"
    administrator = initialise(directory)
    witness = tmp_path / "witness"
    with Server(directory) as server:
        with Client(server.url, secret=administrator) as client:
            secret = client.credentials.issue(everything(SCOPE)).secret
        with Client(server.url, secret=secret) as client:
            memory = client.scope()
            memory.records.create("before the backup")
            commit_all(client, "with", witness)
            commit_all(client, "without", None)
            server.stop()
    backup, restored = tmp_path / "backup", tmp_path / "restored"
    relatum("backup", directory, backup)
    with Server(directory) as server, Client(server.url, secret=secret) as client:
        client.scope().records.create("after the backup")
        commit_all(client, "with", witness)
        commit_all(client, "without", None)
    relatum("restore", backup, restored)
    with Server(restored) as server, Client(server.url, secret=secret) as client:
        memory = client.scope()
        memory.records.create("another past")
        with memory.records.follow("without", through="tip") as changes:
            assert 1 == len(list(changes)), "it does not notice that it has followed another history"
        with pytest.raises(HistoryDiverged) as caught, memory.records.follow("with", witness=witness):
            pass
        assert caught.value.diagnostics is not None
        assert "history_incompatible" == caught.value.diagnostics.witness_status
        with memory.records.follow("with", witness=witness, start="baseline", through="tip") as changes:
            for _ in changes:
                changes.commit()
        diagnostics = memory.records.diagnose("with")
        assert (0, "compatible") == (diagnostics.pending_positions, diagnostics.checkpoint_status)
        with memory.records.follow("with", witness=witness, through="tip") as changes:
            assert [] == list(changes)
    assert 0o600 == witness.stat().st_mode & 0o777


def commit_all(client: Client, consumer_id: str, witness: Path | None) -> None:
    with client.scope().records.follow(consumer_id, witness=witness, through="tip") as changes:
        for _ in changes:
            changes.commit()


def relatum(*arguments: object) -> None:
    command = [sys.executable, "-m", "relatum", *map(str, arguments)]
    subprocess.run(command, capture_output=True, timeout=60, check=True)
