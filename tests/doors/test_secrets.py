"""Nothing that a client sent is told to anybody else, not by the log, by an error or by a metric, whatever breaks.

A whole session on a real server whose log tells as much as it can: everything that was sent holds a mark, and so do the
texts of exceptions that are raised in the middle of it. Of secrets, the store holds none either.
"""

from __future__ import annotations

import json
import sys
from base64 import urlsafe_b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from relatum.core import digests
from relatum.store.backup.operator_paths import IMAGE_PATH
from tests.backup.scene import files_of
from tests.cli.program import environment, run
from tests.doors.child import AT_DECODING
from tests.http.client import EVERYTHING, Json
from tests.http.serving import Server, initialise
from tests.http.wire import Wire
from tests.support.polling import WAIT_SECONDS, until

MARK = "MARK-5f0b7c"
"""In everything that a client sends and nobody may repeat."""
CHILD = (sys.executable, "-m", "tests.doors.child")
SCOPE: Json = {"project_id": f"{MARK}-project", "agent_id": f"{MARK}-agent", "visibility": "shared"}
COMMANDS = "/api/v1/memory/records/commands"
QUERY = "/api/v1/memory/records/query"


@dataclass
class Session:
    """What was sent and what came back."""

    server: Server
    client: httpx.Client
    operator: str
    """The operator's token; it is among the secrets too."""
    secrets: list[str] = field(default_factory=list)
    errors: list[httpx.Response] = field(default_factory=list)
    image: bytes = b""
    """What a backup is made of."""

    def send(self, method: str, path: str, secret: str, **arguments: object) -> httpx.Response:
        headers = {"authorization": f"Bearer {secret}", "x-note": MARK, "content-type": "application/json"}
        response = self.client.request(method, path, headers=headers, **arguments)  # type: ignore[arg-type] # httpx's own
        if response.status_code >= 400:
            self.errors.append(response)
        return response

    def post(self, path: str, secret: str, **members: object) -> httpx.Response:
        body = {"contract_version": 1, **members}
        return self.send("POST", path, secret, content=json.dumps(body, ensure_ascii=False).encode())

    def issued(self, path: str, secret: str, **members: object) -> Json:
        """A credential; its secret is one of those to look for."""
        answer = self.post(path, secret, **members)
        assert answer.status_code in (200, 201), answer.text
        told: Json = answer.json()
        self.secrets.append(told["secret"])
        return told

    def create(self, secret: str, text: str) -> httpx.Response:
        record = {
            "content": f"{MARK} {text}",
            "title": MARK,
            "tags": [MARK],
            "data": {MARK: MARK},
            "topic_key": f"{MARK} {text}",
        }
        operation = {"type": "create", "record": record}
        return self.post(COMMANDS, secret, scope=SCOPE, idempotency_key=f"{MARK}-{text}", operation=operation)


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("secrets") / "store"


@pytest.fixture(scope="module")
def session(directory: Path) -> Iterator[Session]:
    """A session with everything in it that may go wrong; the server stands at its end, poisoned."""
    admin, operator = initialise(directory), f"{MARK}-operator".ljust(40, "x")
    options = ("--log-level", "debug", "--operator-token-file", str(token_file(directory.parent, operator)))
    with (
        Server(directory, *options, program=CHILD) as server,
        httpx.Client(base_url=server.url, timeout=WAIT_SECONDS) as client,
    ):
        made = Session(server, client, operator, [admin, operator])
        worker = _credentials(made, admin)
        _sound(made, worker)
        _refused(made, worker)
        _no_requests(server, worker)
        _operated(made, operator)
        _faults(made, worker)
        yield made


def token_file(directory: Path, token: str) -> Path:
    path = directory / "operator"
    path.touch(mode=0o600)
    path.write_text(token)
    return path


def _credentials(session: Session, admin: str) -> str:
    path = "/api/v1/credentials"
    spec = {"subject_id": f"{MARK}-subject", "capabilities": [*EVERYTHING, "memory_checkpoint"], "grants": [SCOPE]}
    rotated = session.issued(path, admin, spec=spec)
    rotation = session.issued(f"{path}/{rotated['credential']['id']}/rotate", admin, expected_revision=1)
    assert 401 == session.send("GET", "/api/v1/identity", rotated["secret"]).status_code
    revoked = session.issued(path, admin, spec=spec)
    session.post(f"{path}/{revoked['credential']['id']}/revoke", admin, expected_revision=1)
    assert 401 == session.send("GET", "/api/v1/identity", revoked["secret"]).status_code
    secret: str = rotation["secret"]
    return secret


def _sound(session: Session, worker: str) -> None:
    for text in ("one", "two", "one"):
        assert 200 == session.create(worker, text).status_code
    assert 200 == session.post(QUERY, worker, scope=SCOPE, filter={"text": MARK, "tag": MARK}).status_code


