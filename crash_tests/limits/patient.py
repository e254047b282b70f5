"""A client of a server that may lack something: what it may be told then, and what not even then."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from crash_tests.client import Client
from crash_tests.ground import Ground
from crash_tests.server import Server
from crash_tests.violation import Violation

Unavailable = frozenset[tuple[int, str]]
"""Statuses and codes that anything may be answered with."""


class Patient(Client):
    """A client to whom commands may be unavailable. Reads of what was acknowledged never are, and replays neither."""

    def __init__(
        self,
        ground: Ground,
        server: Server,
        random: Random,
        on_accepted: Callable[[], None],
        on_unavailable: Callable[[], None],
        tolerated: Unavailable,
    ) -> None:
        super().__init__(ground, server, random, on_accepted)
        self._on_unavailable = on_unavailable
        self._tolerated = tolerated

    def _require_unavailable(self, name: str, status: int, code: str) -> None:
        if (status, code) in self._tolerated:
            self._on_unavailable()
        elif (status, code) != (503, "storage_unavailable"):
            super()._require_unavailable(name, status, code)
        elif name.startswith(("a read", "the replay")):
            raise Violation(f"{name}, of what is published, was answered with {status} {code}")
        else:
            self._on_unavailable()
