"""What is submitted to the writer, and what comes back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from relatum.core.access import Credential
from relatum.core.changes import JournalHead
from relatum.core.commands import (
    AssertRelation,
    CreateRecord,
    DeriveRecord,
    RecordOperation,
    RelationOperation,
    ReviewRecord,
    ReviewRelation,
    ReviseRecord,
)
from relatum.core.cursors import CheckpointCommand, CheckpointReceipt
from relatum.core.decide.saves import Detected
from relatum.core.events import CredentialOperation, JudgmentEvent
from relatum.core.ids import Author, Partition
from relatum.core.judgments import JudgmentOperation
from relatum.core.links import LinkOperation
from relatum.core.receipts import Receipt
from relatum.core.streams import Stream
from relatum.errors import Failure, Refusal
from relatum.limits import SWEEP_DEADLINE_MILLIS_DEFAULT

NO_IDS: Final[dict[str, str]] = {}
"""Ids are drawn; an import alone gives them. Nobody writes into this."""


class RecordSubmission(NamedTuple):
    """A record command of an authorized caller. `command_digest` identifies it within its key.

    `detected` goes with a save: what the search index found, None until it is asked. `given_ids`: see `Stamp`.
    """

    partition: Partition
    author: Author
    idempotency_key: str
    operation: RecordOperation
    command_digest: str
    detected: Detected | None = None
    given_ids: dict[str, str] = NO_IDS


class RelationSubmission(NamedTuple):
    """A relation command of an authorized caller. `command_digest` identifies it within its key."""

    partition: Partition
    author: Author
    idempotency_key: str
    operation: RelationOperation
    command_digest: str
    given_ids: dict[str, str] = NO_IDS


class JudgmentSubmission(NamedTuple):
    """A judgment command of an authorized caller, or `item` of a batch of verdicts.

    The timer's sweep has an author that nobody is shown.
    """

    partition: Partition
    author: Author
    idempotency_key: str
    operation: JudgmentOperation
    command_digest: str
    item: int | None = None
    deadline_millis: int = SWEEP_DEADLINE_MILLIS_DEFAULT
    by_timer: bool = False
    given_ids: dict[str, str] = NO_IDS


class LinkSubmission(NamedTuple):
    """A link command of an authorized caller."""

    partition: Partition
    author: Author
    idempotency_key: str
    operation: LinkOperation
    command_digest: str


class CredentialSubmission(NamedTuple):
    """A change of a credential in the company's own partition.

    `bootstrap`: only where the company doesn't exist yet.
    """

    partition: Partition
    author: Author
    operation: CredentialOperation
    bootstrap: bool = False


class CheckpointSubmission(NamedTuple):
    """A checkpoint command of an authorized consumer."""

    partition: Partition
    author: Author
    stream: Stream
    command: CheckpointCommand
    command_digest: str


class ActivationSubmission(NamedTuple):
    """The wish that a stream be active."""

    partition: Partition
    author: Author
    stream: Stream


MemorySubmission = RecordSubmission | RelationSubmission | LinkSubmission
Restoration = MemorySubmission | JudgmentSubmission
"""What an import submits."""

Submission = MemorySubmission | JudgmentSubmission | CredentialSubmission | CheckpointSubmission | ActivationSubmission
Outcome = Receipt | JudgmentEvent | Credential | CheckpointReceipt | JournalHead | Refusal | Failure

_BRIEF: Final = (AssertRelation, ReviewRelation, CreateRecord, DeriveRecord, ReviseRecord, ReviewRecord)


def is_brief(submission: Submission) -> bool:
    """Whether deciding it takes a few reads, however much its partition holds, once that is counted."""
    match submission:
        case RelationSubmission(operation=AssertRelation(if_absent=True)):
            return False  # looks through the relations of an end
        case RecordSubmission() | RelationSubmission():
            return isinstance(submission.operation, _BRIEF)
        case _:
            return False


class Ticket:
    """One caller's commands in order, and where their outcomes go.

    `on_done` is called once from the writer's thread, when every outcome may be told: after the sync that covers them.
    """

    __slots__ = ("on_done", "outcomes", "queued", "submissions")

    def __init__(
        self, submissions: tuple[Submission, ...], on_done: Callable[[Ticket], None], queued: object = None
    ) -> None:
        self.submissions = submissions
        self.queued = queued
        """Stands for its wait where that is traced."""
        self.on_done = on_done
        self.outcomes: list[Outcome] = []
