"""Many connections of one client process, none of which waits for another."""

from __future__ import annotations

import json
import resource
import select
import socket
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Any, NamedTuple

from tests.support.polling import WAIT_SECONDS, until

READ_BYTES = 65_536


class Answer(NamedTuple):
    """One answer; `body` is empty where the connection ended without one, and the status 0."""

    status: int
    head: str
    body: bytes

    def refusal(self) -> tuple[int, str]:
        """Status and code of an answer that must be in the envelope, with the headers of every answer."""
        told: dict[str, Any] = json.loads(self.body)
        assert ({"contract_version", "error"}, {"code", "message"}) == (set(told), set(told["error"]))
        assert "cache-control: no-store\r\nx-content-type-options: nosniff\r\n" in self.head
        assert self.status != 503 or "retry-after: 1\r\n" in self.head
        return self.status, told["error"]["code"]


NOTHING = Answer(0, "", b"")


@contextmanager
def crowd(port: int, number: int) -> Iterator[list[socket.socket]]:
    """So many connections; closed at the end, if they are not by then."""
    _allow_open_files(number + 256)
    with ExitStack() as stack:
        address = ("127.0.0.1", port)
        yield [stack.enter_context(socket.create_connection(address, timeout=WAIT_SECONDS)) for _ in range(number)]


def _allow_open_files(number: int) -> None:
    """Let this process have so many open files, if it has the right to."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < number:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(number, hard), hard))


def ended(members: Sequence[socket.socket]) -> int:
    """How many of them the server has ended; what they were sent is thrown away."""
    return sum(_is_ended(member) for member in members)


def until_ended(members: Sequence[socket.socket]) -> None:
    """Returns once the server has ended all of them."""
    until(lambda: ended(members) == len(members), "the end of all connections")


def _is_ended(member: socket.socket) -> bool:
    member.setblocking(False)
    try:
        while member.recv(READ_BYTES):
            pass
    except BlockingIOError:
        return False
    except ConnectionResetError:
        pass
    return True


def offer(member: socket.socket, data: bytes) -> None:
    """Send what can be sent without waiting; a connection that has ended takes nothing."""
    member.setblocking(False)
    with suppress(BlockingIOError, BrokenPipeError, ConnectionResetError):
        member.send(data)


def answers(members: Sequence[socket.socket]) -> list[Answer]:
    """The next answer to each of them, taken as they come."""
    waiting = select.poll()
    arrived: dict[int, bytearray] = {}
    taken: dict[int, Answer] = {}
    by_number = {member.fileno(): member for member in members}
    for number in by_number:
        arrived[number] = bytearray()
        waiting.register(number, select.POLLIN)

    def all_taken() -> bool:
        for number, _ in waiting.poll(1000):
            data = _received(by_number[number])
            arrived[number] += data
            answer = _complete(bytes(arrived[number])) if data else NOTHING
            if answer is not None:
                taken[number] = answer
                waiting.unregister(number)
        return len(taken) == len(by_number)

    until(all_taken, "an answer to all of them")
    return [taken[number] for number in by_number]


def _received(member: socket.socket) -> bytes:
    try:
        return member.recv(READ_BYTES)
    except ConnectionResetError:
        return b""


def _complete(arrived: bytes) -> Answer | None:
    head, blank, body = arrived.partition(b"\r\n\r\n")
    if not blank:
        return None
    lines = head.decode() + "\r\n"
    length = int(lines.lower().partition("content-length: ")[2].partition("\r\n")[0] or 0)
    return Answer(int(lines.split(" ")[1]), lines, body[:length]) if len(body) >= length else None
