"""One group: commands decided one after another on an overlay, each seeing those before it."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from typing import assert_never

from relatum.core import digests
from relatum.core.access import Credential
from relatum.core.changes import JournalHead
from relatum.core.commands import AssertRelation, SaveRecord
from relatum.core.cursors import CheckpointReceipt
from relatum.core.decide import activations, checkpoints, credentials, judgments, links, records, relations
from relatum.core.decide.event_envelope import Asked
from relatum.core.decide.record_events import RecordDecision
from relatum.core.decide.saves import NOTHING_DETECTED
from relatum.core.events import JudgmentEvent, Stamp
from relatum.core.ids import Author, Partition
from relatum.core.receipts import Family, Receipt
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.entropy import Entropy
from relatum.errors import (
    Failure,
    JournalBroken,
    ProgramFailure,
    Refusal,
    StorageFailure,
    StorageInconsistency,
    stale,
)
from relatum.ledger.writer.submission import (
    NO_IDS,
    ActivationSubmission,
    CheckpointSubmission,
    CredentialSubmission,
    JudgmentSubmission,
    LinkSubmission,
    MemorySubmission,
    Outcome,
    RecordSubmission,
    RelationSubmission,
    Submission,
)
from relatum.store import replay, rows
from relatum.store.counts import Recounts
from relatum.store.kv import Reader
from relatum.store.partition import PartitionReader
from relatum.store.projection import Decision, Staging, project
from relatum.store.staged_rows import Bodies

ENTROPY_BYTES = 32


class CommandFailed(ProgramFailure):
    """A command met a fault of the program itself: nothing of it is staged, the others of its group go on."""


class Group:
    """The commands of one commit. `staged` has all rows of all accepted ones; a command's rows are never split.

    `brought` names family and action of each accepted command, `moved` the workspaces that got an event, and `broken`,
    by workspace id and stream, the journals that take no more. All are committed at `at_millis`, and judged by what the
    clock says, `now_millis`: the same where nothing else is given.
    """

    def __init__(
        self,
        live: Reader,
        entropy: Entropy,
        at_millis: int,
        broken: Collection[tuple[str, str]] = (),
        recounts: Recounts | None = None,
        *,
        now_millis: int | None = None,
    ) -> None:
        self.at_millis = at_millis
        self._now_millis = at_millis if now_millis is None else now_millis
        self.staged = Bodies(live)
        self.replays = 0
        self.moved: set[str] = set()
        self.brought: list[tuple[str, str]] = []
        self._heads: list[bytes] = []
        self._entropy = entropy
        self._broken = broken
        self._recounts = Recounts() if recounts is None else recounts
        self._partitions: dict[Partition, Staging] = {}

    @property
    def accepted(self) -> int:
        """How many commands brought an event."""
        return len(self._heads)

    def position_after(self, before: rows.Position) -> rows.Position:
        """The store's position once this group is committed."""
        committed = max(before.committed_at_millis, self.at_millis)
        return rows.Position(
            position=before.position + len(self._heads),
            committed_at_millis=committed,
            digest=digests.position_digest(before.digest, self._heads),
            floor_millis=before.floor if before.floor > committed else None,
        )

    def decide(self, submission: Submission) -> Outcome:
        """The outcome of one command, with its rows staged if it is accepted and nothing staged otherwise.

        Raises StorageFailure where the store can't be read: then the whole group is in doubt.
        """
        staging = self._staging(submission.partition)
        try:
            outcome = self._decide(staging, submission)
        except StorageFailure:
            raise
        except Exception as error:  # noqa: BLE001 - one command's fault must not take its neighbours down
            self.staged.drop()
            staging.forget()
            if isinstance(error, Failure):
                return error
            failed = CommandFailed("a command failed inside the ledger")
            failed.__cause__ = error
            return failed
        self.staged.keep()
        return outcome

    def has_counted(self, partition: Partition) -> bool:
        """Whether no command of a partition has to wait until what its head counts is counted."""
        return self._recounts.knows(self._staging(partition).keys.prefix)

    def count(self, partition: Partition) -> None:
        """Counts it. Whoever needs these rows is told what is wrong with them. Raises StorageFailure like `decide`."""
        with suppress(StorageInconsistency):
            self._staging(partition).require_counted()

    def _staging(self, partition: Partition) -> Staging:
        staging = self._partitions.get(partition)
        if staging is None:
            staging = self._partitions[partition] = Staging(self.staged, partition, self._recounts)
        return staging

    def _decide(self, staging: Staging, submission: Submission) -> Outcome:
        if self._broken:
            self._require_unbroken(staging.workspace_id, submission)
        match submission:
            case RelationSubmission() | RecordSubmission() | LinkSubmission():
                return self._memory(staging, submission)
            case JudgmentSubmission():
                return self._judgment(staging, submission)
            case CredentialSubmission():
                return self._credential(staging, submission)
            case CheckpointSubmission():
                return self._checkpoint(staging, submission)
            case ActivationSubmission():
                return self._activation(staging, submission)
            case _:
                assert_never(submission)

    def _require_unbroken(self, workspace_id: str, submission: Submission) -> None:
        for stream in _streams_of(submission):
            if (workspace_id, stream) in self._broken:
                raise JournalBroken("the journal of the stream was found broken", workspace_id, stream)

    def _memory(self, staging: Staging, submission: MemorySubmission) -> Receipt | Refusal:
        known = look_up(staging, submission)
        if known is not None:
            self.replays += not isinstance(known, Refusal)
            return known
        given_ids = {} if isinstance(submission, LinkSubmission) else submission.given_ids
        if given_ids and _taken(staging, given_ids):
            return _ID_TAKEN
        stamp = self._stamp(submission.author, given_ids)
        key, digest = submission.idempotency_key, submission.command_digest
        decision: RecordDecision | relations.RelationDecision | relations.FoundDecision | links.LinkDecision | Refusal
        if isinstance(submission, RelationSubmission):
            decision = relations.decide(staging, submission.operation, key, digest, stamp)
        elif isinstance(submission, LinkSubmission):
            decision = links.decide(staging, submission.operation, Asked(key, digest, stamp))
        else:
            detected = NOTHING_DETECTED if submission.detected is None else submission.detected
            decision = records.decide(staging, submission.operation, key, digest, stamp, detected)
        if isinstance(decision, Refusal):
            return decision
        self._accept(staging, decision)
        return decision.event.receipt

    def _judgment(self, staging: Staging, submission: JudgmentSubmission) -> JudgmentEvent | Refusal:
        key, digest, item = submission.idempotency_key, submission.command_digest, submission.item
        known = replay.look_up_judgment(staging, submission.author.subject_id, key, digest, item)
        if known is not None:
            self.replays += not isinstance(known, Refusal)
            return known
        if submission.given_ids and _taken(staging, submission.given_ids):
            return _ID_TAKEN
        stamp = self._stamp(submission.author, submission.given_ids)
        asked = judgments.AskedJudgment(key, digest, stamp, item, submission.deadline_millis, submission.by_timer)
        decision = judgments.decide(staging, submission.operation, asked)
        if isinstance(decision, Refusal):
            return decision
        self._accept(staging, decision)
        return decision.event

    def _credential(self, staging: Staging, submission: CredentialSubmission) -> Credential | Refusal:
        if submission.bootstrap and staging.head().sequence:
            return stale("the company exists already")
        decision = credentials.decide(staging, submission.operation, self._stamp(submission.author))
        if isinstance(decision, Refusal):
            return decision
        self._accept(staging, decision)
        return decision.after.credential

    def _checkpoint(self, staging: Staging, submission: CheckpointSubmission) -> CheckpointReceipt | Refusal:
        stream, command, digest = submission.stream, submission.command, submission.command_digest
        known = replay.look_up_checkpoint(staging, submission.author.subject_id, command.idempotency_key, digest)
        if known is not None:
            self.replays += not isinstance(known, Refusal)
            return known
        decision = checkpoints.decide(staging, stream, command, digest, self._stamp(submission.author))
        if isinstance(decision, Refusal):
            return decision
        self._accept(staging, decision)
        return decision.event.receipt

    def _activation(self, staging: Staging, submission: ActivationSubmission) -> JournalHead:
        staging.tip(submission.stream)  # raises where the journal that is to be active already is broken
        decision = activations.decide(staging, submission.stream, self._stamp(submission.author))
        if decision is not None:
            self._accept(staging, decision)
        return staging.head().streams[submission.stream]

    def _accept(self, staging: Staging, decision: Decision) -> None:
        project(staging, decision)
        self._heads.append(staging.head().event_digest)
        self.moved.add(staging.workspace_id)
        self.brought.append(_label(decision))

    def _stamp(self, author: Author, given_ids: dict[str, str] = NO_IDS) -> Stamp:
        entropy = self._entropy.draw(ENTROPY_BYTES)
        return Stamp(
            at_millis=self.at_millis, now_millis=self._now_millis, author=author, entropy=entropy, given_ids=given_ids
        )


