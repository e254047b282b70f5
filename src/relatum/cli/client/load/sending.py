"""Sends what a load has planned, in the order of the lines, with one request in flight at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from relatum.cli.client.load.forms import Family
from relatum.cli.client.load.names import Names
from relatum.cli.client.load.plan import Planned, Rejected
from relatum.cli.client.output import Json
from relatum.cli.client.session import Session
from relatum.limits import BATCH_BODY_BYTES_MAX, COMMAND_BATCH_MAX, KIB

_BATCH_BYTES: Final = BATCH_BODY_BYTES_MAX - 8 * KIB  # leaves room for the scope

Settled = tuple[Planned, Json] | Rejected
"""What became of a line: its receipt, or why it was refused."""


class Batch:
    """Consecutive lines whose commands fit one request. Lines that are refused already keep their place among them."""

    def __init__(self, commands_max: int = COMMAND_BATCH_MAX) -> None:
        self._commands_max = commands_max
        self.lines: list[Planned | Rejected] = []
        self.family: Family | None = None
        self.pending: set[str] = set()
        self._commands = self._bytes = 0

    def takes(self, line: Planned) -> bool:
        """Whether a command can go with those that are there."""
        if self._commands == 0:
            return True
        fits = self._commands < self._commands_max and self._bytes + line.size <= _BATCH_BYTES
        return fits and line.family == self.family != "link"

    @property
    def is_full(self) -> bool:
        """Whether it should be sent before anything else is read."""
        return len(self.lines) >= COMMAND_BATCH_MAX or self._commands >= self._commands_max

    def add(self, line: Planned | Rejected) -> None:
        """Takes a line in."""
        self.lines.append(line)
        if isinstance(line, Planned):
            self.family = line.family
            self._commands += 1
            self._bytes += line.size
            if line.name is not None:
                self.pending.add(line.name)


class Sender:
    """Sends batches, and learns from receipts what names stand for."""

    def __init__(self, session: Session, names: Names) -> None:
        self._session = session
        self._names = names

    def send(self, batch: Batch) -> Iterator[Settled]:
        """What became of each line of a batch, in order."""
        commands = [line for line in batch.lines if isinstance(line, Planned)]
        outcomes = iter(self._outcomes(commands))
        for line in batch.lines:
            if isinstance(line, Rejected):
                yield line
                continue
            outcome = next(outcomes)
            if isinstance(outcome, Rejected):
                yield outcome
                continue
            if line.name is not None:
                self._names.learn(line.name, outcome["record_id"], outcome["revision"])
            yield line, outcome

    def look_up(self, line: Planned) -> None:
        """Learns what the name of a line stands for that is known to be there."""
        from relatum.client import NotFound

        assert line.name is not None
        try:
            receipt = self._session.read("receipts/read", family="record", idempotency_key=line.key)["receipt"]
        except NotFound:
            return
        self._names.learn(line.name, receipt["record_id"], receipt["revision"])

    def _outcomes(self, commands: Sequence[Planned]) -> list[Json | Rejected]:
        if not commands:
            return []
        if commands[0].family == "link":
            return [self._link(line) for line in commands]
        return self._together(commands)

    def _together(self, commands: Sequence[Planned]) -> list[Json | Rejected]:
        from relatum.client import Accepted, InvalidRequest, TooLarge

        group: Any = self._session.memory.records if commands[0].family == "record" else self._session.memory.relations
        try:
            outcomes = group.submit_many([line.operation for line in commands], keys=[line.key for line in commands])
        except (InvalidRequest, TooLarge) as refused:
            # A server of another age may know less than this program, and then refuses all for one.
            if len(commands) == 1:
                return [_rejected(commands[0], refused)]
            return [outcome for line in commands for outcome in self._together([line])]
        return [
            msgspec.to_builtins(outcome.receipt) if isinstance(outcome, Accepted) else _rejected(line, outcome)
            for line, outcome in zip(commands, outcomes, strict=True)
        ]

    def _link(self, line: Planned) -> Json | Rejected:
        from relatum.client import Forbidden, RequestRefused, Unauthorized

        operation = msgspec.to_builtins(line.operation)
        try:
            receipt: Json = self._session.command_under(line.key, "links/commands", operation=operation)["receipt"]
        except (Unauthorized, Forbidden):
            raise
        except RequestRefused as refused:
            if refused.status >= 500:
                raise
            return _rejected(line, refused)
        return receipt


def _rejected(line: Planned, refused: Any) -> Rejected:
    return Rejected(line.number, line.key, refused.code, refused.message, refused.status, line.input)
