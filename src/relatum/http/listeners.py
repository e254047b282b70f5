"""Where a server listens: a port, a Unix socket, or both.

Always holds: what is yielded is closed at the end, and a socket's file is removed; neither another server's is ever
taken over, nor a file of another kind.
"""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

BACKLOG: Final = 1024
SOCKET_MODE: Final = 0o660
"""Who may connect through a socket's file: its owner and its group, as far as its directory lets them."""

_ANSWER_SECONDS: Final = 1.0


class AddressUnavailable(Exception):
    """The address to listen on can't be had. The message is for the operator."""


@contextmanager
def port_listener(host: str, port: int) -> Iterator[socket.socket]:
    """A listener on a port; on `::` for both families, as far as the system has them."""
    with _bound_to_port(host, port) as listener:
        yield listener


def _bound_to_port(host: str, port: int) -> socket.socket:
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        dual = family == socket.AF_INET6 and address[0] == "::" and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, backlog=BACKLOG, dualstack_ipv6=dual)
    except OSError as error:
        raise AddressUnavailable(f"can't listen on {host} port {port}: {error.strerror}") from error
    except ValueError as error:  # what can't even be asked for: an empty label, one that is too long
        raise AddressUnavailable(f"can't listen on {host} port {port}: that is no name of a host") from error


@contextmanager
def file_listener(path: Path) -> Iterator[socket.socket]:
    """A listener on a Unix socket. A file that a server left behind which was killed is replaced."""
    with socket.socket(socket.AF_UNIX) as listener:
        try:
            _remove_deserted(path)
            listener.bind(os.fsencode(path))
            path.chmod(SOCKET_MODE)  # before anybody can connect
            own = path.stat().st_ino
            listener.listen(BACKLOG)
        except OSError as error:
            raise AddressUnavailable(f"can't listen on {path}: {error.strerror or error}") from error
        try:
            yield listener
        finally:
            if path.exists() and path.stat().st_ino == own:
                path.unlink()


def _remove_deserted(path: Path) -> None:
    """Makes room where a socket lies that nobody listens on. Raises AddressUnavailable for anything else."""
    try:
        is_socket = stat.S_ISSOCK(path.lstat().st_mode)
    except FileNotFoundError:
        return
    if not is_socket:
        raise AddressUnavailable(f"can't listen on {path}: there is a file that is no socket")
    with socket.socket(socket.AF_UNIX) as visitor:
        visitor.settimeout(_ANSWER_SECONDS)
        try:
            visitor.connect(os.fsencode(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except TimeoutError:
            pass  # one that is too busy to answer is there
    raise AddressUnavailable(f"can't listen on {path}: another server does")


def address_of(listener: socket.socket) -> str:
    """The real address, the port too where a free one was asked for."""
    if listener.family == socket.AF_UNIX:
        return f"unix:{os.fsdecode(listener.getsockname())}"
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
