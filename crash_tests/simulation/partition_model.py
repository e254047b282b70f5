"""One partition, as far as it was shown: the naive model and the book, entry by entry."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from crash_tests.history import Command, Json, Owner, Stream
from crash_tests.judgment_model.event_replay import CommandOperation, hear
from crash_tests.judgment_model.expected_state import Book
from crash_tests.model import Model
from crash_tests.operations import Sight
from crash_tests.simulation.command_rules import require_sense
from crash_tests.simulation.environment import AGES
from crash_tests.violation import require_same
from relatum.core.commands import AssertRelation, RecordOperation, RelationOperation
from relatum.core.consequences import Consequences
from relatum.core.events import NO_EVENT, Event, FoundEvent, JudgmentEvent, LinkEvent, RecordEvent, RelationEvent
from relatum.core.ids import Partition
from relatum.core.judgments import JudgmentOperation
from relatum.core.links import LinkOperation
from relatum.core.relation_events import receipt_of
from relatum.core.streams import Stream as StreamName

_ENCODER: Final = msgspec.json.Encoder()
_DECODERS: Final[dict[str, msgspec.json.Decoder[Any]]] = {
    "record": msgspec.json.Decoder(RecordOperation),
    "relation": msgspec.json.Decoder(RelationOperation),
    "link": msgspec.json.Decoder(LinkOperation),
    "judgment": msgspec.json.Decoder(JudgmentOperation),
}


def operation_of(command: Command) -> CommandOperation:
    """What a command asks for, as the ledger takes it."""
    operation: CommandOperation = _DECODERS[command.family].decode(_ENCODER.encode(command.operation))
    return operation


class _Book(Book):
    """A book in which the model says who is eligible: it knows of sources."""

    model: Model
    now_millis = 0

    def eligible(self, record_id: str) -> bool:
        """Whether a reader is given a record."""
        return self.model.is_eligible(record_id, self.now_millis)

    def judged_at(self, committed_at_millis: int) -> int:
        """What the clock said when the present event was decided."""
        return self.now_millis


class Chapter:
    """One partition."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.sequence = 0
        self.digest = NO_EVENT
        self.at_millis = 0
        self.model = Model()
        self.book = _Book(resurfacing=AGES.resurfacing_millis, deadline=AGES.deadline_millis)
        self.book.model = self.model
        self.sight = Sight()
        self.told: dict[Stream, list[Json]] = {"record": [], "relation": []}
        """What each stream tells, in order."""
        self.journals: dict[StreamName, str] = {}
        """The journal of each stream that is active."""
        self.saved: dict[Owner, Json] = {}
        """What each consumer has saved last."""
        self.acknowledged = 0
        """The greatest commit sequence that anybody was told."""

    def enter(
        self,
        command: Command,
        event: RecordEvent | RelationEvent | FoundEvent | LinkEvent | JudgmentEvent,
        judged_at_millis: int,
    ) -> None:
        """An event that came of a command, and by which instant it was judged.

        Raises `Violation` where it makes no sense after those before it.
        """
        self.book.now_millis = judged_at_millis
        if isinstance(event, RecordEvent | RelationEvent | FoundEvent):
            require_sense(self.model, command, judged_at_millis)
        hear(self.book, operation_of(command), event, command.hits)
        if isinstance(event, RecordEvent | RelationEvent | FoundEvent):
            self.model.apply(command)
        if isinstance(event, RecordEvent | RelationEvent):
            self._tell("record" if isinstance(event, RecordEvent) else "relation", self.model.change(command))
        self._enter_consequences(command, event)

    def _enter_consequences(self, command: Command, event: Event) -> None:
        brought = event.consequences or Consequences()
        for part in brought.relations:
            receipt = msgspec.json.encode(part.receipt)
            own = Command(
                command.desk, "relation", command.idempotency_key, msgspec.to_builtins(part.operation), receipt
            )
            self.model.apply(own)
            self._tell("relation", self.model.change(own))
            self.sight.learn(own)
            if isinstance(part.operation, AssertRelation) and not part.plain:
                said = part.operation.relation
                self.sight.hear_verdict(part.relation_id, (said.source.record_id, said.target.record_id))
        for standing in brought.standings:
            told: Json = msgspec.to_builtins(receipt_of(event))
            self._tell("record", self.model.standing_change(standing.record_id, standing.action, told))

    def save(self, command: Command, owner: Owner) -> None:
        """A checkpoint was saved."""
        told = command.told()
        require_same(f"what {command.name} follows", self.saved.get(owner), told["previous"])
        self.saved[owner] = told["checkpoint"]

    def _tell(self, stream: Stream, change: Json) -> None:
        self.told[stream].append(change)
