"""A consumer in process: the reads and checkpoints of one subject on the streams of a desk's partition."""

from __future__ import annotations

from itertools import count
from typing import TypeVar

from msgspec.structs import replace

from relatum import limits
from relatum.core.answers.company import ConsumerPage
from relatum.core.answers.feeds import Change, Delivery, Diagnostics, Page
from relatum.core.company import ConsumersQuery
from relatum.core.cursors import Advance, Checkpoint, CheckpointCommand, CheckpointReceipt, Reconcile
from relatum.core.feeds import Window
from relatum.core.ids import Author
from relatum.core.streams import RELATIONS, Cursor, Stream
from relatum.errors import Refusal
from relatum.ledger.reads import changes, checkpoints, consumers, diagnosis
from tests.support.desk import Desk

Answer = TypeVar("Answer")
CONSUMER = "mirror"
_KEYS = count(1)


def answered(outcome: Answer | Refusal) -> Answer:
    """An answer that must not be a refusal."""
    assert not isinstance(outcome, Refusal), outcome
    return outcome


def refused(outcome: object) -> tuple[int, str]:
    """Status and code of an answer that must be a refusal."""
    assert isinstance(outcome, Refusal), outcome
    return outcome.status, outcome.code


class Consumer:
    """Follows one stream, the relations unless it is told otherwise."""

    def __init__(self, desk: Desk, stream: Stream = RELATIONS, author: Author | None = None) -> None:
        self.desk = desk
        self.stream: Stream = stream
        self.author = author or desk.author

    def of(self, stream: Stream) -> Consumer:
        return Consumer(self.desk, stream, self.author)

    # Pages

    def page(
        self, after: Cursor | None = None, through: Cursor | None = None, limit: int = limits.CHANGES_PAGE_MAX
    ) -> Page[Change] | Refusal:
        with self.desk.view() as view:
            partition = view.partition(self.desk.partition)
            return changes.page(partition, self.stream, Window(after=after, through=through), limit)

    def deliveries(self, limit: int = limits.CHANGES_PAGE_MAX, through: Cursor | None = None) -> list[Delivery[Change]]:
        """Everything from the baseline on, in pages of `limit`."""
        found: list[Delivery[Change]] = []
        after: Cursor | None = None
        while True:
            page = answered(self.page(after, through, limit))
            assert len(page.changes) <= limit
            found += page.changes
            if page.complete:
                return found
            assert page.changes, "a page that is not complete goes on"
            after = page.next_cursor

    def cursors(self) -> list[Cursor]:
        """Every position of the journal, baseline and tip included."""
        page = answered(self.page())
        assert page.baseline is not None
        return [page.baseline, *(delivery.cursor for delivery in self.deliveries())]

    def tip(self) -> Cursor:
        cursor = answered(self.page()).high_watermark
        assert cursor is not None
        return cursor

    # Checkpoints

    def submit(self, command: CheckpointCommand) -> CheckpointReceipt | Refusal:
        return self.desk.ledger.save_checkpoint(self.desk.partition, self.author, self.stream, command)

    def advance(self, cursor: Cursor, before: Checkpoint | None = None) -> Checkpoint:
        """The checkpoint after one more step that must be accepted."""
        return answered(self.submit(advance(cursor, before))).checkpoint

    def checkpoint(self, consumer_id: str = CONSUMER) -> Checkpoint | Refusal:
        with self.desk.view() as view:
            partition = view.partition(self.desk.partition)
            return checkpoints.read(partition, self.stream, self.author.subject_id, consumer_id)

    def revision(self, number: int, consumer_id: str = CONSUMER) -> CheckpointReceipt | Refusal:
        with self.desk.view() as view:
            partition = view.partition(self.desk.partition)
            return checkpoints.revision(partition, self.stream, self.author.subject_id, consumer_id, number)

    def diagnose(self, witness: Cursor | None = None, consumer_id: str = CONSUMER) -> Diagnostics | Refusal:
        with self.desk.view() as view:
            partition = view.partition(self.desk.partition)
            return diagnosis.diagnose(partition, self.stream, self.author.subject_id, consumer_id, witness)

    # What administrators see

    def listed(self) -> ConsumerPage | Refusal:
        with self.desk.view() as view:
            return consumers.page(view, self.desk.partition.company_id, ConsumersQuery(stream=self.stream))


def advance(cursor: Cursor, before: Checkpoint | None = None, key: str | None = None) -> CheckpointCommand:
    """The command that saves `cursor` after what was saved before, under `key` or a new one."""
    return CheckpointCommand(
        contract_version=1,
        idempotency_key=key or f"checkpoint-{next(_KEYS)}",
        consumer_id=CONSUMER,
        expected_revision=before.revision if before else 0,
        expected_checkpoint_digest=before.checkpoint_digest if before else None,
        operation=Advance(cursor=cursor),
    )


def reconcile(cursor: Cursor, before: Checkpoint, evidence_ref: str = "restore/7") -> CheckpointCommand:
    """The command that saves `cursor` whatever was saved before."""
    return replace(advance(cursor, before), operation=Reconcile(cursor=cursor, evidence_ref=evidence_ref))
