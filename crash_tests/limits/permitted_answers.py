"""What clients of a server that lacks something may be told then, and what not even then."""

from __future__ import annotations

from collections.abc import Callable

from crash_tests.command_requests import require_unavailable
from crash_tests.server import Server
from crash_tests.violation import Violation

Tolerated = frozenset[tuple[int, str]]
"""Statuses and codes that anything may be answered with."""


class Patience:
    """Commands may be unavailable, which is counted. Reads of what was acknowledged never are, and replays neither."""

    def __init__(self, server: Server, tolerated: Tolerated, on_unavailable: Callable[[], None]) -> None:
        self._server = server
        self._tolerated = tolerated
        self._on_unavailable = on_unavailable

    def __call__(self, name: str, status: int, code: str) -> None:
        """An answer that leaves an outcome unknown. Raises `Violation` where it may not."""
        if (status, code) in self._tolerated:
            self._on_unavailable()
        elif (status, code) != (503, "storage_unavailable"):
            require_unavailable(self._server, name, status, code)
        elif name.startswith(("a read", "the replay")):
            raise Violation(f"{name}, of what is published, was answered with {status} {code}")
        else:
            self._on_unavailable()
