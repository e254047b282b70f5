"""A bare connection, for what a well-behaved client would never send."""

from __future__ import annotations

import json
import socket
from types import TracebackType
from typing import Any, NamedTuple, Self

from tests.http.client import Caller
from tests.support.polling import WAIT_SECONDS


class Answer(NamedTuple):
    """One HTTP answer as it came over the wire."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


class Wire:
    """One TCP connection to a server; every wait on it is bounded."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=WAIT_SECONDS)
        self._arrived = b""

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def begin(self) -> None:
        """Waits for an answer to begin, and takes as little of it as can be."""
        self._arrived += self._socket.recv(1)

    def reset(self) -> None:
        """Close without a farewell: the other end sees a reset."""
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self._socket.close()

    def answer(self) -> Answer:
        """The next answer."""
        head = self._until(b"\r\n\r\n").decode()
        status, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        length = int(headers.get("content-length", "0"))
        while len(self._arrived) < length:
            self._more()
        body, self._arrived = self._arrived[:length], self._arrived[length:]
        return Answer(int(status.split(" ")[1]), headers, body)

    def is_closed(self) -> bool:
        """Waits for the other end to close, and says whether it did so without another word."""
        try:
            return self._arrived == b"" and self._socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._arrived:
            self._more()
        found, _, self._arrived = self._arrived.partition(mark)
        return found + mark

    def _more(self) -> None:
        data = self._socket.recv(65536)
        assert data, f"the connection was closed after {self._arrived!r}"
        self._arrived += data

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()


def head(method: str, path: str, *lines: str) -> bytes:
    """The head of a request, complete."""
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: relatum", *lines, "", ""]).encode()


def post(caller: Caller, path: str, **members: Any) -> bytes:
    """A scoped request, complete: its head and its body."""
    body = json.dumps({"contract_version": 1, "scope": caller.scope, **members}).encode()
    lines = [f"Authorization: Bearer {caller.secret}", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    return head("POST", path, *lines) + body
