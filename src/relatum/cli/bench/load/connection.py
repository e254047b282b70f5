"""One connection of the load: a request, its answer, the next request."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from time import perf_counter
from typing import Final

_EXPECTED: Final = b"HTTP/1.1 200"
_LENGTH: Final = b"content-length: "
_HEAD_END: Final = b"\r\n\r\n"


class UnexpectedAnswer(Exception):
    """An answer of another status than 200, or none."""

    def __init__(self, answer: bytes) -> None:
        super().__init__("a request was not answered with 200")
        self.answer = answer[:500]


class Connection(asyncio.Protocol):
    """Sends requests from a source that it shares with the other connections, until there are no more."""

    def __init__(self, requests: Iterator[bytes], latencies: list[float], answers: list[bytes] | None) -> None:
        self.finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._requests = requests
        self._latencies = latencies
        self._answers = answers
        self._received = b""
        self._wanted = 0  # bytes of head and body; 0 until the head is there
        self._body_at = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as it is for streams
        """The connection stands; nothing is sent yet."""
        self._transport = transport

    def begin(self) -> None:
        """Send the next request."""
        request = next(self._requests, None)
        if request is None:
            self.finished.set_result(None)
            return
        self._sent = perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        """Some of an answer, or the last of it."""
        self._received = self._received + data if self._received else data
        if self._wanted == 0 and not self._head_read():
            return
        if len(self._received) < self._wanted:
            return
        self._latencies.append(perf_counter() - self._sent)
        if self._answers is not None:
            self._answers.append(self._received[self._body_at : self._wanted])
        self._received, self._wanted = b"", 0
        self.begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """The server ended it, which it may do only after the last answer."""
        if not self.finished.done():
            self.finished.set_exception(exc or UnexpectedAnswer(self._received))

    def close(self) -> None:
        """End the connection."""
        self._transport.close()

    def _head_read(self) -> bool:
        received = self._received
        end = received.find(_HEAD_END)
        if end < 0:
            return False
        length_at = received.find(_LENGTH, 0, end)
        if not received.startswith(_EXPECTED) or length_at < 0:
            self.finished.set_exception(UnexpectedAnswer(received))
            self._transport.abort()
            return False
        length_at += len(_LENGTH)
        length = int(received[length_at : received.find(b"\r", length_at)])
        self._body_at = end + len(_HEAD_END)
        self._wanted = self._body_at + length
        return True
