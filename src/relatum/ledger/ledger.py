"""The ledger in process: open, submit, view, follow, close. What HTTP serves; what `from relatum import Ledger` gives.

Always holds: a request needs nothing of a ledger but to submit, to view and to follow. All else is for whoever owns it.
"""

from __future__ import annotations

import sys
from asyncio import AbstractEventLoop
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Literal, Self

from relatum.clock import Clock, FloorClock, SystemClock
from relatum.core import digests
from relatum.core.changes import JournalHead
from relatum.core.commands import RecordOperation, RelationOperation
from relatum.core.cursors import CheckpointCommand, CheckpointReceipt
from relatum.core.decide import checkpoints
from relatum.core.ids import Author, Partition
from relatum.core.judgments import Comparing
from relatum.core.links import LinkOperation
from relatum.core.receipts import Receipt
from relatum.core.streams import Stream
from relatum.entropy import Entropy, SystemEntropy
from relatum.errors import Failure, Refusal, StorageFailure, invalid
from relatum.ledger.company import CompanyCommands
from relatum.ledger.derived.edges import FILE_NAME as DERIVED_NAME
from relatum.ledger.derived.edges import DerivedEdges
from relatum.ledger.judgments import DEFAULT_AGES, Ages, Judging, Outside
from relatum.ledger.mined_edges import Mining
from relatum.ledger.search.index import FILE_NAME as INDEX_NAME
from relatum.ledger.search.index import ON_DISK, SearchIndex
from relatum.ledger.search_index import Indexing
from relatum.ledger.submit import Submitting
from relatum.ledger.view import Beside, RequestView
from relatum.ledger.writer.clock_guard import ClockGuard, tell_of_clock
from relatum.ledger.writer.committer import Committer
from relatum.ledger.writer.futures import decided, decided_async, only, tip_of
from relatum.ledger.writer.notifications import Listener
from relatum.ledger.writer.submission import (
    ActivationSubmission,
    CheckpointSubmission,
    JudgmentSubmission,
    LinkSubmission,
    MemorySubmission,
    Outcome,
    RecordSubmission,
    RelationSubmission,
    Restoration,
)
from relatum.store import failpoints
from relatum.store.counts import CountedOnly
from relatum.store.credential_cache import CredentialMemory
from relatum.store.database import Database
from relatum.store.file_maintenance import Image, Upkeep
from relatum.store.host_time import newest_file_millis
from relatum.store.replay import look_up_checkpoint
from relatum.telemetry import Log, Metrics, WriteSpans

MemoryOperation = RecordOperation | RelationOperation | LinkOperation
Readiness = Literal["ready", "poisoned", "draining", "clock_ahead"]

QUEUE_COMMANDS_MAX = 4096
GROUP_COMMANDS_MAX = 128
CLOSE_SECONDS_MAX = 30.0
CLOCK_AHEAD_SECONDS_MAX = 3_600
VIEW_SECONDS_MAX = 10.0


