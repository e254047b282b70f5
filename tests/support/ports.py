"""A port for a server that is started again where it was."""

from __future__ import annotations

import os
import socket
from contextlib import suppress
from pathlib import Path


def port_for_nobody_else() -> int:
    """A free port below those that the system gives to whoever asks for any, so that nobody gets it meanwhile.

    That includes clients of the server: of those who try to connect to a port that is closed, one may be given the very
    same port for its own end, and is connected with itself.
    """
    given_away = Path("/proc/sys/net/ipv4/ip_local_port_range")
    lowest = int(given_away.read_text().split()[0]) if given_away.exists() else 32_768
    for port in range(lowest - 1 - os.getpid() % 5_000, 1_024, -1):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port
    raise AssertionError("no port is free")
