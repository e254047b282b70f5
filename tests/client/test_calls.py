"""Deadlines, cancellation, recovery, forks, proxies, rotation, and what no text of the client may contain."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os
import pickle
import socket
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx
import msgspec
import pytest

from relatum.client import (
    AsyncClient,
    Client,
    ClientClosed,
    ConfigurationError,
    InvalidRequest,
    NotReached,
    OutcomeUnknown,
    RecordNotFound,
    RelatumError,
    Secret,
    Unauthorized,
    UnexpectedAnswer,
)
from relatum.client.pool import is_loopback
from tests.client.program import SPEC
from tests.client.weather import Weather
from tests.http.serving import Server

SECRET = "rtm1_" + "0" * 32 + "_" + "A" * 43


@contextmanager
def losing(server: Server) -> Iterator[Weather]:
    """A proxy that passes every request on and loses every answer."""
    with Weather(server.port, share=1.0, faults=("lose",)) as proxy:
        yield proxy


def test_a_lost_answer_is_an_unknown_outcome_that_can_be_recovered(server: Server, issue: Callable[[], Secret]) -> None:
    secret = issue()
    with losing(server) as proxy, Client(proxy.url, secret=secret, timeout=1, deadline=0.5) as client:
        with pytest.raises(OutcomeUnknown) as caught:
            client.scope(*_scope(server, secret)).records.create("lost")
        error = caught.value
        assert "record" == error.family
        assert error.idempotency_key is not None
        assert isinstance(error.__cause__, httpx.HTTPError)
    with Client(server.url, secret=secret) as client:
        memory = client.scope()
        receipt = memory.recover(error)
        assert receipt is not None
        again = memory.records.create("lost", idempotency_key=error.idempotency_key)
        assert again == receipt
        script = (
            "import sys; from relatum.client import Client\n"
            "with Client(sys.argv[1]) as client:\n"
            "    print(client.scope().records.create('lost', idempotency_key=sys.argv[2]).record_id)"
        )
        printed = subprocess.run(
            [sys.executable, "-c", script, server.url, error.idempotency_key],
            env={**os.environ, "RELATUM_CLIENT_SECRET": secret.reveal()},
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        assert again.record_id == printed.strip()


def _scope(server: Server, secret: Secret) -> tuple[str, str]:
    with Client(server.url, secret=secret) as client:
        scope = client.scope().scope()
        return scope.project_id, scope.agent_id


def test_what_goes_out_once_is_not_repeated(server: Server, administrator: str) -> None:
    with losing(server) as proxy, Client(proxy.url, secret=administrator, deadline=5) as client:
        with pytest.raises(OutcomeUnknown) as caught:
            client.credentials.issue(SPEC)
        assert None is caught.value.idempotency_key
        assert 1 == proxy.faults["lose"]


def test_what_was_never_sent_is_not_reached() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Client(f"http://127.0.0.1:{port}", secret=SECRET, deadline=0.3) as client, pytest.raises(NotReached):
        client.scope("p", "a").records.create("never")


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_cancelled_command_tells_its_key(server: Server, issue: Callable[[], Secret], backend: str) -> None:
    notes: list[str] = []

    async def cancelled(proxy: Weather, scope: tuple[str, str], secret: Secret) -> None:
        async with AsyncClient(proxy.url, secret=secret) as client:
            with anyio.move_on_after(0.3):
                try:
                    await client.scope(*scope).records.create("cancelled", idempotency_key="the-key")
                except BaseException as error:
                    notes.extend(error.__notes__)
                    raise

    secret = issue()
    with Weather(server.port, share=1.0, delay=2.0, faults=("delay",)) as proxy:
        anyio.run(cancelled, proxy, _scope(server, secret), secret, backend=backend)
    assert ["idempotency key: the-key"] == notes


def test_a_closed_client_ends_its_waits(server: Server) -> None:
    client = Client(server.url, secret=SECRET)
    client.close()
    client.close()
    with pytest.raises(ClientClosed):
        client.health()


def _in_a_child(client: Client, record_id: str, answers: object) -> None:
    record = client.scope().records.get(record_id)
    answers.put(record.record_id)  # type: ignore[attr-defined]


def test_a_forked_child_has_connections_of_its_own(server: Server, issue: Callable[[], Secret]) -> None:
    fork = multiprocessing.get_context("fork")
    with Client(server.url, secret=issue()) as client:
        memory = client.scope()
        created = memory.records.create("before the fork")
        answers = fork.Queue()
        child = fork.Process(target=_in_a_child, args=(client, created.record_id, answers))
        child.start()
        assert created.record_id == answers.get(timeout=30)
        child.join(30)
        assert 0 == child.exitcode
        assert created.record_id == memory.records.get(created).record_id


def test_no_proxy_of_the_environment_comes_before_this_machine(
    server: Server, issue: Callable[[], Secret], monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = issue()
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    with Client(server.url, secret=secret) as client:
        assert "worker" == client.identity().spec.subject_id
    with Client("http://ledger.example", secret=secret, deadline=0.2) as client, pytest.raises(NotReached):
        client.identity()
    assert [True, True, True, False] == [is_loopback(one) for one in ("localhost", "127.1.2.3", "::1", "10.0.0.1")]


def test_a_rotated_secret_is_read_again_from_its_file(
    server: Server, administrator: str, issue: Callable[[], Secret], tmp_path: Path
) -> None:
    secret = issue()
    file = tmp_path / "worker.secret"
    file.write_text(secret.reveal() + "\n")
    file.chmod(0o600)
    with Client(server.url, secret_file=file) as worker, Client(server.url, secret=administrator) as client:
        credential = worker.identity()
        _, fresh = client.credentials.rotate(credential.id, expected_revision=1)
        with pytest.raises(Unauthorized):
            worker.identity()
        file.write_text(fresh.reveal() + "\n")
        assert credential.id == worker.identity().id


def test_settings_are_refused_where_they_are_wrong(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_file = tmp_path / "open.secret"
    open_file.write_text(SECRET)
    open_file.chmod(0o644)
    config = tmp_path / "client.toml"
    for wrong in (
        {"url": "http://user:word@host"},
        {"url": "http://host/path"},
        {"url": "ftp://host"},
        {"secret": SECRET + "\n"},
        {"secret": SECRET, "secret_file": open_file},
        {"secret_file": open_file},
        {"profile": "absent"},
        {"proxy": "nonsense"},
        {"url": "https://host", "verify": "/no/such/file"},
    ):
        with pytest.raises(ConfigurationError) as caught:
            Client(**wrong)
        assert SECRET not in str(caught.value)
    for text in ("[profiles.default]\ncolour = 'red'", "colour = 'red'", "[profiles.default]\nurl = 1", "["):
        config.write_text(text)
        monkeypatch.setenv("RELATUM_CLIENT_CONFIG", str(config))
        with pytest.raises(ConfigurationError):
            Client()
    config.write_text('[profiles.default]\nproject_id = "demo"\nagent_id = "scout"\nvisibility = "private"\n')
    with Client(secret=SECRET) as client:
        assert ("demo", "scout", "private") == (
            client.scope().scope().project_id,
            client.scope().scope().agent_id,
            client.scope().scope().visibility,
        )
    monkeypatch.setenv("RELATUM_CLIENT_COLOUR", "red")
    with pytest.raises(ConfigurationError):
        Client()


def test_no_text_of_the_client_has_the_secret(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    secret = Secret(SECRET)
    texts = [repr(secret), str(secret), repr(pickle.loads(pickle.dumps(secret)))]
    with Client(server.url, secret=secret, deadline=0.3) as client:
        for failing in (client.identity, lambda: client.scope("p", "a").records.create("x")):
            with pytest.raises(RelatumError) as caught:
                failing()
            texts += traceback.format_exception(caught.value)
    with Client("http://127.0.0.1:9", secret=secret, deadline=0.2) as client, pytest.raises(NotReached) as gone:
        client.identity()
    texts += traceback.format_exception(gone.value)
    texts += [record.getMessage() + repr(record.args) for record in caplog.records]
    told = [record.getMessage() for record in caplog.records if record.name == "relatum.client"]
    assert any(line.startswith("GET /api/v1/identity: 401 unauthorized, attempt 1") for line in told)
    assert [] == [text for text in texts if SECRET in text or SECRET[-43:] in text]


def answering(status: int, body: bytes, kind: str = "application/json") -> Client:
    """A client of something that always says the same."""
    answer = httpx.Response(status, content=body, headers={"content-type": kind})
    return Client.over(httpx.MockTransport(lambda request: answer), secret=SECRET, deadline=0.2)


def test_what_later_versions_add_is_passed_over_and_integers_stay_exact() -> None:
    big, bigger = 2**53 + 1, 2**64 - 1
    record = {
        "schema_version": 1,
        "record_id": "01a22fb4-28d1-76d8-86b5-baf9ccb2b8c9",
        "revision": bigger,
        "content_revision": bigger,
        "created_at_millis": big,
        "modified_at_millis": big,
        "author": {"credential_id": "01a22fb4-28d1-76d8-86b5-baf9ccb2b8c9", "subject_id": "s"},
        "state": "hibernating",
        "input": None,
        "review": None,
        "derivation": None,
        "colour": {"of": "a later version"},
    }
    scope = {"project_id": "p", "mission_id": None, "agent_id": "a", "visibility": "shared"}
    body = json.dumps({"contract_version": 1, "scope": scope, "record": record, "news": 1}).encode()
    found = answering(200, body).scope("p", "a").records.get("01a22fb4-28d1-76d8-86b5-baf9ccb2b8c9")
    assert ("hibernating", bigger, big) == (found.state, found.revision, found.created_at_millis)
    encoded = json.loads(msgspec.json.encode(found))
    assert (bigger, big) == (encoded["revision"], encoded["modified_at_millis"])
    assert bigger == answering(200, b'{"n": 18446744073709551615}').call("/x", retry="read")["n"]


def test_what_does_not_speak_the_contract_is_told_from_a_refusal() -> None:
    with pytest.raises(UnexpectedAnswer) as caught:
        answering(200, b"<html>" + b"x" * 500, "text/html").identity()
    assert (200, "text/html", 200) == (caught.value.status, caught.value.media_type, len(caught.value.beginning))
    with pytest.raises(UnexpectedAnswer):
        answering(404, b"no such page", "text/plain").identity()
    envelope = b'{"contract_version":1,"error":{"code":"record_not_found","message":"m","news":1},"news":2}'
    with pytest.raises(RecordNotFound):
        answering(404, envelope).identity()
    with pytest.raises(InvalidRequest):
        answering(400, envelope.replace(b"record_not_found", b"brand_new")).identity()


def test_the_client_is_imported_without_an_engine_or_a_server() -> None:
    script = "import sys, relatum.client; relatum.client.Client, relatum.client.AsyncClient; print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    loaded = set(printed.stdout.split())
    assert not {"rocksdict", "starlette", "uvicorn", "blake3", "anyio", "tomllib", "relatum.ledger"} & loaded
    bare = subprocess.run(
        [sys.executable, "-c", "import sys, relatum.client; print(*sys.modules)"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "httpx" not in bare.stdout.split(), "who imports the package alone does not wait for the HTTP library"
