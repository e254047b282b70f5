"""What a thread of the workload is, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from crash_tests.server import Server
from crash_tests.violation import require
from crash_tests.wire import Connection, Unreachable


class Worker(Protocol):
    """What a thread does."""

    def work(self, is_over: Callable[[], bool]) -> None:
        """Until called off, or until the server is gone because it was to go."""
        ...


@contextmanager
def until_gone(server: Server, connections: Iterable[Connection]) -> Iterator[None]:
    """Work that ends when a server is gone that was to go; one that goes by itself is a violation.

    Afterwards the connections are closed.
    """
    try:
        yield
    except Unreachable as error:
        require(server.vanished(), f"the server dropped a connection: {error}{server.log_tail()}")
    finally:
        for connection in connections:
            connection.close()