class Ledger(CompanyCommands):
    """An open ledger.

    One process owns its directory; any thread may use it; a context manager that drains and closes.
    """

    def __init__(  # noqa: PLR0913 - all by name
        self,
        database: Database,
        *,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        metrics: Metrics | None = None,
        log: Log | None = None,
        queue_commands_max: int = QUEUE_COMMANDS_MAX,
        group_commands_max: int = GROUP_COMMANDS_MAX,
        index_path: Path | None = None,
        derived_path: Path | None = None,
        ages: Ages = DEFAULT_AGES,
        clock_guard: ClockGuard | None = None,
        committer: Callable[..., Committer] = Committer,
    ) -> None:
        """Takes over an open database; callers use `open` or `in_memory`. A simulation brings its own `committer`."""
        self.clock = clock or SystemClock()
        """By which is judged what holds now; commit times never run backwards, though it may."""
        self._commit_clock = FloorClock(self.clock, database.position.floor)
        self.metrics = metrics or Metrics()
        self._database = database
        self._entropy = entropy or SystemEntropy()
        self._remembered = CredentialMemory()
        self._draining = False
        log = log or Log(sys.stderr, self.clock.millis, "warning")
        database.tell_of_opening(log)
        tell_of_clock(database.position.committed_at_millis, self.clock.millis(), log)
        self._committer = committer(
            database,
            self._commit_clock,
            self._entropy,
            self.metrics,
            log,
            queue_commands_max=queue_commands_max,
            group_commands_max=group_commands_max,
            clock_guard=clock_guard,
        )
        self._derived = DerivedEdges(derived_path)
        self._index = SearchIndex(index_path, log, None if index_path is None else ON_DISK)
        self._indexing = Indexing(self._index, self.view, log, None if index_path is None else database)
        self._submitting = Submitting(self._committer, self._indexing, self.view, self.metrics)
        self._beside = Beside(self._index, self._derived, ages, log)
        self.mining = Mining(self._derived, self.view)
        self.judgments = Judging(
            self._committer,
            self.view,
            database.store_key,
            Outside(self.clock, self._entropy, self.metrics, log),
            ages,
        )
        self._committer.start()

    @classmethod
    def open(  # noqa: PLR0913 - all by name
        cls,
        directory: Path | str,
        *,
        create: bool = False,
        clock: Clock | None = None,
        entropy: Entropy | None = None,
        metrics: Metrics | None = None,
        log: Log | None = None,
        queue_commands_max: int = QUEUE_COMMANDS_MAX,
        group_commands_max: int = GROUP_COMMANDS_MAX,
        watermark_lag: int = 0,
        ages: Ages = DEFAULT_AGES,
        clock_ahead_max_seconds: int = CLOCK_AHEAD_SECONDS_MAX,
    ) -> Self:
        """Opens the ledger in `directory`; makes one where there is none and `create` is set.

        With a `watermark_lag` of 1 commands are answered before the watermark tells of them, which spares one command
        at a time one of its two syncs; a log that loses the last group of a process that was killed is then not missed.

        A command is refused (ClockAhead) while the clock is more than `clock_ahead_max_seconds` after the last commit
        and after what the files of the host say, until it is set right or `relatum confirm-clock` says that it is; 0
        believes any clock.

        Raises StoreUnavailable, with a message for the operator, where the directory is missing, in use, of another
        format, damaged, or has lost acknowledged commands. A process must not fork afterwards.
        """
        clock = clock or SystemClock()
        now_millis = clock.millis()
        host_millis = newest_file_millis(Path(directory)) if clock_ahead_max_seconds else 0
        database = Database.open(Path(directory), create=create, watermark_lag=watermark_lag)
        try:
            last_millis = database.position.committed_at_millis
            guard = ClockGuard(Path(directory), clock_ahead_max_seconds * 1000, last_millis, now_millis, host_millis)
            return cls(
                database,
                clock=clock,
                entropy=entropy,
                metrics=metrics,
                log=log,
                queue_commands_max=queue_commands_max,
                group_commands_max=group_commands_max,
                index_path=Path(directory) / INDEX_NAME,
                derived_path=Path(directory) / DERIVED_NAME,
                ages=ages,
                clock_guard=guard if clock_ahead_max_seconds else None,
            )
        except BaseException:
            database.close()
            raise

    @classmethod
    def in_memory(cls, *, clock: Clock | None = None, entropy: Entropy | None = None) -> Self:
        """A ledger that lives as long as the process: for tests and experiments."""
        return cls(Database.in_memory(entropy), clock=clock, entropy=entropy)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Reading

    def view(self, *, counting: bool = True) -> RequestView:
        """One cut and one clock value. Everything a request reads comes from one view; close it, or use `with`.

        Without `counting` a read raises Uncounted where all of a partition's judgments would have to be read first,
        which is so once in a process.

        A journal that is found broken within `with` is closed to further commands of its stream, until a restart: the
        writer by itself notices only what is wrong with the tip of a journal.
        """
        database = self._database
        return RequestView(
            database.view(),
            self.clock.millis(),
            database.store_key,
            self._remembered,
            database.recounts if counting else CountedOnly(database.recounts),
            self._committer.distrust,
            self._beside,
        )

    # Commands

    def command(
        self, partition: Partition, author: Author, idempotency_key: str, operation: MemoryOperation
    ) -> MemorySubmission:
        """A command as it is submitted: with the digest that identifies it under its key."""
        if isinstance(operation, RelationOperation):
            digest = digests.relation_command_digest(operation)
            return RelationSubmission(partition, author, idempotency_key, operation, digest)
        if isinstance(operation, RecordOperation):
            digest = digests.record_command_digest(operation, self._database.store_key)
            return RecordSubmission(partition, author, idempotency_key, operation, digest)
        digest = digests.link_command_digest(operation)
        return LinkSubmission(partition, author, idempotency_key, operation, digest)

    def submit(self, submission: MemorySubmission) -> Receipt | Refusal:
        """Decides one command and makes it durable; blocks until it may be answered.

        Raises WriteBusy (queue full, nothing written), WritesRefused (poisoned or closing, outcome unknown),
        StorageInconsistency, or StorageFailure (nothing could be read, nothing written).
        """
        outcome = self.submit_all([submission])[0]
        if isinstance(outcome, Failure):
            raise outcome
        return outcome

    def submit_all(self, submissions: Sequence[MemorySubmission]) -> list[Receipt | Refusal | Failure]:
        """Decides commands in order as if sent one after another; a failure of one stands in its place.

        Saves are decided one by one. Where the writer takes no more of them (WriteBusy, WritesRefused), or the store
        can't be read (StorageFailure), that is raised if nothing has an outcome yet, else it stands in the places of
        all that have none.
        """
        return self._submitting.submit_all(submissions)

    async def submit_async(self, submissions: Sequence[MemorySubmission]) -> list[Receipt | Refusal | Failure]:
        """`submit_all` for an event loop."""
        return await self._submitting.submit_async(submissions)

    def in_turns_with(self, loop: AbstractEventLoop) -> AbstractContextManager[None]:
        """Within it, the writer shares the thread of `loop`, which enters and leaves it, instead of competing with it.

        IMPORTANT: meanwhile nothing that blocks until a command is decided may be called in that thread.
        """
        return self._committer.in_turns_with(loop)

    def trace_writes(self, spans: WriteSpans | None) -> None:
        """From now on `spans` is told when commands wait for the writer and when a group of them is committed."""
        self._committer.spans = spans

    def restoration(
        self,
        partition: Partition,
        author: Author,
        idempotency_key: str,
        operation: MemoryOperation | Comparing,
        given_ids: dict[str, str],
    ) -> Restoration:
        """A command of an import, which gives the ids of what it makes by what they are of; no request leads here."""
        if isinstance(operation, Comparing):
            digest = digests.judgment_command_digest(operation, self._database.store_key)
            return JudgmentSubmission(partition, author, idempotency_key, operation, digest, given_ids=given_ids)
        submission = self.command(partition, author, idempotency_key, operation)
        return submission if isinstance(submission, LinkSubmission) else submission._replace(given_ids=given_ids)

    def restore(self, submissions: Sequence[Restoration]) -> list[Outcome]:
        """Decides the commands of an import in order, by the same checks as any others; blocks until all are durable.

        Raises WriteBusy or WritesRefused.
        """
        return decided(self._committer, submissions)

    # Change streams

    def follow(self, listener: Listener) -> Callable[[], None]:
        """Calls `listener` with the ids of the workspaces that a publication moved, until the result is called.

        It is called in the writer's thread and must return at once.
        """
        return self._committer.announcer.listen(listener)

    def activate(self, partition: Partition, author: Author, stream: Stream) -> JournalHead:
        """Activates a change stream, or finds it active; its tip."""
        return tip_of(decided(self._committer, [ActivationSubmission(partition, author, stream)]))

    async def activate_async(self, partition: Partition, author: Author, stream: Stream) -> JournalHead:
        """`activate` for an event loop."""
        return tip_of(await decided_async(self._committer, [ActivationSubmission(partition, author, stream)]))

    def save_checkpoint(
        self, partition: Partition, author: Author, stream: Stream, command: CheckpointCommand
    ) -> CheckpointReceipt | Refusal:
        """Decides a checkpoint command and makes it durable; a replay is answered from published state."""
        submission = self._checkpoint(partition, author, stream, command)
        if not isinstance(submission, CheckpointSubmission):
            return submission
        return only(decided(self._committer, [submission]), CheckpointReceipt)

    async def save_checkpoint_async(
        self, partition: Partition, author: Author, stream: Stream, command: CheckpointCommand
    ) -> CheckpointReceipt | Refusal:
        """`save_checkpoint` for an event loop."""
        submission = self._checkpoint(partition, author, stream, command)
        if not isinstance(submission, CheckpointSubmission):
            return submission
        return only(await decided_async(self._committer, [submission]), CheckpointReceipt)

    def _checkpoint(
        self, partition: Partition, author: Author, stream: Stream, command: CheckpointCommand
    ) -> CheckpointSubmission | CheckpointReceipt | Refusal:
        problem = checkpoints.broken_rule(stream, command)
        if problem is not None:
            return invalid(problem)
        digest = digests.checkpoint_command_digest(stream, command)
        with self.view() as view:
            reader = view.partition(partition)
            known = look_up_checkpoint(reader, author.subject_id, command.idempotency_key, digest)
        if isinstance(known, CheckpointReceipt):
            self.metrics.replays.inc()
        return CheckpointSubmission(partition, author, stream, command, digest) if known is None else known

    # Life

    @property
    def recovered(self) -> bool:
        """Whether the process that had the store open before did not close it: it was killed, say."""
        return self._database.recovered

    @property
    def upkeep(self) -> Upkeep | None:
        """What is done to its files while it is in use: ballast, images for backups, compaction. None in memory."""
        return self._database.upkeep

    def image(self) -> AbstractContextManager[Image]:
        """Its files as of what is published now, for as long as the context lasts. See `Upkeep.image`."""
        return self._upkeep_of_files().image()

    def compact(self) -> tuple[int, int]:
        """Purges what was erased before the call from every file; the bytes of the engine's before and after.

        Raises StorageFailure where the ledger is closed meanwhile, or something still reads the old files.
        """
        upkeep = self._upkeep_of_files()
        self._indexing.purge()
        return upkeep.compact()

    def _upkeep_of_files(self) -> Upkeep:
        if self.upkeep is None:
            raise StorageFailure("a ledger in memory has no files")
        return self.upkeep

    def readiness(self) -> Readiness:
        """Whether commands are accepted, and if not, why."""
        if self._committer.poisoned:
            return "poisoned"
        if self._draining:
            return "draining"
        return "ready" if self._committer.clock_is_plausible() else "clock_ahead"

    def drain(self, timeout_seconds: float = CLOSE_SECONDS_MAX) -> bool:
        """Takes no more commands and answers those taken; whether that came about in time. Reads go on."""
        self._committer.require_no_turns_here()
        self._draining = True
        return self._committer.drain(timeout_seconds)

    def close(self, timeout_seconds: float = CLOSE_SECONDS_MAX) -> None:
        """Drains and closes. Raises StorageFailure where something is still in use after `timeout_seconds`.

        Views that are open then are waited for no longer than `VIEW_SECONDS_MAX`.
        """
        end = monotonic() + timeout_seconds
        if not self.drain(timeout_seconds):
            raise StorageFailure("commands were still waiting for the disk when the ledger had to close")
        self._indexing.close()
        for beside in (self._index, self._derived):
            if not beside.close(max(0.0, end - monotonic())):
                raise StorageFailure("the files beside the ledger were still in use when it had to close")
        failpoints.reach("close.drained")
        self._database.close(min(VIEW_SECONDS_MAX, max(0.0, end - monotonic())))
        failpoints.reach("close.closed")
