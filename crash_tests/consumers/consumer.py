"""One consumer: which changes it has taken, what it has saved, and what the contract permits it next.

What always holds: changes are taken one after the other without a gap, and every receipt that it is given follows from
the one before it.
"""

from __future__ import annotations

from crash_tests.consumers.stream_history import Heard
from crash_tests.history import Command, Json, Owner
from crash_tests.violation import require, require_same


class Consumer:
    """One owner of checkpoints. For one thread at a time."""

    def __init__(self, owner: Owner, heard: Heard) -> None:
        self.owner = owner
        self.heard = heard
        self.place: Json | None = None
        """The cursor behind what it took last; None to begin at the baseline."""
        self.event_id: str | None = None
        """The id of the event that brought it there, if one did."""
        self.event_ids: list[tuple[str, int]] = []
        """Each id that it was given, and the sequence it stands for."""
        self.checkpoint: Json | None = None
        """What it has saved, as acknowledged."""
        self.saved: list[Command] = []
        """The commands that did so, one for each revision."""
        self.asked: Command | None = None
        """The last command that it sent."""

    @property
    def name(self) -> str:
        """For messages."""
        return f"the consumer {self.owner.consumer_id!r} of {self.owner.stream}s"

    @property
    def sequence(self) -> int:
        """How far it has come."""
        return self.place["sequence"] if self.place else 0

    @property
    def doubt(self) -> Command | None:
        """The command of which nobody knows whether it was accepted."""
        return self.asked if self.asked is not None and self.asked.unknown else None

    def take(self, delivery: Json, event_id: str | None = None) -> None:
        """The next change."""
        cursor = delivery["cursor"]
        require(
            cursor["sequence"] == self.sequence + 1,
            f"{self.name} was told sequence {cursor['sequence']} after {self.sequence}",
        )
        self.heard.hear(delivery)
        self.place, self.event_id = cursor, event_id
        if event_id is not None:
            self.event_ids.append((event_id, cursor["sequence"]))

    def start_from_checkpoint(self) -> None:
        """Go on from what it saved, as a consumer does that keeps nothing itself."""
        self.place = None if self.checkpoint is None else self.checkpoint["cursor"]
        self.event_id = None

    def refusal_of(self, command: Command) -> str | None:
        """With which code a command of its own must be refused now; None where it must be accepted."""
        target, before = command.operation["cursor"], command.before
        if before is None and command.operation["type"] == "reconcile":
            return "invalid_request"
        if before != self.checkpoint:
            return "revision_conflict"
        if not self.heard.holds(target):
            return "journal_history_conflict"
        if command.operation["type"] == "advance" and before and target["sequence"] < before["cursor"]["sequence"]:
            return "checkpoint_regression"
        return None

    def learn(self, command: Command) -> None:
        """One of its commands was accepted."""
        require_same(f"the refusal of {command.name}, which was accepted", self.refusal_of(command), None)
        receipt = command.told()
        saved = receipt["checkpoint"]
        expected = {
            "contract_version": 1,
            "idempotency_key": command.idempotency_key,
            "previous": self.checkpoint,
            "checkpoint": {
                "schema_version": 1,
                "consumer_id": self.owner.consumer_id,
                "revision": len(self.saved) + 1,
                "cursor": command.operation["cursor"],
                "author": command.desk.account.author,
                "updated_at_millis": saved["updated_at_millis"],
                "checkpoint_digest": saved["checkpoint_digest"],
            },
            "reconciliation_evidence": command.operation.get("evidence_ref"),
            "receipt_digest": receipt["receipt_digest"],
        }
        require_same(f"the receipt of {command.name}", expected, receipt)
        self.saved.append(command)
        self.checkpoint = saved
