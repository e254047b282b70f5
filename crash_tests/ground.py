"""One store as its clients see it."""

from __future__ import annotations

from dataclasses import dataclass, field

from crash_tests.history import Account, Command, Desk, History, Json
from crash_tests.operations import Sight
from relatum.core.ids import Partition


@dataclass
class Ground:
    """Who the clients are, what they know, what they did, and what they have read. For any thread."""

    accounts: list[Account]
    desks: list[Desk]
    history: History = field(default_factory=History)
    sights: dict[Partition, Sight] = field(default_factory=dict)
    observed: list[tuple[Desk, Json]] = field(default_factory=list)
    """Records that a read has shown, and from where."""

    def sight(self, desk: Desk) -> Sight:
        """What is known of a desk's partition."""
        return self.sights.setdefault(desk.partition, Sight())

    def accept(self, command: Command, receipt: bytes) -> None:
        """A command was answered with a receipt."""
        self.history.accept(command, receipt)
        self.sight(command.desk).learn(command)
