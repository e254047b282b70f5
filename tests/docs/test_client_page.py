"""The pages about the client: what they show runs against a server, and the worker of the how-to survives anything."""

from __future__ import annotations

import json
import os
import random  # noqa: TID251 - when a process dies is drawn from a seed
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from relatum.client import Client, CredentialSpec, Scope
from tests.docs.pages import DOCS, README, blocks
from tests.http.serving import Server, initialise
from tests.support.polling import WAIT_SECONDS
from tests.support.ports import port_for_nobody_else

WORKER = DOCS / "howto" / "extract.py"


def issued(url: str, administrator: str, project_id: str = "demo") -> str:
    """The secret of a worker at a scope of the project."""
    spec = CredentialSpec(
        subject_id="worker",
        capabilities=("memory_read", "memory_write", "memory_review", "memory_checkpoint"),
        grants=(Scope(project_id=project_id, agent_id="extractor", visibility="shared"),),
    )
    with Client(url, secret=administrator) as client:
        return client.credentials.issue(spec).secret.reveal()


@pytest.fixture(scope="module")
def administrator(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    directory = tmp_path_factory.mktemp("pages") / "store"
    return directory, initialise(directory)


@pytest.fixture(scope="module")
def server(administrator: tuple[Path, str]) -> Iterator[Server]:
    with Server(administrator[0]) as running:
        yield running


def surrounded(server: Server, administrator: tuple[Path, str], project_id: str) -> dict[str, str]:
    """The environment of a client of the server."""
    secret = issued(server.url, administrator[1], project_id)
    return {**os.environ, "RELATUM_CLIENT_URL": server.url, "RELATUM_CLIENT_SECRET": secret}


def ran(code: str, surroundings: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=surroundings,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (0, "") == (done.returncode, done.stderr), done.stderr
    return done.stdout


def test_the_examples_of_the_client_run_from_top_to_bottom(server: Server, administrator: tuple[Path, str]) -> None:
    code = "\n".join(block.code for block in blocks(DOCS / "client.md", "python"))
    assert code.count("assert ") > 10
    ran(code, surrounded(server, administrator, "page"))


def test_the_ten_lines_of_the_readme_run(server: Server, administrator: tuple[Path, str]) -> None:
    surroundings = surrounded(server, administrator, "demo")
    [shown] = [block.code for block in blocks(README, "python") if "relatum.client" in block.code]
    printed = ran(shown.replace("http://127.0.0.1:7474", surroundings["RELATUM_CLIENT_URL"]), surroundings)
    assert "The cable of rack 4 was pulled out." in printed


@pytest.mark.parametrize(("kills", "tickets"), [(2, 60), pytest.param(20, 400, marks=pytest.mark.slow)])
def test_a_worker_killed_beside_a_server_that_is_killed_writes_everything_once(
    tmp_path: Path, kills: int, tickets: int
) -> None:
    assert len(WORKER.read_text().splitlines()) <= 40
    port = str(port_for_nobody_else())
    url = f"http://127.0.0.1:{port}"
    store, queue = tmp_path / "store", tmp_path / "tickets.jsonl"
    lines = ({"number": n, "cause": f"cause {n}", "effect": f"effect {n}"} for n in range(tickets))
    queue.write_text("".join(json.dumps(line) + "\n" for line in lines))
    administrator, draw = initialise(store), random.Random(17)
    server = Server(store, "--port", port)
    surroundings = {
        **os.environ,
        "RELATUM_CLIENT_URL": url,
        "RELATUM_CLIENT_SECRET": issued(url, administrator),
    }
    try:
        for number in range(kills + 1):
            worker = subprocess.Popen(
                [sys.executable, str(WORKER), str(queue)], env=surroundings, stdout=subprocess.PIPE, text=True
            )
            with worker:
                assert worker.stdout is not None
                if number == kills:
                    told = worker.stdout.read().splitlines()
                    assert 0 == worker.wait(WAIT_SECONDS)
                    assert tickets == len(told)
                    continue
                for _ in range(draw.randrange(1, tickets)):
                    assert worker.stdout.readline()
                server.process.kill()
                server.end()
                server = Server(store, "--port", port)
                worker.stdout.readline()
                worker.kill()
        with Client(url, secret=surroundings["RELATUM_CLIENT_SECRET"]) as client:
            memory = client.scope()
            contents = [one.input.content for one in memory.records.list(limit=100) if one.input is not None]
            ends = [one.relation.input.source.record_id for one in memory.relations.list(limit=100)]
    finally:
        server.end()
    assert sorted(f"{end} {n}" for n in range(tickets) for end in ("cause", "effect")) == sorted(contents)
    assert tickets == len(ends) == len(set(ends))
