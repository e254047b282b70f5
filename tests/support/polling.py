"""Waiting for a condition, with a bound."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

WAIT_SECONDS = 60.0
"""The longest that a test waits for something that must come, so that only a test that fails waits so long."""


def until(condition: Callable[[], bool], what: str = "it") -> None:
    """Returns once the condition holds; `what` is said of one that doesn't come about in time."""
    deadline = monotonic() + WAIT_SECONDS
    while not condition():
        assert monotonic() < deadline, f"{what} did not come about in time"
