"""The change stream of records or relations: pages, checkpoints, diagnosis, followers (feeds.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, Unpack

from relatum.client.asynchronous.follower import AsyncFollower
from relatum.client.asynchronous.group import AsyncGroup
from relatum.client.requests import VERSION, CallOptions, CommandOptions, Request, calling, fresh_key, post
from relatum.client.witness import Witness, witness_of
from relatum.core.answers.feeds import (
    ActivationAnswer,
    ChangeT,
    CheckpointReadAnswer,
    CheckpointRevisionAnswer,
    CheckpointSavedAnswer,
    DiagnoseAnswer,
    Diagnostics,
    Page,
)
from relatum.core.answers.receipts import Checkpoint, CheckpointReceipt
from relatum.core.cursors import Advance, CheckpointCommand, Reconcile
from relatum.core.feeds import (
    ActivationBody,
    ChangesBody,
    CheckpointBody,
    ConsumerBody,
    ConsumerRevisionBody,
    DiagnoseBody,
    PageQuery,
)
from relatum.core.ids import Scope
from relatum.core.streams import Cursor

if TYPE_CHECKING:
    import os


class AsyncStream(AsyncGroup, Generic[ChangeT]):
    """The routes of one stream, below its path."""

    _stream_path: ClassVar[str]
    _changes: ClassVar[Any]
    """The type of the answer of `changes`."""

    async def changes(
        self,
        *,
        after: Cursor | None = None,
        through: Cursor | None = None,
        limit: int = 256,
        wait_millis: int = 0,
        **options: Unpack[CallOptions],
    ) -> Page[ChangeT]:
        """One page of consecutive changes; with none to deliver the service waits for one. Raises HistoryDiverged."""
        query = PageQuery(after=after, through=through, limit=limit, wait_millis=wait_millis or None)
        found: Any = await self._read(
            f"{self._stream_path}/changes",
            lambda scope: ChangesBody(contract_version=VERSION, scope=scope, query=query),
            self._changes,
            options,
            wait_millis / 1000,
        )
        page: Page[ChangeT] = found.page
        return page

    async def activate(self, **options: Unpack[CallOptions]) -> Cursor:
        """Make the stream active before its first change; always the original baseline."""

        def request(scope: Scope) -> Request[ActivationAnswer]:
            body = ActivationBody(contract_version=VERSION, scope=scope)
            return post(f"{self._stream_path}/changes/activate", body, ActivationAnswer, "command")

        return (await self._scoped.send(request, options)).baseline

    async def checkpoint(self, consumer_id: str, **options: Unpack[CallOptions]) -> Checkpoint:
        """What a consumer has saved. Raises CheckpointNotFound, HistoryDiverged."""
        found = await self._read(
            f"{self._stream_path}/checkpoints/read",
            lambda scope: ConsumerBody(contract_version=VERSION, scope=scope, consumer_id=consumer_id),
            CheckpointReadAnswer,
            options,
        )
        return found.checkpoint

    async def checkpoint_revision(
        self, consumer_id: str, revision: int, **options: Unpack[CallOptions]
    ) -> CheckpointReceipt:
        """The receipt of one revision of a checkpoint, whatever became of the journal. Raises CheckpointNotFound."""
        found = await self._read(
            f"{self._stream_path}/checkpoints/revision",
            lambda scope: ConsumerRevisionBody(
                contract_version=VERSION, scope=scope, consumer_id=consumer_id, revision=revision
            ),
            CheckpointRevisionAnswer,
            options,
        )
        return found.receipt

    async def save_checkpoint(
        self,
        consumer_id: str,
        operation: Advance | Reconcile,
        *,
        expected_revision: int = 0,
        expected_checkpoint_digest: str | None = None,
        **options: Unpack[CommandOptions],
    ) -> CheckpointReceipt:
        """Save a position by hand; followers do it by `commit`. Raises RevisionConflict, HistoryDiverged and others."""
        key = options.get("idempotency_key") or fresh_key()
        command = CheckpointCommand(
            contract_version=VERSION,
            idempotency_key=key,
            consumer_id=consumer_id,
            expected_revision=expected_revision,
            expected_checkpoint_digest=expected_checkpoint_digest,
            operation=operation,
        )

        def request(scope: Scope) -> Request[CheckpointSavedAnswer]:
            body = CheckpointBody(scope=scope, command=command)
            path = f"{self._stream_path}/checkpoints"
            return post(path, body, CheckpointSavedAnswer, "command", key=key, family="checkpoint")

        return (await self._scoped.send(request, calling(options))).receipt

    async def diagnose(
        self, consumer_id: str, *, witness: Cursor | None = None, **options: Unpack[CallOptions]
    ) -> Diagnostics:
        """Where a consumer stands, and whether a cursor of its own lies on the journal."""
        found = await self._read(
            f"{self._stream_path}/consumers/diagnose",
            lambda scope: DiagnoseBody(contract_version=VERSION, scope=scope, consumer_id=consumer_id, witness=witness),
            DiagnoseAnswer,
            options,
        )
        return found.diagnostics

    def follow(
        self,
        consumer_id: str | None = None,
        *,
        after: Cursor | None = None,
        through: Cursor | Literal["tip"] | None = None,
        witness: str | os.PathLike[str] | Witness | None = None,
        start: Literal["checkpoint", "baseline", "now"] = "checkpoint",
        page: int = 256,
        wait_millis: int = 10_000,
        commit_every: int | None = None,
    ) -> AsyncFollower[ChangeT]:
        """The deliveries of the stream, at least once and in order, for as long as somebody takes them.

        Begins at the checkpoint of `consumer_id`, where there is none at the baseline; or where `start` or `after` say.
        Ends at `through`; "tip" is the tip as of the beginning. Without a witness a restore from a backup can't be
        noticed, since the checkpoint is restored with the store.
        """
        kept = None if witness is None else witness_of(witness)
        return AsyncFollower(
            self,
            self._scoped.session,
            consumer_id,
            after,
            through,
            kept,
            start=start,
            page=page,
            wait_millis=wait_millis,
            commit_every=commit_every,
        )
