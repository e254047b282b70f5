"""Whether to send, wait or give up: one generator, which knows neither sockets nor clocks (client.md, retries).

A driver carries out the steps that it yields, and answers each with the time and with what became of it. So a blocking
and an asynchronous client can't behave differently.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final, NamedTuple

import msgspec

from relatum.client import errors
from relatum.client.errors import NotReached, OutcomeUnknown, RelatumError, UnexpectedAnswer
from relatum.client.requests import Request
from relatum.core.answers.errors import ErrorAnswer, ErrorDetail

BUSY: Final = ("retrieval_busy", "write_busy")
FAILED: Final = (500, 502, 503, 504)
"""Statuses of a server that may do better; two of them come from proxies, whose answers have no code."""
FAILURES_MAX: Final = 2
"""How often a 500 is followed by another attempt."""
_PAUSE_LEAST: Final = 0.05
_PAUSE_MOST: Final = 3.2
_ENVELOPE: Final = msgspec.json.Decoder(ErrorAnswer)


class Send(NamedTuple):
    """Make an attempt, and give it so many seconds."""

    seconds: float


class Wait(NamedTuple):
    """Let so many seconds pass."""

    seconds: float


class Refresh(NamedTuple):
    """Read the secret again where it came from; answered by `Refreshed`."""


class Got(NamedTuple):
    """A whole answer."""

    status: int
    media_type: str
    retry_after: float
    body: bytes


class NotSent(NamedTuple):
    """Nothing of the request has left."""

    error: Exception


class Lost(NamedTuple):
    """The request was sent, as far as anybody can tell, and no whole answer came."""

    error: Exception


class Refreshed(NamedTuple):
    """Whether the secret is another one now."""

    changed: bool


Step = Send | Wait | Refresh
Result = Got | NotSent | Lost | Refreshed | None
Steps = Generator[Step, tuple[float, Result], Got]


class Plan(NamedTuple):
    """The bounds of one call, in seconds; `retry` False means one attempt."""

    timeout: float
    deadline: float
    retry: bool


def attempts(request: Request[Any], plan: Plan, now: float, draw: Callable[[], float]) -> Steps:
    """Steps until an answer of a good status is there. `draw` answers numbers from 0 to 1.

    Raises RequestRefused, NotReached, OutcomeUnknown or UnexpectedAnswer.
    """
    ends = now + plan.deadline
    history = _History(request)
    refreshed = False
    while True:
        now, result = yield Send(min(plan.timeout + request.wait, ends - now))
        if isinstance(result, Got) and (200 <= result.status < 300 or result.status in request.also):
            return result
        if isinstance(result, Got) and result.status == 401 and not refreshed:
            refreshed = True
            now, found = yield Refresh()
            if isinstance(found, Refreshed) and found.changed:
                continue
        again, least = history.judge(result)
        seconds = max(pause(history.attempts, draw), least)
        if not (again and plan.retry and now + seconds < ends):
            raise history.failure() from history.cause
        now, _ = yield Wait(seconds)


class _History:
    """What has become of the attempts so far."""

    def __init__(self, request: Request[Any]) -> None:
        self._request = request
        self._taken = False
        self._definite = False
        self._failures = 0
        self._last: RelatumError = NotReached("the server was not reached in time")
        self.attempts = 0
        self.cause: Exception | None = None

    def judge(self, result: Result) -> tuple[bool, float]:
        """Whether another attempt may follow, and after how many seconds at least."""
        self.attempts += 1
        match result:
            case NotSent(error):
                self._last, self.cause = NotReached("the server was not reached in time"), error
                return True, 0.0
            case Lost(error):
                self._taken = True
                self._last, self.cause = self._unknown(), error
                return self._repeatable, 0.0
            case Got():
                self._last, self.cause = _refusal(result, self._request.route), None
                return self._answered(result), result.retry_after
        raise AssertionError("an attempt ends in one of three ways")

    @property
    def _repeatable(self) -> bool:
        return self._request.policy != "once"

    def _answered(self, got: Got) -> bool:
        """Whether another attempt may follow an answer."""
        if got.status not in FAILED:
            self._definite = True
            return False
        if isinstance(self._last, errors.RequestRefused) and self._last.code in BUSY:
            return True
        self._taken = True
        self._failures += got.status == 500
        return self._failures <= FAILURES_MAX and self._repeatable

    def failure(self) -> RelatumError:
        """What to raise now that there is no further attempt."""
        if self._definite or not self._taken or self._request.policy == "read":
            return self._last
        self.cause = self.cause or self._last
        return self._unknown()

    def _unknown(self) -> OutcomeUnknown:
        request = self._request
        return OutcomeUnknown(f"{request.route} was sent and its outcome is unknown", request.key, request.family)


def code_of(got: Got) -> str | None:
    """The code of a refusal; None for an answer that is no envelope of the contract."""
    error = _envelope(got)
    return None if error is None else error.code


def _refusal(got: Got, route: str) -> RelatumError:
    error = _envelope(got)
    if error is not None:
        return errors.refused(got.status, error.code, error.message, route)
    if got.status in FAILED:
        return errors.refused(got.status, "unknown", "an answer without a code", route)
    return UnexpectedAnswer(got.status, got.media_type, got.body)


def _envelope(got: Got) -> ErrorDetail | None:
    try:
        return _ENVELOPE.decode(got.body).error
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def pause(attempts_made: int, draw: Callable[[], float]) -> float:
    """Before attempt n + 1: 0.05 s times 2^n, at most 3.2 s, times a random factor from a half to 1."""
    longest = min(_PAUSE_LEAST * float(2 ** min(attempts_made, 10)), _PAUSE_MOST)
    return longest * (0.5 + draw() / 2)
