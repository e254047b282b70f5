"""What stands where a server and a connection would, and gives the answers that it was given."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from crash_tests.wire import Response


@dataclass
class Scripted:
    """Stands where a connection would: gives the next of the answers it was given."""

    answers: list[Response] = field(default_factory=list)

    def __call__(self, port: int, secret: str) -> Scripted:
        return self

    def told(self, status: int, body: bytes) -> None:
        """One more answer."""
        self.answers.append(Response(status, body))

    def post(self, path: str, body: bytes) -> Response:
        return self.answers.pop(0)


@dataclass
class Running:
    """Stands where a server would."""

    port: int = 0
    stopping: bool = False

    def vanished(self) -> bool:
        return self.stopping

    def log_tail(self) -> str:
        return ""


def answer(told: bytes) -> bytes:
    return b'{"contract_version":1,"receipt":' + told + b"}"


def error(code: str) -> bytes:
    return msgspec.json.encode({"contract_version": 1, "error": {"code": code, "message": ""}})
