"""relatum behind a real nginx, with the configuration of docs/deploy/: streams pass as they come, other things too."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator

import httpx
import pytest

from relatum.http.request_id import HEADER
from tests.architecture.project import ROOT
from tests.http.client import RELATIONS, Api, Caller, issue
from tests.http.serving import Server, initialise
from tests.support.polling import WAIT_SECONDS, until

CONFIGURATION = ROOT / "docs" / "deploy" / "nginx.conf"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, str]]:
    directory = tmp_path_factory.mktemp("behind") / "store"
    secret = initialise(directory)
    with Server(directory) as running:
        yield running, secret


@pytest.fixture(scope="module")
def front(server: tuple[Server, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an nginx in front of the server: the file as it is shown, but for addresses and paths."""
    nginx, openssl = shutil.which("nginx"), shutil.which("openssl")
    if nginx is None or openssl is None:
        pytest.skip("this machine has no nginx, or no openssl to make a certificate with")
    place = tmp_path_factory.mktemp("nginx")
    key, certificate, port = place / "tls.key", place / "tls.crt", free_port()
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*made, "-keyout", key, "-out", certificate], capture_output=True, timeout=WAIT_SECONDS, check=True)
    text = CONFIGURATION.read_text()
    for shown, real in {
        "127.0.0.1:7474": f"127.0.0.1:{server[0].port}",
        "listen 443": f"listen 127.0.0.1:{port}",
        "/etc/relatum/tls.crt": str(certificate),
        "/etc/relatum/tls.key": str(key),
        "/run/nginx.pid": str(place / "nginx.pid"),
        "worker_processes auto;": f"worker_processes 1; daemon off; error_log {place}/error.log;",
        "http {": f"http {{ access_log off; client_body_temp_path {place}/body; proxy_temp_path {place}/proxy;"
        f" fastcgi_temp_path {place}/f; uwsgi_temp_path {place}/u; scgi_temp_path {place}/s;",
    }.items():
        assert 1 == text.count(shown), shown
        text = text.replace(shown, real)
    configuration = place / "nginx.conf"
    configuration.write_text(text)
    command = [nginx, "-c", str(configuration), "-e", str(place / "early.log")]
    subprocess.run([*command, "-t"], capture_output=True, timeout=WAIT_SECONDS, check=True)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            until(lambda: answers(port), "nginx listens")
            yield f"https://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(WAIT_SECONDS)


def answers(port: int) -> bool:
    with socket.socket() as visitor:
        return visitor.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def through(front: str) -> Iterator[httpx.Client]:
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
    with httpx.Client(base_url=front, verify=trusting, timeout=WAIT_SECONDS) as client:
        yield client


def test_a_stream_passes_as_it_comes(server: tuple[Server, str], through: httpx.Client) -> None:
    with Api(server[0].url) as api:
        caller = issue(Caller(api, server[1]))
        caller.relate()
        body = {"contract_version": 1, "scope": caller.scope}
        with through.stream("POST", f"{RELATIONS}/changes/stream", json=body, headers=caller.headers) as response:
            assert 200 == response.status_code
            events = (line for line in response.iter_lines() if line.startswith("data: "))
            first = next(events)
            related = caller.relate()["relation_id"]  # only once the first was read, while the stream goes on
            assert related not in first
            assert related in next(events)


def test_names_of_requests_bounds_and_what_stays_inside(server: tuple[Server, str], through: httpx.Client) -> None:
    names = {through.get("/health").headers[HEADER.decode()] for _ in range(2)}
    assert 2 == len(names)
    assert all(len(name) == 32 for name in names), "nginx makes names of 32 digits"
    assert [404, 404] == [through.get(path).status_code for path in ("/metrics", "/operator/v1/image")]
    large = through.post(f"{RELATIONS}/query", content=bytes(70_000), headers={"Authorization": "Bearer x"})
    assert (401, "unauthorized") == (large.status_code, large.json()["error"]["code"])
