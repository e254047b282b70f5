"""How a server ends: what runs is finished, what was acknowledged is there, and the exit status is 0."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.http.client import RECEIPTS, RECORDS, Api, Caller, fresh, issue
from tests.http.serving import Server, initialise
from tests.http.wire import Wire, head, post
from tests.support.matrix import first_of
from tests.support.polling import WAIT_SECONDS, until

STOPS = [signal.SIGTERM, signal.SIGINT]


def wait_until_refused(port: int) -> None:
    """Returns once nobody listens on the port any more."""
    for _ in range(10_000):
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS) as probe:
                probe.settimeout(0.01)
                try:
                    probe.recv(1)
                except TimeoutError:
                    continue
        except ConnectionRefusedError:
            return
        except ConnectionResetError:
            continue
    raise AssertionError("the server still listens")


@pytest.mark.parametrize("number", first_of(STOPS))
def test_a_stop_finishes_a_running_request_and_ends_with_0(number: signal.Signals, tmp_path: Path) -> None:
    directory, key = tmp_path / "store", fresh("key")
    secret = initialise(directory)
    with Server(directory) as server:
        with Api(server.url) as api:
            caller = issue(Caller(api, secret))
        create = {"type": "create", "record": {"content": "c"}}
        request = post(caller, f"{RECORDS}/commands", idempotency_key=key, operation=create)
        with Wire(server.port) as running, Wire(server.port) as idle:
            idle.send(head("GET", "/health"))
            assert 200 == idle.answer().status
            running.send(request[:-5])
            running.send(b"")
            _wait_until_arrived(server)
            server.process.send_signal(number)
            wait_until_refused(server.port)
            assert idle.is_closed()
            running.send(request[-5:])
            answer = running.answer()
            assert (200, "close") == (answer.status, answer.headers["connection"])
            assert running.is_closed()
        assert 0 == server.process.wait(WAIT_SECONDS)
    with Server(directory) as server, Api(server.url) as api:
        found = Caller(api, caller.secret, caller.scope).ask(RECEIPTS, family="record", idempotency_key=key)
        assert answer.json()["receipt"] == found.json()["receipt"]


def _wait_until_arrived(server: Server) -> None:
    """Returns once the server has read what was sent on connections before this one."""
    with Wire(server.port) as probe:
        probe.send(head("GET", "/health"))
        assert 200 == probe.answer().status


def test_a_request_that_does_not_end_is_given_up_when_the_time_to_drain_is_over(tmp_path: Path) -> None:
    secret = initialise(tmp_path / "store")
    with Server(tmp_path / "store", "--drain-timeout-seconds", "1") as server:
        with Api(server.url) as api:
            caller = issue(Caller(api, secret))
        with Wire(server.port) as stuck:
            stuck.send(post(caller, f"{RECORDS}/query", filter={})[:-5])
            _wait_until_arrived(server)
            assert 1 == server.stop()
    assert "the time to drain was over" in server.log_path.read_text()


def test_a_second_signal_does_not_wait(tmp_path: Path) -> None:
    secret = initialise(tmp_path / "store")
    with Server(tmp_path / "store", "--drain-timeout-seconds", "600") as server:
        with Api(server.url) as api:
            caller = issue(Caller(api, secret))
        with Wire(server.port) as stuck:
            stuck.send(post(caller, f"{RECORDS}/query", filter={})[:-5])
            _wait_until_arrived(server)
            server.process.terminate()
            wait_until_refused(server.port)
            assert 1 == server.stop()


def test_a_port_that_is_taken_is_a_clear_message(tmp_path: Path) -> None:
    initialise(tmp_path / "store")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = subprocess.run(
            [sys.executable, "-m", "relatum", "serve", str(tmp_path / "store"), "--port", str(port)],
            capture_output=True,
            text=True,
            timeout=WAIT_SECONDS,
            check=False,
        )
    assert 0 != done.returncode
    assert "" == done.stdout
    assert f"can't listen on 127.0.0.1 port {port}" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_server_on_ipv6_announces_an_address_that_works(tmp_path: Path) -> None:
    initialise(tmp_path / "store")
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6")
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6")
    with Server(tmp_path / "store", "--host", "::1") as server, Api(server.url) as api:
        assert "[::1]" in server.url
        assert 200 == api.send("GET", "/health").status_code


STUCK = """
import sys
from threading import Event
from relatum.cli import main
from relatum.http.server_state import Services
from relatum.ledger.judgments import Judging

def close(services, seconds, close=Services.close):
    print("the event loop has ended", file=sys.stderr, flush=True)
    return close(services, seconds)

Services.close = close
Judging.sweep_due = lambda *_: Event().wait()
main(prog_name="relatum")
"""
"""The program, with a thread that never comes to an end."""


@pytest.mark.parametrize("number", first_of(STOPS))
def test_a_second_signal_does_not_wait_for_threads_either(number: signal.Signals, tmp_path: Path) -> None:
    initialise(tmp_path / "store")
    program = (sys.executable, "-c", STUCK)
    with Server(tmp_path / "store", "--drain-timeout-seconds", "600", program=program) as server:
        server.process.send_signal(number)
        until(lambda: "the event loop has ended" in server.log_path.read_text(), "the end of the loop")
        server.process.send_signal(number)
        assert 1 == server.process.wait(WAIT_SECONDS)
    assert "the time to drain was over" in server.log_path.read_text()


@pytest.mark.parametrize("signals", first_of([1, 2]))
def test_a_thread_that_does_not_end_is_given_up_like_a_request(signals: int, tmp_path: Path) -> None:
    initialise(tmp_path / "store")
    seconds = "1" if signals == 1 else "600"
    with (
        Server(tmp_path / "store", "--drain-timeout-seconds", seconds, program=(sys.executable, "-c", STUCK)) as server,
        Wire(server.port) as idle,
    ):
        idle.send(head("GET", "/health"))
        assert 200 == idle.answer().status
        if signals == 2:
            idle.send(head("POST", "/health", "Content-Length: 5"))
            _wait_until_arrived(server)
            server.process.terminate()
            wait_until_refused(server.port)
        assert 1 == server.stop()
    assert "the time to drain was over" in server.log_path.read_text()
