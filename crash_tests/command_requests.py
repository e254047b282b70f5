"""Commands on the wire: how they are sent, alone and together, and what their answers look like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from crash_tests.history import Command, Desk, Family, Json, Stream
from crash_tests.server import Server
from crash_tests.violation import Violation
from crash_tests.wire import Connection, Response

COMMANDS = "/api/v1/memory/{family}s/commands"
CHECKPOINTS = "/api/v1/memory/{stream}s/checkpoints"
_OF_OBJECTS = {"invalid_request", "record_not_found", "revision_conflict"}
REFUSALS: dict[Family, set[str]] = {
    "record": _OF_OBJECTS,
    "relation": _OF_OBJECTS,
    "checkpoint": {"invalid_request", "revision_conflict", "journal_history_conflict", "checkpoint_regression"},
}
"""With what a command under a key of its own may be refused."""
UNAVAILABLE = {"retrieval_busy", "write_busy"}
"""With what a healthy server may leave an outcome unknown."""


Unsettled = Callable[[str, int, str], None]
"""Told of an answer, by the name of what was asked, its status and its code, that leaves the outcome unknown.

Raises `Violation` where the server may not answer so.
"""


class CommandAnswer(msgspec.Struct):
    """What a command is answered with; the receipt is kept as it came."""

    contract_version: int
    receipt: msgspec.Raw


class BatchResult(msgspec.Struct):
    """One command's part of the answer to a batch."""

    receipt: msgspec.Raw = msgspec.Raw()
    error: dict[str, Any] | None = None


class BatchAnswer(msgspec.Struct):
    """What a batch is answered with."""

    contract_version: int
    results: list[BatchResult]


def send(connection: Connection, command: Command) -> Response:
    """One command by itself."""
    if command.owner is not None:
        body = msgspec.json.encode({"scope": command.desk.scope, "command": _saving(command)})
        return connection.post(CHECKPOINTS.format(stream=command.owner.stream), body)
    body = command.desk.body(idempotency_key=command.idempotency_key, operation=command.operation)
    return connection.post(COMMANDS.format(family=command.family), body)


def _saving(command: Command) -> Json:
    assert command.owner is not None
    before = command.before or {"revision": 0, "checkpoint_digest": None}
    return {
        "contract_version": 1,
        "idempotency_key": command.idempotency_key,
        "consumer_id": command.owner.consumer_id,
        "expected_revision": before["revision"],
        "expected_checkpoint_digest": before["checkpoint_digest"],
        "operation": command.operation,
    }


def send_batch(connection: Connection, commands: list[Command]) -> Response:
    """Commands of one desk and one family, together."""
    items = [{"idempotency_key": one.idempotency_key, "operation": one.operation} for one in commands]
    path = COMMANDS.format(family=commands[0].family) + "/batch"
    return connection.post(path, commands[0].desk.body(commands=items))


def activate(connection: Connection, desk: Desk, stream: Stream) -> Response:
    """Asks for a stream to be activated."""
    return connection.post(f"/api/v1/memory/{stream}s/changes/activate", desk.body())


def receipt_in(response: Response) -> bytes:
    """The receipt in an answer to a command."""
    return bytes(response.decode(CommandAnswer).receipt)


def results_in(response: Response) -> list[BatchResult]:
    """The parts of an answer to a batch."""
    return response.decode(BatchAnswer).results


def require_unavailable(server: Server, name: str, status: int, code: str) -> None:
    """The outcome is unknown, for a reason that a server in this state may have; a violation for any other."""
    allowed = UNAVAILABLE | ({"storage_unavailable"} if server.stopping else set())
    if status != 503 or code not in allowed:
        raise Violation(f"{name} was answered with {status} {code}{server.log_tail()}")
