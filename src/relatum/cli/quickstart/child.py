"""The server as a process of its own: started, waited for, stopped. It is the server that `relatum serve` starts."""

from __future__ import annotations

import os
import re
import select
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import IO, Final

import click

from relatum.http.settings import ENVIRONMENT_PREFIX

READY_SECONDS_MAX: Final = 60.0
STOP_SECONDS_MAX: Final = 60.0

_HOST: Final = "127.0.0.1"
_ADDRESS: Final = re.compile(rb"https?://\S+")


def require_free(port: int) -> None:
    """Ends the command if a port is taken: better now than when there is a store already."""
    try:
        socket.create_server((_HOST, port)).close()
    except OSError as error:
        raise click.ClickException(f"can't listen on {_HOST} port {port}: {error.strerror}") from error


class Server:
    """A running server: where it answers, and its process."""

    def __init__(self, address: str, process: subprocess.Popen[bytes]) -> None:
        self.address = address
        self._process = process

    def wait(self) -> int:
        """Waits until the server ends by itself; its exit status."""
        return self._process.wait()


@contextmanager
def serving(directory: Path, port: int) -> Iterator[Server]:
    """A server on `directory`, ready to answer; stopped in order when the block is left."""
    options = ["--host", _HOST, "--port", str(port), "--log-level", "warning"]
    process = subprocess.Popen(  # noqa: S603 - this program itself, with a path and a number
        [sys.executable, "-m", "relatum", "serve", str(directory), *options],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        env=_environment(),
        # A Ctrl-C reaches this process alone, which then stops the server in order.
        process_group=0,
    )
    try:
        yield Server(_address(process), process)
    finally:
        _stop(process)


def _environment() -> dict[str, str]:
    """This process's environment without settings, which are meant for a server of the user's own."""
    return {name: value for name, value in os.environ.items() if not name.startswith(ENVIRONMENT_PREFIX)}


def _address(process: subprocess.Popen[bytes]) -> str:
    """The address in the server's first line. What it says on standard error the user has seen already."""
    assert process.stdout is not None
    found = _ADDRESS.search(_line(process.stdout, READY_SECONDS_MAX))
    if found is None:
        raise click.ClickException("the server did not start")
    return found.group().decode()


def _line(stream: IO[bytes], seconds_max: float) -> bytes:
    """The first line of a stream; less of it if the stream ends or takes too long."""
    deadline, read = monotonic() + seconds_max, bytearray()
    while not read.endswith(b"\n"):
        ready, _, _ = select.select([stream], [], [], max(0.0, deadline - monotonic()))
        chunk = os.read(stream.fileno(), 4096) if ready else b""
        if not chunk:
            break
        read += chunk
    return bytes(read)


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    assert process.stdout is not None
    process.stdout.close()