def _refused(session: Session, worker: str) -> None:
    session.post(COMMANDS, worker, scope=SCOPE, idempotency_key=f"{MARK}-one", operation={"type": "delete"})
    session.post(COMMANDS, worker, scope={**SCOPE, "agent_id": f"{MARK}-other"}, idempotency_key=MARK, operation={})
    for body in (
        f'{{"{MARK}": 1}}',
        f'{{"{MARK}": 1, "{MARK}": 2}}',
        f'"{MARK}',
        f'{{"contract_version": "{MARK}"}}',
        json.dumps({"contract_version": 1, "scope": {MARK: MARK}}),
        json.dumps({"contract_version": 1, "scope": SCOPE, "idempotency_key": MARK, "operation": {"type": MARK}}),
        f"{MARK}\udcff",
        f'{{"scope": "{MARK}", "deep": ' + "[" * 100 + "]" * 100 + "}",
    ):
        session.send("POST", COMMANDS, worker, content=body.encode(errors="surrogateescape"))
    for method, path in (
        ("GET", f"/{MARK}"),
        ("POST", f"/api/v1/{MARK}?{MARK}={MARK}"),
        ("PUT", COMMANDS),
        ("GET", f"/api/v1/credentials?contract_version=1&after={MARK}"),
        ("GET", f"/api/v1/credentials/{MARK}"),
    ):
        session.send(method, path, session.secrets[0])
    for token in (
        MARK,
        f"rtm1_{MARK}",
        "rtm1_" + "0" * 32 + "_" + MARK.ljust(43, "x"),
        worker[:-1] + "x",
        worker + "x",
    ):
        session.secrets.append(token)
        assert 401 == session.send("GET", "/api/v1/identity", token).status_code
    assert len(session.errors) > 20


def _no_requests(server: Server, worker: str) -> None:
    for data in (
        f"{MARK}\r\n\r\n",
        f"GET /{MARK} HTTP/9.9\r\n{MARK}: {MARK}\r\n\r\n",
        f"POST / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {worker}\r\nTransfer-Encoding: chunked\r\n\r\n{MARK}\r\n",
        f"GET / HTTP/1.1\r\nHost: a\r\nUpgrade: {MARK}\r\nConnection: Upgrade\r\n{MARK}: {'x' * 100_000}\r\n\r\n",
    ):
        with Wire(server.port) as wire:
            wire.send(data.encode())
            assert MARK.encode() not in wire.answer().body


def _operated(session: Session, operator: str) -> None:
    for token in (session.secrets[0], operator[:-1], operator + "x", MARK):
        assert 401 == session.send("POST", IMAGE_PATH, token).status_code
    answer = session.send("POST", IMAGE_PATH, operator)
    assert 200 == answer.status_code
    session.image = answer.content


def _faults(session: Session, worker: str) -> None:
    for name in AT_DECODING:
        session.create(worker, f"FAULT:{name}")
    assert 500 == session.send("GET", "/api/v1/identity", f"FAULT:authentication-{MARK}").status_code
    filtered = {"text": f"FAULT:scan {MARK}"}
    assert 500 == session.post(QUERY, worker, scope=SCOPE, filter=filtered).status_code
    assert 500 == session.create(worker, "FAULT:command").status_code
    assert 503 == session.create(worker, "FAULT:storage").status_code
    assert 503 == session.create(worker, "after the storage has failed").status_code
    assert 200 == session.post(QUERY, worker, scope=SCOPE, filter={"text": MARK}).status_code


FAULT_LINES = (
    "a request failed inside the server",
    "an exception was not taken by anybody",
    "a thread has ended by an exception",
    "an exception could not be raised",
    "a command failed inside the ledger",
    "a commit failed; writes are refused until a restart",
)


def test_the_log_tells_that_something_broke_and_where_and_nothing_that_was_sent(session: Session) -> None:
    def lines() -> list[Json]:
        return [json.loads(line) for line in session.server.log_path.read_text().splitlines()]

    until(lambda: set(FAULT_LINES) <= {line["message"] for line in lines()}, "a line for every fault")
    traced = [line for line in lines() if line["message"] in FAULT_LINES]
    assert all(line["error_type"] in ("RuntimeError", "StorageFailure") for line in traced)
    assert any("child.py" in line["error_trace"] for line in traced)
    nothing_told(session, session.server.log_path.read_bytes())


def test_no_error_repeats_what_was_sent(session: Session) -> None:
    for response in session.errors:
        nothing_told(session, response.content + repr(response.headers).encode())


@pytest.mark.parametrize("path", ["/metrics", "/health", "/ready", "/openapi.json", "/docs"])
def test_no_page_for_everybody_tells_anything_of_anybody(path: str, session: Session) -> None:
    nothing_told(session, session.client.get(path).content)


def nothing_told(session: Session, text: bytes) -> None:
    assert MARK.encode() not in text
    for secret in session.secrets:
        for part in (secret, secret[-43:]):
            assert part.encode() not in text


def test_the_store_holds_what_secrets_are_compared_with_and_no_secret(session: Session, directory: Path) -> None:
    files = files_of(directory)
    no_secret_in(session, b"\0".join(files.values()))
    diary = b"".join(content for name, content in files.items() if Path(name).name.startswith("LOG"))
    assert len(diary) > 1000
    assert MARK.encode() not in diary


def test_a_backup_holds_no_more(session: Session) -> None:
    no_secret_in(session, session.image)


def no_secret_in(session: Session, everything: bytes) -> None:
    issued = [secret for secret in session.secrets if secret.startswith("rtm1_") and MARK not in secret]
    assert session.operator.encode() not in everything
    assert MARK.encode() in everything, "the search finds what is there"
    assert digests.secret_verifier(issued[0]) in everything
    for secret in issued:
        random = secret[-43:]
        assert random.encode() not in everything
        assert urlsafe_b64decode(random + "=") not in everything


def test_a_setting_that_is_none_is_named_without_what_it_holds(tmp_path: Path) -> None:
    settings = run("serve", tmp_path, "--print-settings", env=environment(RELATUM_SECRET=MARK))
    assert 2 == settings.returncode
    assert "RELATUM_SECRET" in settings.stderr
    assert MARK not in settings.stdout + settings.stderr
