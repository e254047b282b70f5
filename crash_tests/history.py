"""What clients did and were told: every command that was sent, and what became of it.

What always holds: a command is entered before it is sent, so that whatever happens to the server, nothing that may have
reached it is forgotten. Of all commands under one key at most one is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, Literal

import msgspec

from crash_tests.inspection.claims import Claim, Key, keys_of
from crash_tests.violation import Violation, require
from relatum.core.ids import Partition, Scope, memory_partition

Stream = Literal["record", "relation"]
"""A change stream, by what its changes are about."""
Family = Literal["record", "relation", "checkpoint", "link", "judgment"]
Json = dict[str, Any]

STREAMS: tuple[Stream, ...] = ("record", "relation")
FOUND = "found"
"""The action of a receipt that only names a relation which was there."""


@dataclass(frozen=True)
class Account:
    """A credential as its holder knows it."""

    company_id: str
    subject_id: str
    credential_id: str
    secret: str = field(repr=False)

    @property
    def author(self) -> Json:
        """How the ledger names this account in what it stores."""
        return {"credential_id": self.credential_id, "subject_id": self.subject_id}


@dataclass(frozen=True)
class Desk:
    """An account at work in one scope."""

    account: Account
    scope: Scope

    @cached_property
    def partition(self) -> Partition:
        """What the scope addresses for this account."""
        return memory_partition(self.account.company_id, self.account.subject_id, self.scope)

    def body(self, **members: Any) -> bytes:
        """The body of a request from this desk."""
        return msgspec.json.encode({"contract_version": 1, "scope": self.scope, **members})


@dataclass(frozen=True)
class Owner:
    """Whose progress a checkpoint is: that of one consumer of a stream at a desk."""

    desk: Desk
    stream: Stream
    consumer_id: str


@dataclass(eq=False)
class Command:
    """One command. Its outcome is unknown until it has a receipt, JSON as it came over the wire, or was refused."""

    desk: Desk
    family: Family
    idempotency_key: str
    operation: Json
    receipt: bytes | None = None
    refused: bool = False
    owner: Owner | None = None
    """Of a checkpoint command: whose progress it saves."""
    before: Json | None = None
    """Of a checkpoint command: the checkpoint that it expects to find."""
    hits: tuple[str, ...] = ()
    """Of a save: the records that the search index is said to have found."""

    @cached_property
    def key(self) -> Key:
        """What its receipt is found by."""
        return self.desk.partition, self.family, self.desk.account.subject_id, self.idempotency_key

    @property
    def unknown(self) -> bool:
        """Whether nobody knows what became of it."""
        return self.receipt is None and not self.refused

    @property
    def name(self) -> str:
        """For messages."""
        return f"the {self.family} command {self.idempotency_key!r} ({self.operation['type']})"

    def claims(self) -> Iterator[Claim]:
        """What a store must agree with: of a batch of judgments, item by item."""
        receipt = None if self.receipt is None else self.receipt.decode()
        for family, own in keys_of(self.family, self.operation, receipt):
            yield Claim(
                partition=self.desk.partition,
                family=family,
                subject_id=self.desk.account.subject_id,
                idempotency_key=self.idempotency_key,
                receipt=own,
            )

    @property
    def changed(self) -> bool:
        """Whether it was accepted and left a revision or a standing; an assertion that found an equal relation did not.

        Such a one has a receipt and a commit sequence like any other, but its stream does not tell of it, and the
        revision that its receipt names came of another command.
        """
        return self.receipt is not None and self.told().get("action") != FOUND

    def told(self) -> Json:
        """The receipt, decoded."""
        assert self.receipt is not None
        receipt: Json = msgspec.json.decode(self.receipt)
        return receipt


class History:
    """Every command sent to one store. For any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._commands: list[Command] = []
        self._accepted: dict[Key, Command] = {}
        self._numbers = 0

    def fresh_key(self) -> str:
        """An idempotency key that nobody has used on this store."""
        with self._lock:
            self._numbers += 1
            return f"key {self._numbers}"

    def enter(self, command: Command) -> None:
        """A command that is about to be sent."""
        with self._lock:
            self._commands.append(command)

    def accept(self, command: Command, receipt: bytes) -> None:
        """A command was answered with a receipt, now or at a later attempt."""
        with self._lock:
            other = self._accepted.setdefault(command.key, command)
            require(other is command, f"{command.name} was accepted under a key that another had been accepted under")
            if command.receipt not in (None, receipt):
                raise Violation(f"{command.name} was answered with two receipts, {command.receipt!r} and {receipt!r}")
            require(not command.refused, f"{command.name} was refused and then accepted")
            command.receipt = receipt

    def refuse(self, command: Command) -> None:
        """A command was answered with a refusal."""
        with self._lock:
            require(command.receipt is None, f"{command.name} was accepted and then refused")
            command.refused = True

    def since(self, mark: int) -> list[Command]:
        """The commands entered from the `mark`th on."""
        with self._lock:
            return self._commands[mark:]

    def mark(self) -> int:
        """How many commands have been entered."""
        with self._lock:
            return len(self._commands)

    def accepted(self) -> list[Command]:
        """All commands on records and relations that have a receipt."""
        return [command for command in self._with_receipts() if command.owner is None]

    def saved(self) -> list[Command]:
        """All checkpoint commands that have a receipt."""
        return [command for command in self._with_receipts() if command.owner is not None]

    def claims(self) -> Iterator[Claim]:
        """What a store must agree with: the receipts, and the keys under which something may be stored."""
        claimed: set[Key] = set()
        for command in (*self._with_receipts(), *(command for command in self.since(0) if command.unknown)):
            if command.key in claimed:
                continue
            claimed.add(command.key)
            yield from command.claims()

    def _with_receipts(self) -> list[Command]:
        with self._lock:
            return list(self._accepted.values())
