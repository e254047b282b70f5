"""Judgments in process: what `Ledger.judgments` gives (judgments.md).

Here: judgment commands submitted, item by item where they are batches, and the sweep of the timer. Not here: the rules,
which are the core's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple

from relatum.clock import Clock
from relatum.core import digests
from relatum.core.decide.judgment_rules import broken_rule
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Author, Partition, uuid7
from relatum.core.judgments import Judging as JudgingBatch
from relatum.core.judgments import JudgmentOperation, Sweeping
from relatum.entropy import Entropy
from relatum.errors import Failure, Refusal, StorageInconsistency, WriteBusy, invalid
from relatum.ledger.writer.committer import Committer
from relatum.ledger.writer.futures import decided, decided_async
from relatum.ledger.writer.submission import JudgmentSubmission, Outcome
from relatum.limits import JUDGMENTS_MAX, RESURFACING_MILLIS_DEFAULT, SWEEP_DEADLINE_MILLIS_DEFAULT
from relatum.store.partition import PartitionReader
from relatum.store.replay import look_up_judgment
from relatum.store.view import LedgerView
from relatum.telemetry import Log, Metrics

SYSTEM = Author(credential_id="00000000-0000-0000-0000-000000000000", subject_id="relatum")
"""In whose name the timer sweeps; nobody is shown it."""

Judged = JudgmentEvent | Failure


class Outside(NamedTuple):
    """What a ledger is given of the world."""

    clock: Clock
    entropy: Entropy
    metrics: Metrics
    log: Log


class Ages(NamedTuple):
    """From when on a pending candidate is offered again, and after which age it is orphaned."""

    resurfacing_millis: int = RESURFACING_MILLIS_DEFAULT
    deadline_millis: int = SWEEP_DEADLINE_MILLIS_DEFAULT


DEFAULT_AGES = Ages()


class Judging:
    """The judgments of one ledger. Any thread may use it."""

    def __init__(
        self,
        committer: Committer,
        view: Callable[[], LedgerView],
        store_key: bytes,
        outside: Outside,
        ages: Ages,
    ) -> None:
        self.ages = ages
        self._clock, self._entropy, self._metrics, self._log = outside
        self._committer = committer
        self._view = view
        self._store_key = store_key

    def submit(
        self, partition: Partition, author: Author, idempotency_key: str, operation: JudgmentOperation
    ) -> list[Judged] | Refusal:
        """Decides a judgment command, a batch item by item, in order; blocks until it may be answered.

        The event of each item has all that is answered. A refusal concerns the whole command.
        Raises WriteBusy, WritesRefused or StorageInconsistency.
        """
        prepared = self._prepared(partition, author, idempotency_key, operation)
        if isinstance(prepared, Refusal):
            return prepared
        known, fresh = prepared
        return _merged(known, decided(self._committer, fresh) if fresh else [])

    async def submit_async(
        self, partition: Partition, author: Author, idempotency_key: str, operation: JudgmentOperation
    ) -> list[Judged] | Refusal:
        """`submit` for an event loop."""
        prepared = self._prepared(partition, author, idempotency_key, operation)
        if isinstance(prepared, Refusal):
            return prepared
        known, fresh = prepared
        return _merged(known, await decided_async(self._committer, fresh) if fresh else [])

    def sweep_due(self, wanted: Callable[[], bool] = lambda: True) -> int:
        """A run of the timer: orphans what has waited too long, in every partition; how many candidates that were.

        It is asked before each partition whether the run is still `wanted`. A partition for which the queue has no room
        is left to the next run. Reads and writes; not for an event loop. Raises WritesRefused.
        """
        orphaned = left = 0
        for partition in takewhile(lambda _: wanted(), self._due(wanted)):
            try:
                orphaned += self._sweep(partition)
            except WriteBusy:
                left += 1
        if left:
            self._log.warning("the queue had no room to sweep some partitions; the next run does", partitions=left)
        return orphaned

    def _due(self, wanted: Callable[[], bool]) -> list[Partition]:
        """The partitions that have something to sweep, as far as a glimpse tells: what is swept, the writer decides."""
        found: list[Partition] = []
        with self._view() as view:
            before = view.now_millis - self.ages.deadline_millis
            try:
                for partition in takewhile(lambda _: wanted(), view.partitions()):
                    if self._has_pending(view.glimpse(partition), before):
                        found.append(partition)  # noqa: PERF401 - what was found stays, wherever the list breaks off
            except StorageInconsistency as failure:
                self._log.failure("the list of workspaces is damaged; what it names before that is swept", failure)
        return found

    def _has_pending(self, partition: PartitionReader, before_millis: int) -> bool:
        try:
            return next(partition.pending_since(before_millis), None) is not None
        except StorageInconsistency as failure:
            self._log.failure("a partition can't be swept", failure)
            return False

    def _sweep(self, partition: Partition) -> int:
        key = f"timer/{uuid7(self._clock.millis(), self._entropy.draw(10))}"
        digest = digests.judgment_command_digest(Sweeping(), self._store_key)
        submission = JudgmentSubmission(
            partition, SYSTEM, key, Sweeping(), digest, None, self.ages.deadline_millis, by_timer=True
        )
        orphaned = 0
        for outcome in decided(self._committer, [submission]):
            if isinstance(outcome, JudgmentEvent) and outcome.consequences is not None:
                orphaned += len(outcome.consequences.candidates)
        return orphaned

    def _prepared(
        self, partition: Partition, author: Author, idempotency_key: str, operation: JudgmentOperation
    ) -> tuple[list[JudgmentEvent], list[JudgmentSubmission]] | Refusal:
        """What is known of a command already, and what is left to be decided: of a batch, the items from there.

        IMPORTANT: items are decided in order, so those that are known come first; and what is known of the key comes
        before the static rules, which a command that is known has passed.
        """
        digest = digests.judgment_command_digest(operation, self._store_key)
        known: list[JudgmentEvent] = []
        items = _items(operation)
        with self._view() as view:
            reader = view.partition(partition)
            for item in items:
                found = look_up_judgment(reader, author.subject_id, idempotency_key, digest, item)
                if isinstance(found, Refusal):
                    return found
                if found is None:
                    break
                known.append(found)
        self._metrics.replays.inc(len(known))
        problem = None if known else broken_rule(operation, idempotency_key)
        if problem is not None:
            return invalid(problem)
        return known, [
            JudgmentSubmission(partition, author, idempotency_key, operation, digest, item, self.ages.deadline_millis)
            for item in items[len(known) :]
        ]


def _items(operation: JudgmentOperation) -> Sequence[int | None]:
    """What is decided on its own: the items of a batch, which for one that breaks its bounds are of no account."""
    if not isinstance(operation, JudgingBatch):
        return (None,)
    return range(max(1, min(len(operation.judgments), JUDGMENTS_MAX)))


def _merged(known: Sequence[JudgmentEvent], outcomes: Sequence[Outcome]) -> list[Judged] | Refusal:
    merged: list[Judged] = [*known]
    for outcome in outcomes:
        if isinstance(outcome, Refusal):
            return outcome
        assert isinstance(outcome, JudgmentEvent | Failure)
        merged.append(outcome)
    return merged
