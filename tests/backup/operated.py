"""A served store with an operator, and the program's commands as processes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from relatum.core.commands import CreateRecord
from relatum.core.records import RecordInput
from relatum.entropy import SystemEntropy
from relatum.ledger import Ledger
from tests.cli.program import run
from tests.http.serving import Server, initialise
from tests.support.desk import Desk

TOKEN = "a token of the operator that nobody guesses".replace(" ", "-")
LARGE_RECORDS = 500
LARGE_CONTENT_BYTES = 40_000


def token_file(directory: Path, token: str = TOKEN, mode: int = 0o600) -> Path:
    """A file as `operator_token_file` wants it."""
    path = directory / "operator.token"
    path.write_text(f"{token}\n")
    path.chmod(mode)
    return path


def make_large(directory: Path) -> None:
    """More in a store than any connection's buffers take: 20 MB that can't be compressed."""
    with Ledger.open(directory) as ledger:
        desk = Desk(ledger)
        for _ in range(LARGE_RECORDS):
            content = SystemEntropy().draw(LARGE_CONTENT_BYTES // 2).hex()
            desk.accept(CreateRecord(record=RecordInput(content=content)))


@contextmanager
def operated(directory: Path, *options: str) -> Iterator[tuple[Server, str]]:
    """A server with an operator on a new store in `directory`, or on the one there; and its administrator's secret."""
    secret = "" if directory.exists() else initialise(directory)
    token = token_file(directory.parent)
    with Server(directory, "--operator-token-file", str(token), *options) as server:
        yield server, secret


def command(server: Server, name: str, *arguments: Path) -> CompletedProcess[str]:
    """`relatum NAME URL …` with the operator's token."""
    token = Path(server.log_path.parent) / "operator.token"
    return run(name, server.url, *arguments, "--operator-token-file", token)


def done(ran: CompletedProcess[str]) -> dict[str, Any]:
    """What a command printed that must have succeeded."""
    assert 0 == ran.returncode, ran.stderr
    printed: dict[str, Any] = json.loads(ran.stdout)
    return printed


def refused(ran: CompletedProcess[str]) -> str:
    """What a command said that must have been refused by the world, without a traceback."""
    assert (1, "") == (ran.returncode, ran.stdout), ran
    assert "Traceback" not in ran.stderr
    return ran.stderr
