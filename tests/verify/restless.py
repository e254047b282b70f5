"""A restless client: gives a ledger one command after another, of every kind, as the dice say."""

from __future__ import annotations

from itertools import count

from relatum.core.answers.records import Disposition
from relatum.core.cursors import Advance, Checkpoint, CheckpointCommand, CheckpointReceipt
from relatum.core.ids import Partition, Ref
from relatum.core.receipts import RecordReceipt, RelationReceipt
from relatum.core.records import RecordProvenance
from relatum.core.streams import RECORDS, RELATIONS, Cursor
from relatum.ledger import Ledger
from tests.fuzz.dice import Dice
from tests.support import builders
from tests.support.builders import PARTITION, PRIVATE, START_MILLIS
from tests.support.desk import Desk
from tests.support.steps import Operation
from tests.verify.restless_judge import RestlessJudge

_CLIENTS = count(1)


class Restless:
    """Commands that go stale or are refused for another reason are part of it."""

    def __init__(self, ledger: Ledger, dice: Dice, one: Partition = PARTITION, other: Partition = PRIVATE) -> None:
        self.accepted = 0
        self._name_of_all = f"client {next(_CLIENTS)}"
        self._ledger = ledger
        self._dice = dice
        self._desks = [Desk(ledger, one), Desk(ledger, other)]
        self._judges = [RestlessJudge(ledger, dice, at, self._name_of_all) for at in (one, other)]
        self._records: dict[Desk, list[Ref]] = {desk: [] for desk in self._desks}
        self._relations: dict[Desk, list[RelationReceipt]] = {desk: [] for desk in self._desks}
        self._saved: Checkpoint | None = None
        self._names = 0

    def give(self, count: int) -> None:
        """So many commands."""
        for _ in range(count):
            if self._dice.often(30):
                self._dice.one_of(self._judges).give()
                continue
            desk = self._dice.one_of(self._desks)
            operation = self._operation(desk)
            if operation is not None:
                self._submit(desk, operation)
            elif self._dice.often(90):
                self._save()
            else:
                self._ledger.bootstrap(self._name("company"), "root")

    def _submit(self, desk: Desk, operation: Operation) -> None:
        outcome = desk.submit(operation)
        if isinstance(outcome, RecordReceipt):
            self._records[desk].append(Ref(record_id=outcome.record_id, revision=outcome.revision))
            self.accepted += 1
        elif isinstance(outcome, RelationReceipt):
            self._relations[desk].append(outcome)
            self.accepted += 1

    def _operation(self, desk: Desk) -> Operation | None:
        """A command on records or relations; None for another family."""
        dice, records, relations = self._dice, self._records[desk], self._relations[desk]
        topic = self._name("topic") if dice.often(50) else None
        if len(records) < 3 or dice.often(20):
            origin = RecordProvenance(source_id=self._name("source")) if dice.often(50) else None
            until = START_MILLIS + 10**12 if dice.often(30) else None
            return builders.create("something", topic_key=topic, provenance=origin, valid_until_millis=until)
        ref, other, *_ = dice.shuffled(records[-8:])
        if relations and dice.often(40):
            return self._turned(dice.one_of(relations[-8:]))
        options: list[Operation | None] = [
            builders.assertion(ref, other),
            builders.assertion(other, ref, "contradicts", evidence_sources=(ref,)),
            builders.derive(ref, other, topic_key=topic),
            builders.revise(ref, "another thing", topic_key=topic),
            builders.review(ref),
            builders.delete(ref),
            None,
        ]
        return dice.one_of(options)

    def _turned(self, at: RelationReceipt) -> Operation:
        dispositions: list[Disposition] = ["approved", "rejected"]
        options: list[Operation] = [
            builders.retire(at.relation_id, at.revision),
            builders.restore(at.relation_id, at.revision),
            builders.judge(at.relation_id, at.revision, self._dice.one_of(dispositions)),
        ]
        return self._dice.one_of(options)

    def _save(self) -> None:
        """A consumer saves the tip of a stream, or goes on from there."""
        desk = self._desks[0]
        tip = self._ledger.activate(desk.partition, desk.author, RECORDS)
        self._ledger.activate(desk.partition, desk.author, RELATIONS)
        cursor = Cursor(
            version=1,
            stream=RECORDS,
            journal_id=tip.journal_id,
            sequence=tip.sequence,
            prefix_digest=tip.prefix_digest.hex(),
        )
        command = CheckpointCommand(
            contract_version=1,
            idempotency_key=self._name("save"),
            consumer_id=self._name_of_all,
            expected_revision=0 if self._saved is None else self._saved.revision,
            expected_checkpoint_digest=None if self._saved is None else self._saved.checkpoint_digest,
            operation=Advance(cursor=cursor),
        )
        receipt = self._ledger.save_checkpoint(desk.partition, desk.author, RECORDS, command)
        assert isinstance(receipt, CheckpointReceipt), receipt
        self._saved = receipt.checkpoint

    def _name(self, kind: str) -> str:
        self._names += 1
        return f"{kind} {self._names} of {self._name_of_all}"
