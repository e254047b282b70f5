"""HTTP as a client sees it: one connection, requests and answers as bytes, and the three ways in which it can end.

An answer is a `Response`. A connection that breaks, for instance because the server was killed, raises `Unreachable`:
the outcome is unknown. An answer that does not come raises `Violation`: the server hangs.
"""

from __future__ import annotations

import http.client
from typing import Any, NamedTuple, TypeVar

import msgspec

from crash_tests.violation import Violation

ANSWER_SECONDS_MAX = 60.0

T = TypeVar("T")


class Unreachable(Exception):
    """The connection broke before a whole answer had come."""


class ErrorPart(msgspec.Struct):
    """What is wrong."""

    code: str
    message: str


class ErrorAnswer(msgspec.Struct):
    """The envelope of every error."""

    contract_version: int
    error: ErrorPart


class Response(NamedTuple):
    """One answer. `body` is as it came."""

    status: int
    body: bytes

    def decode(self, kind: type[T]) -> T:
        """The body as a value of `kind`; a violation if it is none."""
        try:
            return msgspec.json.decode(self.body, type=kind)
        except msgspec.MsgspecError as error:
            raise Violation(f"an answer is no {kind.__name__}: {error}; {self.status} {self.body[:600]!r}") from error

    def json(self) -> dict[str, Any]:
        """The body as an object."""
        return self.decode(dict)

    @property
    def code(self) -> str:
        """The code of an error."""
        return self.decode(ErrorAnswer).error.code


class Connection:
    """A kept-alive connection under one secret. For one thread."""

    def __init__(self, port: int, secret: str) -> None:
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS_MAX)
        self._headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}

    def post(self, path: str, body: bytes) -> Response:
        """One request and its whole answer."""
        return self._ask("POST", path, body)

    def get(self, path: str) -> Response:
        """The same without a body."""
        return self._ask("GET", path, None)

    def close(self) -> None:
        """Let go of the connection."""
        self._http.close()

    def _ask(self, method: str, path: str, body: bytes | None) -> Response:
        try:
            self._http.request(method, path, body, self._headers)
            with self._http.getresponse() as answer:  # it holds the socket where the connection is not kept
                return Response(answer.status, answer.read())
        except TimeoutError as error:
            self._http.close()
            raise Violation(f"no answer from {path} within {ANSWER_SECONDS_MAX:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            self._http.close()
            raise Unreachable(str(error)) from error
