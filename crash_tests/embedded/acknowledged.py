"""What is known of the commands of all lives of a store: what was sent, told, and shown, and by when."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Self

from msgspec import Struct

from crash_tests.embedded.accounts import DESKS
from crash_tests.embedded.messages import (
    Ask,
    Broken,
    Judgment,
    Memory,
    Message,
    Opened,
    Saving,
    Sent,
    Shown,
    Told,
    Unable,
    messages_in,
)
from crash_tests.inspection.claims import Claim, keys_of
from crash_tests.violation import Violation, require


class Known(Struct, kw_only=True):
    """One command. In doubt unless it has a receipt or was refused."""

    sent: Sent
    receipt: str | None = None
    refusal: str | None = None
    later: str | None = None
    """The receipt that it got after the state had been fixed: if the command is in there, then with this receipt."""

    @property
    def ask(self) -> Ask:
        """What was asked for."""
        return self.sent.ask

    @property
    def in_doubt(self) -> bool:
        """Whether nobody knows what became of it."""
        return self.receipt is None and self.refusal is None


class Acknowledged:
    """Everything that was told in the lives of one store."""

    def __init__(self) -> None:
        self.commands: dict[str, Known] = {}
        self.shown: list[Shown] = []
        self.exists = False
        """Whether a store has been opened: from then on there must be one."""

    @classmethod
    def read(cls, *lives: bytes) -> Self:
        """What was told in one life after the other; what a life has not said to its end was not said.

        Raises `Violation` where a life met one.
        """
        known = cls()
        for told in lives:
            known.add(messages_in(told))
        return known

    @classmethod
    def read_split(cls, before: bytes, during: bytes, earlier: Iterable[bytes] = ()) -> Self:
        """What was told before a state began to be fixed, and what until it surely was; `earlier` are lives before.

        `during` goes on where `before` ends, be it in the middle of a line.
        """
        known = cls.read(*earlier, before)
        whole = before.rpartition(b"\n")[2] + during
        for message in messages_in(whole):
            known.hear_later(message)
        return known

    def add(self, messages: Iterable[Message]) -> None:
        """The next messages."""
        for message in messages:
            self._hear(message)

    def hear_later(self, message: Message) -> None:
        """A message that came when the state may have been fixed already."""
        match message:
            case Sent() | Broken() | Unable():
                self._hear(message)
            case Told(refusal=None):
                self.commands[message.id].later = message.receipt
            case Told():
                self.settle(message)
            case _:
                pass

    def doubtful(self) -> Iterator[Known]:
        """The commands whose outcome nobody knows."""
        return (known for known in self.commands.values() if known.in_doubt)

    def claims(self) -> Iterator[Claim]:
        """What a store must agree with: the receipts, and the keys under which something may be stored."""
        for known in self.commands.values():
            ask = known.ask
            if known.refusal is not None or not isinstance(ask, Memory | Judgment | Saving):
                continue
            desk = DESKS[ask.desk]
            for family, receipt in _keys_of(ask, known.receipt):
                yield Claim(
                    partition=desk.partition,
                    family=family,
                    subject_id=desk.account.subject_id,
                    idempotency_key=known.sent.id,
                    receipt=receipt,
                )

    def settle(self, told: Told) -> None:
        """A command has an outcome, now or already."""
        known = self.commands[told.id]
        if known.receipt is not None or known.refusal is not None:
            before = Told(id=told.id, receipt=known.receipt, refusal=known.refusal)
            require(before == told, f"{told.id} was answered with {before} and then with {told}")
        known.receipt, known.refusal = told.receipt, told.refusal

    def _hear(self, message: Message) -> None:
        match message:
            case Sent():
                self.commands.setdefault(message.id, Known(sent=message))
            case Told():
                self.settle(message)
            case Shown():
                self.shown.append(message)
            case Opened():
                self.exists = True
            case Broken(text=text):
                raise Violation(text)
            case Unable(text=text):
                raise Violation(f"the ledger said that it can't, though nothing had failed: {text}")
            case _:
                pass


def _keys_of(ask: Memory | Judgment | Saving, receipt: str | None) -> Iterator[tuple[str, str | None]]:
    """The families under which a command's key is looked up, and what was told there."""
    match ask:
        case Memory(family=family, operation=operation):
            return keys_of(family, operation, receipt)
        case Judgment(operation=operation):
            return keys_of("judgment", operation, receipt)
        case Saving():
            return keys_of("checkpoint", None, receipt)
