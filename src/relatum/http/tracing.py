"""What traces requests, where something does: an interface, so that nothing of it is imported where nothing does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from starlette.types import Scope

from relatum.http.responses import Response
from relatum.telemetry import WriteSpans

Answered = Callable[[Response], None]
"""Tells how a request was answered."""


class RequestSpans(WriteSpans, Protocol):
    """Spans of requests, and of what the writer does for them."""

    def request(self, scope: Scope, method: str, route: str) -> AbstractContextManager[Answered]:
        """One request, by its route's template."""

    def view(self) -> AbstractContextManager[object]:
        """What the current request reads."""

    def close(self) -> None:
        """Sends what is left."""
