"""The search index brought together with the writer, so that submitting a command is one call.

Here: a save is compared with what is there before it is decided; what is deleted leaves the index before that is
answered, and what else a command says is indexed in the background. Not here: the index itself, and who else asks it.

Always holds: whatever fails in it, the command goes on. Threads of its own do it for event loops.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import Final, TypeVar

from relatum.core.commands import DeleteRecord, SaveRecord
from relatum.core.decide.saves import NOTHING_DETECTED, Detected
from relatum.core.ids import Partition
from relatum.core.records import RecordInput
from relatum.errors import SearchUnavailable, StorageFailure, StorageInconsistency
from relatum.ledger.search.background import BackgroundIndexing
from relatum.ledger.search.index import SearchIndex
from relatum.ledger.writer.submission import MemorySubmission, RecordSubmission
from relatum.store.database import Database
from relatum.store.view import LedgerView
from relatum.telemetry import Log

Result = TypeVar("Result")

UNPURGED = "the search index can't be purged; nothing is lost"

THREADS: Final = 4
"""How many saves of event loops are compared at once; the index itself is asked by one at a time, in slices."""

_INDEXED_AT_ONCE: Final = (SaveRecord, DeleteRecord)


def in_turn(submissions: Sequence[MemorySubmission]) -> Iterator[Sequence[MemorySubmission]]:
    """Commands in the parts that are decided in turn: a save is compared with all that came before, so it is alone."""
    if not any(map(_is_save, submissions)):
        yield submissions
        return
    for saves, part in groupby(submissions, _is_save):
        if saves:
            yield from ([one] for one in part)
        else:
            yield list(part)


def _is_save(submission: MemorySubmission) -> bool:
    return isinstance(submission.operation, SaveRecord)


def _is_to_be_compared(submission: MemorySubmission) -> bool:
    return isinstance(submission, RecordSubmission) and submission.detected is None and _is_save(submission)


def _is_indexed_at_once(submission: MemorySubmission) -> bool:
    return isinstance(submission.operation, _INDEXED_AT_ONCE)


def _is_deletion(submission: MemorySubmission) -> bool:
    return isinstance(submission.operation, DeleteRecord)


def _unjudging(database: Database) -> Callable[[], LedgerView]:
    """Views by which nothing is judged, so that work in the background asks no clock."""
    return lambda: LedgerView(database.view(), 0, database.store_key, recounts=database.recounts)


class Indexing:
    """Of one ledger. Any thread may use it."""

    def __init__(
        self, index: SearchIndex, view: Callable[[], LedgerView], log: Log, kept: Database | None = None
    ) -> None:
        """The index is kept in step in the background with the database that is `kept`, if there is one."""
        self._background = None if kept is None else BackgroundIndexing(index, _unjudging(kept), log)
        if self._background is not None:
            index.on_behind = self._background.add
        self._index = index
        self._view = view
        self._log = log
        self._thread = ThreadPoolExecutor(THREADS, thread_name_prefix="relatum-saves")

    def close(self) -> None:
        """Ends the thread once it is idle, without waiting for it. To be called before the index is closed."""
        if self._background is not None:
            self._background.close()
        self._thread.shutdown(wait=False)

    def compared(self, submissions: Sequence[MemorySubmission]) -> Sequence[MemorySubmission]:
        """Each save with what the index knows of records that resemble it, unless it says itself what was found."""
        if not any(map(_is_to_be_compared, submissions)):
            return submissions
        return [self._compared(one) if _is_to_be_compared(one) else one for one in submissions]

    async def compared_async(self, submissions: Sequence[MemorySubmission]) -> Sequence[MemorySubmission]:
        """`compared` for an event loop."""
        if not any(map(_is_to_be_compared, submissions)):
            return submissions
        return await self._in_thread(lambda: self.compared(submissions))

    def keep_in_step(self, submissions: Sequence[MemorySubmission]) -> None:
        """Removes what was deleted, and sees to it that the rest is indexed: in the background, if there is one.

        Without a background what saves and deletions said is indexed here; the rest when somebody asks.
        """
        self._remove_deleted(submissions)
        if self._background is not None:
            self._hand_on(submissions, self._background)
            return
        for partition in {one.partition for one in filter(_is_indexed_at_once, submissions)}:
            self._catch_up(partition)

    async def keep_in_step_async(self, submissions: Sequence[MemorySubmission]) -> None:
        """`keep_in_step` for an event loop."""
        asks_now = _is_deletion if self._background is not None else _is_indexed_at_once
        if self._index.is_unmade():  # what was deleted is noted, which takes no time
            self._remove_deleted(submissions)
            if self._background is not None:
                self._hand_on(submissions, self._background)
        elif any(map(asks_now, submissions)):
            await self._in_thread(lambda: self.keep_in_step(submissions))
        elif self._background is not None:
            self._hand_on(submissions, self._background)

    def _hand_on(self, submissions: Sequence[MemorySubmission], background: BackgroundIndexing) -> None:
        for submission in submissions:
            if isinstance(submission, RecordSubmission):
                background.add(submission.partition)

    def _remove_deleted(self, submissions: Sequence[MemorySubmission]) -> None:
        """IMPORTANT: only what is deleted indeed; a refused command deletes nothing.

        Also where there is no index yet: who makes it may have a view from before.
        """
        deleted: dict[Partition, list[str]] = {}
        for submission in submissions:
            if isinstance(submission.operation, DeleteRecord):
                deleted.setdefault(submission.partition, []).append(submission.operation.record_id)
        for partition, record_ids in deleted.items():
            try:
                with self._view() as view:
                    reader = view.partition(partition)
                    self._index.remove(reader, list(filter(reader.is_erased, record_ids)))
            except (StorageFailure, StorageInconsistency) as failure:
                self._log.failure("what was deleted could not be removed from the search index", failure)

    def purge(self) -> None:
        """Purges from the files of the index whatever was erased. Raises StorageFailure where that can't be done."""
        with self._view() as view:
            try:
                purged = self._index.purge([view.partition(partition) for partition in view.partitions()])
            except SearchUnavailable as failure:
                raise StorageFailure(UNPURGED) from failure
            if not purged:
                raise StorageFailure(UNPURGED)

    async def _in_thread(self, work: Callable[[], Result]) -> Result:
        try:
            working = self._thread.submit(work)
        except RuntimeError:  # it has ended with the ledger, which some command has outlived: nothing takes long then
            return work()
        return await asyncio.wrap_future(working)

    def _compared(self, submission: MemorySubmission) -> MemorySubmission:
        assert isinstance(submission, RecordSubmission)
        assert isinstance(submission.operation, SaveRecord)
        return submission._replace(detected=self._detect(submission.partition, submission.operation.record))

    def _detect(self, partition: Partition, record: RecordInput) -> Detected:
        try:
            with self._view() as view:
                reader = view.partition(partition)
                replaced = None if record.topic_key is None else reader.topic_holder(record.topic_key)
                return self._index.detect(reader, record.content, without=replaced)
        except (StorageFailure, StorageInconsistency) as failure:
            self._log.failure("a save was not compared with what is there", failure)
            return NOTHING_DETECTED

    def _catch_up(self, partition: Partition) -> None:
        """Whatever fails in it is made good when the index is asked."""
        try:
            with self._view() as view:
                self._index.catch_up(view.partition(partition))
        except (StorageFailure, StorageInconsistency) as failure:
            self._log.failure("a partition could not be indexed", failure)
