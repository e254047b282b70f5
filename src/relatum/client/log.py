"""The client's log lines: what became of each attempt, without payload, key, id or header."""

from __future__ import annotations

import logging
from typing import Any

from relatum.client.attempts import Got, NotSent, Result, code_of
from relatum.client.requests import Request

LOGGER = logging.getLogger("relatum.client")


def attempt(request: Request[Any], number: int, result: Result, seconds: float) -> None:
    """One attempt: method, route, status and code, or that nothing was sent or answered; its number and its time."""
    if LOGGER.isEnabledFor(logging.DEBUG):
        told = (request.method, request.route, _outcome(result), number, seconds)
        LOGGER.debug("%s %s: %s, attempt %d, %.3f s", *told)


def _outcome(result: Result) -> str:
    if not isinstance(result, Got):
        return "not sent" if isinstance(result, NotSent) else "no answer"
    if result.status < 400:
        return str(result.status)
    return f"{result.status} {code_of(result) or 'without a code'}"