_ID_TAKEN = stale("an id that was given belongs to something already")


def _taken(partition: PartitionReader, given_ids: dict[str, str]) -> bool:
    """Whether something has one of the ids that a command is to give out."""
    readers = {"record": partition.record, "relation": partition.relation, "candidate": partition.candidate}
    return any(readers[label](given_id) is not None for label, given_id in given_ids.items())


def _label(decision: Decision) -> tuple[str, str]:
    """Family and action of an accepted command, as metrics name them."""
    match decision:
        case RecordDecision():
            return "record", decision.event.receipt.action
        case relations.RelationDecision() | relations.FoundDecision():
            return "relation", decision.event.receipt.action
        case credentials.CredentialDecision():
            return "credential", decision.after.credential.history[-1].action
        case checkpoints.CheckpointDecision():
            return "checkpoint", "saved"
        case activations.ActivationDecision():
            return "stream", "activated"
        case links.LinkDecision():
            return "link", decision.event.receipt.action
        case judgments.JudgmentDecision():
            return "judgment", _judgment_action(decision.event)
        case _:
            assert_never(decision)


def _judgment_action(event: JudgmentEvent) -> str:
    if event.judgment_receipt is not None:
        return event.judgment_receipt.action
    return "refused" if event.receipt is None else "judged"


