"""`relatum serve`: settings, the line when it is ready, errors that are one line, and a stop that loses nothing."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.cli.program import COMMAND, SCOPE, SECONDS_MAX, environment, init, run, serving
from tests.http.serving import Server
from tests.support.matrix import first_of

ERRORS = "Error: "


@pytest.fixture
def store(tmp_path: Path) -> Path:
    directory = tmp_path / "ledger"
    init(directory)
    return directory


def writer(address: str, admin_secret: str) -> dict[str, str]:
    """Headers of a credential that writes and reads."""
    spec = {"subject_id": "worker", "capabilities": ["memory_read", "memory_write"], "grants": [SCOPE]}
    issued = httpx.post(
        f"{address}/api/v1/credentials",
        json={"contract_version": 1, "spec": spec},
        headers={"Authorization": f"Bearer {admin_secret}"},
        timeout=SECONDS_MAX,
    )
    assert 201 == issued.status_code, issued.text
    return {"Authorization": f"Bearer {issued.json()['secret']}"}


def creation(key: str) -> dict[str, Any]:
    operation = {"type": "create", "record": {"content": f"The note of {key}."}}
    return {"contract_version": 1, "scope": SCOPE, "idempotency_key": key, "operation": operation}


def test_it_tells_its_address_in_one_line_and_stops_with_0(store: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        with serving(store) as (server, address):
            assert 200 == httpx.get(f"{address}/ready", timeout=SECONDS_MAX).status_code
            assert 0 == server.stop(number)
            assert "" == server.line()
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{address}/ready", timeout=SECONDS_MAX)


def test_a_stop_under_load_loses_no_receipt(tmp_path: Path) -> None:
    secret = init(tmp_path)["secret"]
    receipts: dict[str, bytes] = {}
    answered = threading.Event()

    def keep_writing(address: str, headers: dict[str, str], name: str) -> None:
        with httpx.Client(base_url=address, headers=headers, timeout=SECONDS_MAX) as client:
            for number in range(100_000):
                key = f"{name}-{number}"
                try:
                    answer = client.post("/api/v1/memory/records/commands", json=creation(key))
                except httpx.TransportError:
                    return  # the server has gone
                if answer.status_code == 200:
                    receipts[key] = answer.content
                if len(receipts) >= 50:
                    answered.set()

    with serving(tmp_path) as (server, address):
        headers = writer(address, secret)
        threads = [threading.Thread(target=keep_writing, args=(address, headers, f"t{n}")) for n in range(4)]
        for thread in threads:
            thread.start()
        assert answered.wait(SECONDS_MAX)
        assert 0 == server.stop()
        for thread in threads:
            thread.join(SECONDS_MAX)
    assert len(receipts) >= 50

    with (
        serving(tmp_path) as (server, address),
        httpx.Client(base_url=address, headers=headers, timeout=SECONDS_MAX) as client,
    ):
        for key, receipt in receipts.items():
            assert receipt == client.post("/api/v1/memory/records/commands", json=creation(key)).content
        assert 0 == server.stop()


def test_a_second_server_on_a_directory_is_refused_with_the_first_one_s_id(store: Path) -> None:
    with serving(store) as (first, address):
        second = run("serve", store, "--port", "0")
        assert (1, "", 1) == (second.returncode, second.stdout, second.stderr.count("\n"))
        assert f"directory in use: {store / 'engine'} is open in process {first.process.pid}" in second.stderr
        assert 200 == httpx.get(f"{address}/ready", timeout=SECONDS_MAX).status_code
        assert 0 == first.stop()


def test_a_port_that_is_taken_is_one_line(store: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = run("serve", store, "--port", str(port))
    assert (1, "", 1) == (refused.returncode, refused.stdout, refused.stderr.count("\n"))
    assert f"{ERRORS}can't listen on 127.0.0.1 port {port}: Address already in use" in refused.stderr


def missing(directory: Path) -> str:
    return "no relatum store in"


def a_file(directory: Path) -> str:
    directory.touch()
    return "no relatum store in"


def empty(directory: Path) -> str:
    directory.mkdir()
    return "no relatum store in"


def without_engine_files(directory: Path) -> str:
    (directory / "engine").mkdir(parents=True)
    return "there is no store in"


def foreign_engine(directory: Path) -> str:
    init(directory)
    for path in (directory / "engine").glob("MANIFEST-*"):
        path.write_bytes(b"of somebody else")
    return "can't open the store"


def without_watermark(directory: Path) -> str:
    init(directory)
    (directory / "watermark").unlink()
    return "the high watermark is missing"


def damaged_watermark(directory: Path) -> str:
    init(directory)
    (directory / "watermark").write_bytes(b"x" * 8192)
    return "the high watermark is damaged"


def lost_log(directory: Path) -> str:
    secret = init(directory)["secret"]
    with serving(directory) as (server, address):
        writer(address, secret)
        server.stop(signal.SIGKILL)  # a server that stops in order leaves nothing in its log
    for path in (directory / "engine").glob("*.log"):
        path.write_bytes(b"")
    return "acknowledged commands are lost"


@pytest.mark.parametrize(
    "unfit",
    first_of(
        [missing, lost_log, foreign_engine, a_file, empty, without_engine_files, without_watermark, damaged_watermark],
        quick=3,
    ),
)
def test_a_directory_that_can_not_be_served_is_one_line_and_status_1(unfit: Any, tmp_path: Path) -> None:
    directory = tmp_path / "ledger"
    expected = unfit(directory)
    refused = run("serve", directory, "--port", "0")
    assert (1, "") == (refused.returncode, refused.stdout)
    assert expected in refused.stderr
    assert refused.stderr.startswith(ERRORS)
    assert "Traceback" not in refused.stderr
    assert 1 == refused.stderr.count("\n")


def printed(*arguments: str | Path, **settings: str) -> Iterator[str]:
    """The settings that would be in force, line by line."""
    shown = run("serve", *arguments, "--print-settings", env=environment(**settings))
    assert (0, "") == (shown.returncode, shown.stderr)
    yield from shown.stdout.splitlines()


def test_options_win_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    config = tmp_path / "relatum.toml"
    config.write_text('directory = "/from/file"\nslots = 1\nread_threads = 2\nport = 3\n')
    given = ("--config", config, "--port", "5")
    lines = set(printed(*given, RELATUM_READ_THREADS="7", RELATUM_PORT="4"))
    assert {'directory = "/from/file"', "slots = 1", "read_threads = 7", "port = 5"} <= lines
    assert {'directory = "/given"', "slots = 1"} <= set(printed("/given", *given))


def test_printed_settings_are_a_file_that_means_the_same(tmp_path: Path) -> None:
    config = tmp_path / "relatum.toml"
    shown = "\n".join(printed(tmp_path / "ledger", "--slots", "9", "--metrics-port", "8"))
    config.write_text(shown)
    assert shown == "\n".join(printed("--config", config))


def searched(address: str, headers: dict[str, str]) -> tuple[int, str | None]:
    """Status and error code of a search, which needs an admission slot."""
    body = {"contract_version": 1, "scope": SCOPE, "filter": {}}
    answer = httpx.post(f"{address}/api/v1/memory/records/query", json=body, headers=headers, timeout=SECONDS_MAX)
    return answer.status_code, answer.json().get("error", {}).get("code")


def test_settings_of_each_source_reach_the_server(tmp_path: Path) -> None:
    secret = init(tmp_path / "ledger")["secret"]
    config = tmp_path / "relatum.toml"
    config.write_text("slots = 0\n")
    with serving(tmp_path / "ledger", "--config", str(config)) as (server, address):
        headers = writer(address, secret)
        assert (503, "retrieval_busy") == searched(address, headers)
        assert 0 == server.stop()
    with serving(tmp_path / "ledger", "--config", str(config), env=environment(RELATUM_SLOTS="1")) as (server, address):
        assert (200, None) == searched(address, headers)
        assert 0 == server.stop()
    with serving(tmp_path / "ledger", "--slots", "0", env=environment(RELATUM_SLOTS="1")) as (server, address):
        assert (503, "retrieval_busy") == searched(address, headers)
        assert 0 == server.stop()


def test_every_problem_of_every_source_is_told_at_once(tmp_path: Path) -> None:
    config = tmp_path / "relatum.toml"
    config.write_text('slots = 5000\ncolour = "red"\n')
    refused = run("serve", "--config", config, env=environment(RELATUM_PORT="high", RELATUM_HOTS="localhost"))
    assert (2, "") == (refused.returncode, refused.stdout)
    assert [
        "Error: these settings can't be right:",
        f"  slots (from the file {config}) must be an integer from 0 to 1024; found 5000",
        f"  colour (from the file {config}) is no setting",
        "  RELATUM_HOTS (from the environment) is no setting; did you mean RELATUM_HOST?",
        "  RELATUM_PORT (from the environment) must be an integer from 0 to 65535 or null; found 'high'",
        "  directory must be given",
    ] == refused.stderr.splitlines()


@pytest.mark.parametrize(
    ("option", "value", "permitted"),
    [
        ("--slots", "1025", "0<=x<=1024"),
        ("--slots", "-1", "0<=x<=1024"),
        ("--port", "65536", "0<=x<=65535"),
        ("--port", "http", "not a valid integer"),
        ("--log-level", "loud", "'debug'"),
    ],
)
def test_an_option_out_of_range_is_told_by_its_name(tmp_path: Path, option: str, value: str, permitted: str) -> None:
    refused = run("serve", tmp_path, option, value)
    assert (2, "") == (refused.returncode, refused.stdout)
    assert f"'{option}'" in refused.stderr
    assert permitted in refused.stderr


@pytest.mark.parametrize("host", first_of(["a..b", "a" * 70, "b" * 70 + ".example"]))
def test_a_host_that_can_be_no_name_is_told_in_one_line(host: str, store: Path) -> None:
    refused = run("serve", store, "--host", host, "--port", "0")
    assert 1 == refused.returncode
    assert f"{ERRORS}can't listen on {host} port 0: " in refused.stderr
    assert "fault" not in refused.stderr


# Started without standard streams


def without(*closed: str) -> tuple[str, ...]:
    """The program, started by a shell that closes some of its streams first."""
    return ("sh", "-c", f'exec "$@" {" ".join(closed)}', "sh", *COMMAND)


@pytest.mark.parametrize("closed", first_of([("<&-", "2>&-"), ("2>&-",)]), ids=" ".join)
def test_a_server_runs_without_a_log(closed: tuple[str, ...], store: Path) -> None:
    with Server(store, program=without(*closed)) as server:
        assert 200 == httpx.get(f"{server.url}/ready", timeout=SECONDS_MAX).status_code
        for number in range(3):
            assert Path(f"/proc/{server.process.pid}/fd/{number}").readlink() in (Path("/dev/null"), _pipe_of(server))
        assert 0 == server.stop()


def _pipe_of(server: Server) -> Path:
    assert server.process.stdout is not None
    return Path(f"/proc/self/fd/{server.process.stdout.fileno()}").readlink()


def test_a_server_runs_without_a_place_to_announce_itself(store: Path) -> None:
    command = [*without(">&-"), "serve", str(store), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            listening = next(line for line in server.stderr if '"listening"' in line or "Error" in line)
            address = json.loads(listening)["address"]
            assert 200 == httpx.get(f"{address}/ready", timeout=SECONDS_MAX).status_code
            server.terminate()
            assert 0 == server.wait(SECONDS_MAX)
        finally:
            server.kill()


@pytest.mark.parametrize("closed", first_of([("<&-", ">&-", "2>&-"), ("<&-",), (">&-",), ("2>&-",)]), ids=" ".join)
def test_other_commands_run_without_streams(closed: tuple[str, ...], store: Path) -> None:
    done = subprocess.run(
        [*without(*closed), "verify", str(store)], capture_output=True, text=True, timeout=SECONDS_MAX, check=False
    )
    assert (0, "") == (done.returncode, done.stderr)
