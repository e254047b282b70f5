"""From commands to their outcomes: what `Ledger.submit` and its likes do.

Here: what is known is answered from published state, saves are compared and decided one by one, and what became of each
part is told in its place. Not here: deciding, which is the writer's.

Always holds: what was taken is told, whatever becomes of the commands behind it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from relatum.core.receipts import Receipt
from relatum.errors import Failure, Refusal, StorageFailure, StorageInconsistency, WriteBusy, WritesRefused
from relatum.ledger.search_index import Indexing, in_turn
from relatum.ledger.writer.committer import Committer
from relatum.ledger.writer.futures import counted, counted_async, decided, decided_async, filled, merged
from relatum.ledger.writer.group import is_known, look_up
from relatum.ledger.writer.submission import MemorySubmission
from relatum.store.view import LedgerView
from relatum.telemetry import Metrics

Told = Receipt | Refusal | Failure
"""What is told of one command."""


class Submitting:
    """Of one ledger. Any thread may use it."""

    def __init__(
        self, committer: Committer, indexing: Indexing, view: Callable[[], LedgerView], metrics: Metrics
    ) -> None:
        self._committer = committer
        self._indexing = indexing
        self._view = view
        self._metrics = metrics

    def submit_all(self, submissions: Sequence[MemorySubmission]) -> list[Told]:
        """See `Ledger.submit_all`."""
        outcomes: list[Told] = []
        failure: Failure | None = None
        for part in in_turn(submissions):
            known = _nothing(part)
            try:
                known, fresh = self._known(part)
                if fresh and failure is None:
                    counted(self._committer, fresh)
                    outcomes += merged(known, decided(self._committer, self._indexing.compared(fresh)))
                    continue
            except (StorageFailure, WriteBusy, WritesRefused) as error:
                failure = failure or _unless_first(error, outcomes)
            outcomes += filled(known, failure)
        self._indexing.keep_in_step(submissions)
        return outcomes

    async def submit_async(self, submissions: Sequence[MemorySubmission]) -> list[Told]:
        """`submit_all` for an event loop."""
        outcomes: list[Told] = []
        failure: Failure | None = None
        for part in in_turn(submissions):
            known = _nothing(part)
            try:
                known, fresh = self._known(part)
                if fresh and failure is None:
                    await counted_async(self._committer, fresh)
                    compared = await self._indexing.compared_async(fresh)
                    outcomes += merged(known, await decided_async(self._committer, compared))
                    continue
            except (StorageFailure, WriteBusy, WritesRefused) as error:
                failure = failure or _unless_first(error, outcomes)
            outcomes += filled(known, failure)
        await self._indexing.keep_in_step_async(submissions)
        return outcomes

    def _known(self, submissions: Sequence[MemorySubmission]) -> tuple[list[Told | None], list[MemorySubmission]]:
        """What published state says of each key, and the commands of which it says nothing.

        A replay is answered from here, without waiting for the disk.
        """
        known: list[Told | None] = []
        fresh: list[MemorySubmission] = []
        with self._view() as view:
            for submission in submissions:
                try:
                    partition = view.partition(submission.partition)
                    outcome = look_up(partition, submission) if is_known(partition, submission) else None
                except StorageInconsistency as error:
                    known.append(error)
                    continue
                known.append(outcome)
                if outcome is None:
                    fresh.append(submission)
                elif not isinstance(outcome, Refusal):
                    self._metrics.replays.inc()
        return known, fresh


def _nothing(part: Sequence[object]) -> list[Told | None]:
    """What is known of a part before anybody has looked."""
    return [None] * len(part)


def _unless_first(failure: Failure, outcomes: Sequence[object]) -> Failure:
    """The failure of a part, unless it is the first of its batch: then it is raised."""
    if not outcomes:
        raise failure
    return failure
