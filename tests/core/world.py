"""A partition in memory under the pure decisions: what is accepted is projected, nothing queues and nothing waits."""

from __future__ import annotations

from itertools import count

from relatum.core import digests
from relatum.core.commands import RecordOperation
from relatum.core.decide import records, relations
from relatum.core.decide.record_events import RecordDecision
from relatum.core.events import Stamp
from relatum.core.ids import Author, Partition
from relatum.core.receipts import Receipt
from relatum.errors import Refusal
from relatum.store.memory import MemoryStore
from relatum.store.projection import Staging, project
from relatum.store.staged_rows import Bodies
from tests.support.builders import ADA, PARTITION, START_MILLIS
from tests.support.steps import Operation, Steps

STORE_KEY = bytes(32)

_NUMBERS = count(1)  # no two worlds draw alike, so that ids of one are unknown in another


class World(Steps):
    """A partition, an author and a clock that a test moves by hand."""

    def __init__(self, partition: Partition = PARTITION, author: Author = ADA) -> None:
        self.state = Staging(Bodies(MemoryStore()), partition)
        self.author = author
        self.now_millis = START_MILLIS

    def stamp(self) -> Stamp:
        return Stamp(
            at_millis=self.now_millis,
            now_millis=self.now_millis,
            author=self.author,
            entropy=next(_NUMBERS).to_bytes(32, "big"),
        )

    def decide(
        self, operation: Operation, key: str | None = None
    ) -> RecordDecision | relations.RelationDecision | relations.FoundDecision | Refusal:
        """What the decision function of the operation's family says."""
        key = f"key-{next(_NUMBERS)}" if key is None else key
        if isinstance(operation, RecordOperation):
            digest = digests.record_command_digest(operation, STORE_KEY)
            return records.decide(self.state, operation, key, digest, self.stamp())
        digest = digests.relation_command_digest(operation)
        return relations.decide(self.state, operation, key, digest, self.stamp())

    def accept(self, operation: Operation) -> Receipt:
        decision = self.decide(operation)
        assert not isinstance(decision, Refusal), decision
        project(self.state, decision)
        return decision.event.receipt

    def refuse(self, operation: Operation, key: str | None = None) -> Refusal:
        decision = self.decide(operation, key)
        assert isinstance(decision, Refusal), decision.event.receipt
        return decision
