"""Followers of a change stream: pages with a wait, checked one by one, and checkpoints on demand (client.md).

Always holds: nothing is committed but by `commit` or `commit_every`, and under no other revision and digest than those
of the checkpoint that this follower has read or made.
"""

from __future__ import annotations

from collections import deque
from types import TracebackType
from typing import Final, Generic, Literal, Protocol, Self, Unpack

from relatum.client import errors
from relatum.client.asynchronous.session import AsyncSession
from relatum.client.requests import CallOptions, CommandOptions, draw, fresh_key
from relatum.client.witness import Witness
from relatum.core.answers.feeds import ChangeT, Delivery, Diagnostics, Page
from relatum.core.answers.receipts import Checkpoint, CheckpointReceipt
from relatum.core.cursors import Advance, Reconcile
from relatum.core.streams import Cursor

_PASSING: Final = (errors.NotReached, errors.OutcomeUnknown, errors.Unavailable, errors.InternalError)
"""What passes, if one asks long enough."""
_PAUSE_LEAST: Final = 0.1
_PAUSE_MOST: Final = 3.2


class AsyncSource(Protocol[ChangeT]):
    """What a follower asks: the routes of one stream."""

    async def changes(
        self,
        *,
        after: Cursor | None = None,
        through: Cursor | None = None,
        limit: int = 256,
        wait_millis: int = 0,
        **options: Unpack[CallOptions],
    ) -> Page[ChangeT]:
        """One page."""
        ...

    async def diagnose(
        self, consumer_id: str, *, witness: Cursor | None = None, **options: Unpack[CallOptions]
    ) -> Diagnostics:
        """Where a consumer stands."""
        ...

    async def save_checkpoint(
        self,
        consumer_id: str,
        operation: Advance | Reconcile,
        *,
        expected_revision: int = 0,
        expected_checkpoint_digest: str | None = None,
        **options: Unpack[CommandOptions],
    ) -> CheckpointReceipt:
        """Save a position."""
        ...


