"""The system calls of a server, as strace tells them, and what they say about durability.

    read from a socket      a command has arrived
    write to a *.log        its rows are on their way
    fdatasync of that log   they are on the disk, once the call has returned 0
    write to a socket       its acknowledgement leaves

What always holds: of a call only what is certain is used: what it wrote is on its way when it has returned, what it
answered leaves when it begins.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec import Struct

from crash_tests.violation import Violation

TRACED = ("read", "recvfrom", "recvmsg", "write", "writev", "pwrite64", "sendto", "sendmsg", "fsync", "fdatasync")
_READS = {"read", "recvfrom", "recvmsg"}
_WRITES = {"write", "writev", "pwrite64", "sendto", "sendmsg"}
_SYNCS = {"fsync", "fdatasync"}

_WHOLE = re.compile(r"(?P<thread>\d+) +(?P<name>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)(?: .*)?$", re.DOTALL)
_BEGUN = re.compile(r"(?P<thread>\d+) +(?P<name>\w+)\((?P<arguments>.*) <unfinished \.\.\.>$", re.DOTALL)
_RESUMED = re.compile(
    r"(?P<thread>\d+) +<\.\.\. (?P<name>\w+) resumed>(?P<arguments>.*)\) += (?P<result>-?\d+)(?: .*)?$", re.DOTALL
)
_TARGET = re.compile(r"\d+<(?P<target>[^>]*)>")


class Call(NamedTuple):
    """One system call: the lines on which it began and ended, and what it was about."""

    name: str
    began: int
    ended: int
    target: str
    """A path, or what kind of socket."""
    arguments: str
    result: int


class Proof(Struct, frozen=True):
    """What a trace has shown."""

    commands: int
    syncs: int
    named_in_log: int
    """Commands whose key was seen on its way into the log; a key that falls on the edge of a log block is not."""


def calls_of(lines: Iterable[str]) -> Iterator[Call]:
    """The calls of a trace in the order in which they ended; a call that never ended is left out."""
    begun: dict[str, tuple[int, str]] = {}
    for number, line in enumerate(lines):
        if (match := _BEGUN.match(line)) is not None:
            begun[match["thread"]] = number, match["arguments"]
        elif (match := _RESUMED.match(line)) is not None:
            began, arguments = begun.pop(match["thread"], (number, ""))
            yield _call(match["name"], began, number, arguments + match["arguments"], match["result"])
        elif (match := _WHOLE.match(line)) is not None:
            yield _call(match["name"], number, number, match["arguments"], match["result"])


def _call(name: str, began: int, ended: int, arguments: str, result: str) -> Call:
    target = _TARGET.match(arguments)
    return Call(name, began, ended, target["target"] if target else "", arguments, int(result))


def prove(lines: Iterable[str], keys: Iterable[str]) -> Proof:
    """That each command, named by its key, was synced before its acknowledgement left. Raises `Violation` if not."""
    calls = list(calls_of(lines))
    received = [call for call in calls if call.name in _READS and _is_socket(call)]
    answered = [call for call in calls if call.name in _WRITES and _is_socket(call)]
    logged = [call for call in calls if call.name in _WRITES and _is_log(call)]
    synced = [call for call in calls if call.name in _SYNCS and _is_log(call) and call.result == 0]
    commands = named = 0
    for key in keys:
        arrived, acknowledged, written = _first(received, key), _first(answered, key), _first(logged, key)
        if arrived is None or acknowledged is None:
            raise Violation(f"the trace shows no arrival or no acknowledgement of {key!r}")
        since = arrived if written is None else written
        if not any(since.ended < sync.began and sync.ended < acknowledged.began for sync in synced):
            raise Violation(f"no completed sync of the log lies between {key!r} and its acknowledgement")
        commands += 1
        named += written is not None
    return Proof(commands, len(synced), named)


def _first(calls: list[Call], key: str) -> Call | None:
    return next((call for call in calls if key in call.arguments), None)


def _is_socket(call: Call) -> bool:
    return call.target.startswith(("TCP", "socket"))


def _is_log(call: Call) -> bool:
    return call.target.endswith(".log")