def _streams_of(submission: Submission) -> tuple[Stream, ...]:
    """The streams that a command may extend or depends on."""
    match submission:
        case RelationSubmission(operation=AssertRelation()):
            return (RELATIONS,)
        case RecordSubmission(operation=SaveRecord()) | RelationSubmission() | JudgmentSubmission():
            return (RELATIONS, RECORDS)
        case RecordSubmission():
            return (RECORDS,)
        case CheckpointSubmission() | ActivationSubmission():
            return (submission.stream,)
        case CredentialSubmission() | LinkSubmission():
            return ()
        case _:
            assert_never(submission)


_FAMILIES: dict[type[MemorySubmission], Family] = {
    RecordSubmission: "record",
    RelationSubmission: "relation",
    LinkSubmission: "link",
}


def look_up(partition: PartitionReader, submission: MemorySubmission) -> Receipt | Refusal | None:
    """What is known of a command's key: its receipt, a conflict, or nothing."""
    family = _FAMILIES[type(submission)]
    return replay.look_up(
        partition, family, submission.author.subject_id, submission.idempotency_key, submission.command_digest
    )


def is_known(partition: PartitionReader, submission: MemorySubmission) -> bool:
    """Whether a command's key leads anywhere: enough for who asks before the writer does, which looks at all of it."""
    family = _FAMILIES[type(submission)]
    key = partition.keys.receipt(family, submission.author.subject_id, submission.idempotency_key)
    return partition.body(key) is not None
