"""One run of a verb: its common options, the client made of them, and requests in its scope.

A verb asks by `read`, gives commands by `command`, and is answered the members of the answer as the wire has them.
Both look at nothing in between, so that an answer keeps members that this version does not know.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Self

import click
import msgspec

from relatum.cli.client.output import Form, Json, Output
from relatum.cli.client.statuses import wrong
from relatum.cli.client.values import RecordAt
from relatum.limits import CONTRACT_VERSION

if TYPE_CHECKING:
    from relatum.client import Client, Memory

Retry = Literal["read", "command", "once"]

_API: Final = "/api/v1/"
_MEMORY: Final = "memory/"
_KEY_BYTES: Final = 16


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options that all client verbs share. A verb without a scope or without commands has no use for some."""

    profile: str | None = None
    url: str | None = None
    secret_file: Path | None = None
    project: str | None = None
    agent: str | None = None
    mission: str | None = None
    visibility: Literal["shared", "private"] | None = None
    output: Form | None = None
    deadline: float | None = None
    key: str | None = None
    dry_run: bool = False
    quiet: bool = False
    debug: bool = False


class Session:
    """A context manager; what it opened is closed at its end."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.output = Output(options.output)
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    @cached_property
    def key(self) -> str:
        """The idempotency key of the verb's command: the one given, else a random one."""
        from relatum.entropy import SystemEntropy

        return self.options.key or SystemEntropy().draw(_KEY_BYTES).hex()

    def note(self, text: str) -> None:
        """A line for people on standard error, unless they asked for quiet."""
        if not self.options.quiet:
            click.echo(text, err=True)

    def read(self, path: str, **members: Any) -> Json:
        """What a scoped read below `/api/v1/memory/` answers; members that are None are left out."""
        return self.send(_MEMORY + path, self.scoped(members), "read")

    def command(self, path: str, **members: Any) -> Json:
        """What a command below `/api/v1/memory/` answers, given under the verb's key; printed instead if dry."""
        body = self.scoped({"idempotency_key": self.key} | members)
        if self.options.dry_run:
            self.print_request("POST", _API + _MEMORY + path, body)
        return self.send(_MEMORY + path, body, "command")
