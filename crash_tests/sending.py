"""Commands on the wire: how they are sent, alone and together, and what their answers look like."""

from __future__ import annotations

from typing import Any

import msgspec

from crash_tests.history import Command
from crash_tests.wire import Connection, Response

COMMANDS = "/api/v1/memory/{family}s/commands"
REFUSALS = {"invalid_request", "record_not_found", "revision_conflict"}
"""With what a command under a key of its own may be refused."""
UNAVAILABLE = {"retrieval_busy", "write_busy"}
"""With what a healthy server may leave an outcome unknown."""


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
    body = command.desk.body(idempotency_key=command.idempotency_key, operation=command.operation)
    return connection.post(COMMANDS.format(family=command.family), body)


def send_batch(connection: Connection, commands: list[Command]) -> Response:
    """Commands of one desk and one family, together."""
    items = [{"idempotency_key": one.idempotency_key, "operation": one.operation} for one in commands]
    path = COMMANDS.format(family=commands[0].family) + "/batch"
    return connection.post(path, commands[0].desk.body(commands=items))


def receipt_in(response: Response) -> bytes:
    """The receipt in an answer to a command."""
    return bytes(response.decode(CommandAnswer).receipt)


def results_in(response: Response) -> list[BatchResult]:
    """The parts of an answer to a batch."""
    return response.decode(BatchAnswer).results
