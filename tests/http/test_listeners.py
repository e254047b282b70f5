"""Where a server can be reached: both families of addresses, a Unix socket, or both at once."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest

from relatum.http.listeners import AddressUnavailable, file_listener
from tests.cli.program import running
from tests.http.client import IDENTITY
from tests.http.serving import Server, initialise
from tests.support.polling import WAIT_SECONDS


@pytest.fixture(scope="module")
def room() -> Iterator[Path]:
    """A directory with a path that is short enough for a socket."""
    with TemporaryDirectory(prefix="relatum-") as directory:
        yield Path(directory)


def health(url: str, uds: Path | None = None) -> int:
    transport = None if uds is None else httpx.HTTPTransport(uds=str(uds))
    with httpx.Client(transport=transport, timeout=WAIT_SECONDS) as client:
        return client.get(f"{url}/health").status_code


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_a_server_on_every_address_of_ipv6_takes_ipv4_too_and_a_socket_beside_it(room: Path) -> None:
    secret, uds = initialise(room / "store"), room / "relatum.sock"
    with Server(room / "store", "--host", "::", "--uds", str(uds)) as server:
        assert f"http://[::]:{server.port}" == server.url
        assert 200 == health(f"http://127.0.0.1:{server.port}")
        assert 200 == health(f"http://[::1]:{server.port}")
        assert 200 == health("http://relatum", uds)
        assert 0o660 == uds.stat().st_mode & 0o777
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(uds)), timeout=WAIT_SECONDS) as client:
            asked = client.get(f"http://relatum{IDENTITY}", headers={"Authorization": f"Bearer {secret}"})
        assert 200 == asked.status_code
        lines = [json.loads(line) for line in server.log_path.read_text().splitlines()]
        told = [line["address"] for line in lines if line["message"] == "listening"]
        assert [server.url, f"unix:{uds}"] == told
        assert 0 == server.stop()
    assert not uds.exists()


def test_a_server_may_listen_on_a_socket_alone_and_takes_the_place_of_one_that_was_killed(room: Path) -> None:
    initialise(room / "alone")
    uds = room / "alone.sock"
    for kill in (True, False):
        with running("serve", room / "alone", "--uds", uds) as server:
            assert f"relatum listening on unix:{uds}" == server.line()
            assert 200 == health("http://relatum", uds)
            if kill:
                server.process.kill()
                server.process.wait(WAIT_SECONDS)
                assert uds.is_socket()
            else:
                assert 0 == server.stop()


def test_what_lies_where_a_socket_is_wanted_is_left_alone(room: Path) -> None:
    taken = room / "taken"
    taken.write_text("chapter one")
    with pytest.raises(AddressUnavailable, match="a file that is no socket"), file_listener(taken):
        pass
    assert "chapter one" == taken.read_text()
    own = room / "own"
    with file_listener(own):
        with pytest.raises(AddressUnavailable, match="another server does"), file_listener(own):
            pass
        assert own.is_socket()
    assert not own.exists()
    for unfit in (room / "missing" / "sock", room / ("x" * 200)):
        with pytest.raises(AddressUnavailable, match=f"can't listen on {unfit}: "), file_listener(unfit):
            pass


def test_a_socket_that_somebody_has_replaced_is_not_removed(room: Path) -> None:
    path = room / "replaced"
    with file_listener(path):
        os.replace(path, room / "moved")  # noqa: PTH105 - what another server does
        path.write_text("another's")
    assert "another's" == path.read_text()
