"""How a client verb ends: which status an end has, and how it is told on standard error.

`told` is the one place that knows the exceptions of `relatum.client`; a verb lets them pass.
"""

from __future__ import annotations

import shlex
import sys
from enum import IntEnum
from typing import IO, Any

import click
import msgspec


class Status(IntEnum):
    """The exit statuses of docs/command-line.md."""

    DONE = 0
    REFUSED = 1
    WRONG = 2
    UNREACHED = 3
    FORBIDDEN = 4
    INTERRUPTED = 130


class Ended(click.ClickException):
    """The end of a verb that failed: a code, a message, perhaps an HTTP status and an idempotency key.

    `again` are the words of the command that repeats it, where that is safe and worth it.
    """

    def __init__(
        self,
        code: str,
        message: str,
        exit_code: Status = Status.WRONG,
        *,
        status: int | None = None,
        key: str | None = None,
        details: object = None,
    ) -> None:
        super().__init__(message)
        self.exit_code = int(exit_code)  # type: ignore[misc]  # click reads it of the instance
        self.code = code
        self.status = status
        self.key = key
        self.details = details
        self.again: list[str] | None = None
        self.as_json = False

    def show(self, file: IO[Any] | None = None) -> None:
        """One line; behind an unknown outcome a second one, to repeat the command."""
        stream = sys.stderr if file is None else file
        if self.as_json:
            click.echo(msgspec.json.encode({"error": self._members()}), file=stream)
            return
        where = "" if self.status is None else f"{self.status} {self.code}: "
        click.echo(f"error: {where}{self.message}", file=stream)
        if self.details is not None:
            click.echo(msgspec.json.encode(self.details), file=stream)
        if self.key is not None and self.again is not None:
            click.echo(f"run it again: {shlex.join(self.again)}", file=stream)

    def _members(self) -> dict[str, object]:
        members: dict[str, object] = {"code": self.code, "message": self.message, "status": self.status}
        if self.key is not None:
            members["idempotency_key"] = self.key
        if self.details is not None:
            members["details"] = self.details
        return members


def wrong(message: str) -> Ended:
    """A command line, a profile or a file that can't be right: status 2."""
    return Ended("usage", message)


def not_found(message: str) -> Ended:
    """What was asked for is not there: status 1, as if the server had said so."""
    return Ended("record_not_found", message, Status.REFUSED, status=404)
