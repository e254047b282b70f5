"""The client's log lines: what became of each attempt, without payload, key, id or header."""

from __future__ import annotations

import logging
from typing import Any

from relatum.client.attempts import Got, Result
from relatum.client.requests import Request

LOGGER = logging.getLogger("relatum.client")


def attempt(request: Request[Any], number: int, result: Result, seconds: float) -> None:
    """One attempt and its outcome."""
    if LOGGER.isEnabledFor(logging.DEBUG):
        outcome = f"{result.status}" if isinstance(result, Got) else type(result).__name__
        LOGGER.debug("%s %s: %s, attempt %d, %.3f s", request.method, request.route, outcome, number, seconds)
