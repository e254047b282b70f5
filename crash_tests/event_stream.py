"""Server-sent events as a client reads them: one answer, event by event, over a connection of its own.

An answer that ends in order has a last event; one that breaks off raises `Unreachable`, and what had come of a half
event is forgotten, as a client must. Silence raises `Violation`: an idle stream says so every 15 seconds.
"""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from time import monotonic
from types import TracebackType
from typing import NamedTuple, Self

import msgspec

from crash_tests.history import Json
from crash_tests.violation import Violation, require
from crash_tests.wire import ANSWER_SECONDS_MAX, Response, Unreachable

_END = b"\n\n"
_FIELDS = {"event", "id", "data"}


class Event(NamedTuple):
    """One event; a delivery has no name, and only a place in the stream has an id."""

    name: str
    event_id: str
    data: Json


class EventStream:
    """One request and its events. `refusal` is the answer where there is no stream. A context manager."""

    def __init__(self, port: int, secret: str, path: str, body: bytes, last_event_id: str | None = None) -> None:
        self._path = path
        self._http = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWER_SECONDS_MAX)
        headers = {"Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
        if last_event_id is not None:
            headers["Last-Event-ID"] = last_event_id
        self._read = b""
        self._answer: http.client.HTTPResponse | None = None
        self.refusal: Response | None = None
        with ExitStack() as unless_answered:
            unless_answered.callback(self.close)
            with self._bounded():
                self._http.request("POST", path, body, headers)
                self._answer = self._http.getresponse()
                if self._answer.status != 200:
                    self.refusal = Response(self._answer.status, self._answer.read())
            unless_answered.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connection, which the answer may hold too."""
        if self._answer is not None:
            self._answer.close()
        self._http.close()

    def next(self) -> Event | None:
        """The next event; None once the stream has ended in order."""
        assert self._answer is not None
        while _END not in self._read:
            with self._bounded():
                # Not `readline`, which takes a connection that broke off for an orderly end.
                more = self._answer.read1()
            if not more:
                require(not self._read, f"{self._path} ended in order within an event: {self._read!r}")
                return None
            self._read += more
        event, self._read = self._read.split(_END, 1)
        return parsed(event.decode().split("\n"))

    def rest(self) -> list[Event]:
        """Every event until the stream ends in order; a violation if it goes on for longer than an answer may take."""
        deadline = monotonic() + ANSWER_SECONDS_MAX
        found: list[Event] = []
        while event := self.next():
            found.append(event)
            require(monotonic() < deadline, f"{self._path} did not end within {ANSWER_SECONDS_MAX:g} s")
        return found

    @contextmanager
    def _bounded(self) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            raise Violation(f"{self._path} was silent for {ANSWER_SECONDS_MAX:g} s") from error
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(str(error)) from error


def parsed(lines: list[str]) -> Event:
    """An event of its lines; a violation if they are none of ours."""
    fields = dict(line.split(": ", 1) for line in lines if ": " in line)
    sound = len(fields) == len(lines) and fields.keys() <= _FIELDS and "data" in fields
    require(sound, f"what was sent is no event: {lines}")
    return Event(fields.get("event", ""), fields.get("id", ""), msgspec.json.decode(fields["data"]))