class AsyncFollower(Generic[ChangeT]):
    """A context manager and an iterator of deliveries, at least once and in order.

    A 503 or a broken connection is waited out for ever, unless the client has `retry=False`. Raises HistoryDiverged,
    with `diagnostics`, where the checkpoint, the witness or a cursor lies on another history; `reconcile` goes on then.
    """

    def __init__(
        self,
        stream: AsyncSource[ChangeT],
        session: AsyncSession,
        consumer_id: str | None,
        after: Cursor | None,
        through: Cursor | Literal["tip"] | None,
        witness: Witness | None,
        *,
        start: Literal["checkpoint", "baseline", "now"],
        page: int,
        wait_millis: int,
        commit_every: int | None,
    ) -> None:
        if consumer_id is None and (commit_every is not None or witness is not None):
            raise ValueError("a witness and commits go with a consumer_id")
        self._stream = stream
        self._session = session
        self._consumer_id = consumer_id
        self._cursor = after
        self._through = through
        self._witness = witness
        self._start = start
        self._limit = page
        self._wait_millis = wait_millis
        self._commit_every = commit_every
        self._checkpoint: Checkpoint | None = None
        self._last: Cursor | None = None
        self._uncommitted = 0
        self._taken: deque[Delivery[ChangeT]] = deque()
        self._replace = False
        self._stopped = False
        self._ended = False

    async def __aenter__(self) -> Self:
        """Find the place to begin at. Raises HistoryDiverged."""
        given = self._cursor is not None
        if self._consumer_id is not None:
            await self._resume(self._consumer_id)
        if self._start == "now" and not given:
            self._cursor = (await self._page(None, 1, 0)).high_watermark
        if self._through == "tip":
            tip = (await self._page(self._cursor, 1, 0)).high_watermark
            self._through = tip
            self._ended = tip is None or (self._cursor is not None and self._cursor.sequence >= tip.sequence)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Delivery[ChangeT]:
        """The next delivery, waited for. What is due to be committed is committed first: it has been taken by now."""
        if self._commit_every is not None and self._uncommitted >= self._commit_every:
            await self.commit()
        while not self._taken:
            if self._stopped or self._ended:
                if self._commit_every is not None and self._uncommitted:
                    await self.commit()
                raise StopAsyncIteration
            await self._fill()
        delivery = self._taken.popleft()
        self._last = self._cursor = delivery.cursor
        self._uncommitted += 1
        return delivery

    async def _fill(self) -> None:
        """Take the next page."""
        page = await self._page(self._cursor, self._limit, self._wait_millis)
        self._taken.extend(page.changes)
        self._ended = page.complete and self._through is not None
        if not page.changes:
            self._cursor = page.next_cursor or self._cursor
            if self._wait_millis == 0 and not self._ended:
                await self._pause(_PAUSE_MOST)

    async def commit(self, delivery: Delivery[ChangeT] | None = None) -> None:
        """Advance the checkpoint to a delivery, by default the last one yielded; then write the witness.

        Raises CheckpointTaken where another follower has moved it, and ValueError without a consumer_id.
        """
        cursor = self._last if delivery is None else delivery.cursor
        if cursor is None:
            return
        await self._save(Advance(cursor=cursor))
        if self._last is not None and cursor.sequence == self._last.sequence:
            self._uncommitted = 0

    async def reconcile(self, cursor: Cursor, evidence_ref: str) -> None:
        """Put the checkpoint on a cursor of the present history, whatever it was, and go on from there."""
        diagnostics = await self._diagnose()
        self._checkpoint = diagnostics.checkpoint
        operation = (
            Advance(cursor=cursor) if self._checkpoint is None else Reconcile(cursor=cursor, evidence_ref=evidence_ref)
        )
        await self._save(operation)
        self._cursor = self._last = cursor
        self._taken.clear()
        self._stopped = self._ended = False

    async def lag(self) -> int:
        """How many positions lie between the last delivery, or the beginning, and the tip."""
        page = await self._stream.changes(after=self._cursor, limit=1)
        if page.high_watermark is None:
            return 0
        return page.high_watermark.sequence - (self._cursor.sequence if self._cursor else 0)

    def stop(self) -> None:
        """End once the page in progress is taken; from any thread."""
        self._stopped = True

    async def _resume(self, consumer_id: str) -> None:
        diagnostics = await self._diagnose()
        diverged = "history_incompatible" in (diagnostics.checkpoint_status, diagnostics.witness_status)
        self._checkpoint = diagnostics.checkpoint
        if diverged and self._start != "baseline":
            raise _diverged(diagnostics)
        self._replace = diverged
        if self._cursor is None and self._start == "checkpoint" and self._checkpoint is not None:
            self._cursor = self._checkpoint.cursor

    async def _diagnose(self) -> Diagnostics:
        assert self._consumer_id is not None
        witness = None if self._witness is None else self._witness.load()
        pauses = 0
        while True:
            try:
                return await self._stream.diagnose(self._consumer_id, witness=witness)
            except _PASSING as error:
                pauses += 1
                await self._wait_out(pauses, error)

    async def _save(self, operation: Advance | Reconcile) -> None:
        if self._consumer_id is None:
            raise ValueError("a commit needs a consumer_id")
        before = self._checkpoint
        behind = before is not None and self._start == "baseline" and before.cursor.sequence > operation.cursor.sequence
        if before is not None and isinstance(operation, Advance) and (self._replace or behind):
            operation = Reconcile(cursor=operation.cursor, evidence_ref="relatum.client: begun at the baseline")
        receipt = await self._saved(self._consumer_id, operation)
        self._checkpoint, self._replace = receipt.checkpoint, False
        if self._witness is not None:
            self._witness.save(receipt.checkpoint.cursor)

    async def _saved(self, consumer_id: str, operation: Advance | Reconcile) -> CheckpointReceipt:
        """The receipt of a checkpoint command, repeated under one key until there is one."""
        before = self._checkpoint
        key, pauses = fresh_key(), 0
        while True:
            try:
                return await self._stream.save_checkpoint(
                    consumer_id,
                    operation,
                    expected_revision=0 if before is None else before.revision,
                    expected_checkpoint_digest=None if before is None else before.checkpoint_digest,
                    idempotency_key=key,
                )
            except errors.RevisionConflict as error:
                raise errors.CheckpointTaken(error.status, error.code, error.message, error.route) from error
            except _PASSING as error:
                pauses += 1
                await self._wait_out(pauses, error)

    async def _page(self, after: Cursor | None, limit: int, wait_millis: int) -> Page[ChangeT]:
        """A page, however long it takes to get one."""
        through = self._through if isinstance(self._through, Cursor) else None
        pauses = 0
        while True:
            try:
                return await self._stream.changes(after=after, through=through, limit=limit, wait_millis=wait_millis)
            except errors.HistoryDiverged as error:
                if self._consumer_id is not None:
                    error.diagnostics = await self._diagnose()
                raise
            except _PASSING as error:
                pauses += 1
                await self._wait_out(pauses, error)

    async def _wait_out(self, pauses: int, error: errors.RelatumError) -> None:
        """Pause after what passes; raise it where the client does not repeat, or after `stop`."""
        if not self._session.plan.retry or self._stopped:
            raise error
        await self._pause(min(_PAUSE_LEAST * 2 ** min(pauses, 10), _PAUSE_MOST) * (0.5 + draw() / 2))

    async def _pause(self, seconds: float) -> None:
        await self._session.wait(seconds)


def _diverged(diagnostics: Diagnostics) -> errors.HistoryDiverged:
    message = "the checkpoint or the witness lies on another history: the store was restored, or is another one"
    error = errors.HistoryDiverged(409, "journal_history_conflict", message, "consumers/diagnose")
    error.diagnostics = diagnostics
    return error
