"""Memory records: commands, reads, and what judgments and views say of them (records.md, judgments.md, views.md)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import ClassVar, Final, Unpack

from relatum.client.asynchronous.batches import AsyncBatches, Door
from relatum.client.asynchronous.record_views import AsyncRecordViews
from relatum.client.chunks import chunks
from relatum.client.inputs import derivation_of, record_of
from relatum.client.requests import MEMORY, VERSION, CallOptions, CommandOptions, RecordMembers
from relatum.client.results import Accepted, RecordAt, Refused, Saved, id_of, ref_of, refs_of
from relatum.core.answers.commands import RecordBatchResults, RecordCommandAnswer
from relatum.core.answers.feeds import RecordChangesAnswer
from relatum.core.answers.receipts import RecordReceipt
from relatum.core.answers.records import (
    Disposition,
    Record,
    RecordBatchReadAnswer,
    RecordHistory,
    RecordInspectAnswer,
    RecordInspection,
    RecordReadAnswer,
    RecordRevisionAnswer,
)
from relatum.core.commands import (
    ArchiveRecord,
    CreateRecord,
    DeleteRecord,
    DeriveRecord,
    MarkStale,
    PinRecord,
    RecordCommand,
    RecordOperation,
    ReviewRecord,
    ReviseRecord,
    SaveRecord,
    UnarchiveRecord,
    UnpinRecord,
)
from relatum.core.ids import Scope
from relatum.core.queries import RecordBatchRead, RecordRead, RecordRevisionRead
from relatum.core.records import Derivation, RecordInput
from relatum.limits import CANDIDATES_DEFAULT, RECORD_BATCH_MAX

_PATH: Final = f"{MEMORY}/records"
_BATCH: Final = Door(f"{_PATH}/commands/batch", "record", RecordBatchResults)

At = RecordAt | tuple[str, int]
"""A record at an exact revision: a reference, a pair, a receipt, a record, a saved one."""


class AsyncRecords(AsyncRecordViews):
    """Memory records, and the stream of their changes.

    A record is given as a text, its other members as keywords, or as a `RecordInput`.
    """

    _stream_path: ClassVar[str] = _PATH
    _changes = RecordChangesAnswer

    async def create(self, record: RecordInput | str, **members: Unpack[RecordMembers]) -> RecordReceipt:
        """A new record. Raises RevisionConflict where its topic is taken; `save` replaces the holder."""
        given, options = record_of(record, members)
        return await self._operate(CreateRecord(record=given), options)

    async def save(
        self, record: RecordInput | str, *, candidates_max: int = CANDIDATES_DEFAULT, **members: Unpack[RecordMembers]
    ) -> Saved:
        """A new record that takes its topic's slot, and what it may contradict or replace."""
        given, options = record_of(record, members)
        operation = SaveRecord(record=given, candidates_max=candidates_max)
        answer = await self._answer(operation, options)
        found = answer.candidates or ()
        return Saved(answer.receipt, found or (), bool(answer.judgment_required), answer.candidates_detected or 0)

    async def revise(self, target: At, record: RecordInput | str, **members: Unpack[RecordMembers]) -> RecordReceipt:
        """Replace the content of a record; what pins it ends. Raises RevisionConflict, RecordNotFound."""
        given, options = record_of(record, members)
        ref = ref_of(target)
        operation = ReviseRecord(record_id=ref.record_id, expected_revision=ref.revision, record=given)
        return await self._operate(operation, options)

    async def delete(self, target: At, **options: Unpack[CommandOptions]) -> RecordReceipt:
        """Erase a record and all its revisions; a tombstone stays. Raises RevisionConflict, RecordNotFound."""
        ref = ref_of(target)
        return await self._operate(DeleteRecord(record_id=ref.record_id, expected_revision=ref.revision), options)

    async def derive(
        self,
        record: RecordInput | str,
        derivation: Derivation | Iterable[At],
        *,
        method: str | None = None,
        method_revision: str | None = None,
        evidence_ref: str | None = None,
        **members: Unpack[RecordMembers],
    ) -> RecordReceipt:
        """A new record made from others: a `Derivation`, or its sources with its other members as keywords.

        Raises RevisionConflict where a source is not there at its revision, RecordNotFound where it is not at all.
        """
        given, options = record_of(record, members)
        made = derivation_of(derivation, refs_of, method, method_revision, evidence_ref)
        return await self._operate(DeriveRecord(record=given, derivation=made), options)

    async def review(
        self, target: At, disposition: Disposition, *, evidence_ref: str, **options: Unpack[CommandOptions]
    ) -> RecordReceipt:
        """Say what a reviewer thinks of a record. Raises RevisionConflict, RecordNotFound."""
        ref = ref_of(target)
        operation = ReviewRecord(
            record_id=ref.record_id, expected_revision=ref.revision, disposition=disposition, evidence_ref=evidence_ref
        )
        return await self._operate(operation, options)

    async def archive(self, target: At, **options: Unpack[CommandOptions]) -> RecordReceipt:
        """Put a record away; its revision stays. Raises RevisionConflict, RecordNotFound."""
        ref = ref_of(target)
        return await self._operate(ArchiveRecord(record_id=ref.record_id, expected_revision=ref.revision), options)

    async def unarchive(self, target: At, **options: Unpack[CommandOptions]) -> RecordReceipt:
        """Take a record out of the archive. Raises RevisionConflict, RecordNotFound."""
        ref = ref_of(target)
        return await self._operate(UnarchiveRecord(record_id=ref.record_id, expected_revision=ref.revision), options)

    async def pin(self, target: At, **options: Unpack[CommandOptions]) -> RecordReceipt:
        """Mark a record as always worth showing. Raises RevisionConflict, RecordNotFound, InvalidRequest past 20."""
        ref = ref_of(target)
        return await self._operate(PinRecord(record_id=ref.record_id, expected_revision=ref.revision), options)

    async def unpin(self, target: At, **options: Unpack[CommandOptions]) -> RecordReceipt:
        """Take that mark away. Raises RevisionConflict, RecordNotFound."""
        ref = ref_of(target)
        return await self._operate(UnpinRecord(record_id=ref.record_id, expected_revision=ref.revision), options)

    async def mark_stale(
        self,
        record_id: RecordAt | str,
        *,
        because: At,
        confidence: float | None = None,
        **options: Unpack[CommandOptions],
    ) -> RecordReceipt:
        """Say that a later record makes one out of date. Raises RevisionConflict, RecordNotFound."""
        operation = MarkStale(record_id=id_of(record_id), because=ref_of(because), confidence=confidence)
        return await self._operate(operation, options)

    async def submit_many(
        self,
        operations: Iterable[RecordOperation],
        *,
        keys: Iterable[str] | None = None,
        **options: Unpack[CallOptions],
    ) -> list[Accepted | Refused]:
        """Many commands in order, in as few requests as they fit in: an outcome each, in order.

        Raises OutcomeUnknown where the deadline of a request ends it, with `outcomes` so far and `unsettled` keys.
        """
        return await AsyncBatches[RecordOperation](self._scoped, _BATCH).all(operations, keys, options)

    def submit_each(
        self,
        operations: Iterable[RecordOperation],
        *,
        keys: Iterable[str] | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncIterator[Accepted | Refused]:
        """As `submit_many`, one outcome after another, holding no more than one request's commands."""
        return AsyncBatches[RecordOperation](self._scoped, _BATCH).each(operations, keys, options)

    async def get(self, record_id: RecordAt | str, **options: Unpack[CallOptions]) -> Record:
        """An eligible record. Raises RecordNotFound for an absent or ineligible one."""
        return (await self._read(f"{_PATH}/read", _reading(record_id), RecordReadAnswer, options)).record

    async def get_many(
        self, record_ids: Iterable[RecordAt | str], **options: Unpack[CallOptions]
    ) -> dict[str, Record | None]:
        """Records by their ids, in the order asked for; None for what is not served. Split by 100."""
        found: dict[str, Record | None] = {}
        for chunk in chunks(dict.fromkeys(map(id_of, record_ids)), RECORD_BATCH_MAX):
            found |= await self._get_chunk(chunk, options)
        return found

    async def _get_chunk(self, record_ids: Sequence[str], options: CallOptions) -> dict[str, Record | None]:
        answer = await self._read(
            f"{_PATH}/batch",
            lambda scope: RecordBatchRead(contract_version=VERSION, scope=scope, record_ids=tuple(record_ids)),
            RecordBatchReadAnswer,
            options,
        )
        return {entry.record_id: entry.record for entry in answer.batch.entries}

    async def inspect(self, record_id: RecordAt | str, **options: Unpack[CallOptions]) -> RecordInspection:
        """A retained record in whatever state, and the verdict on it. Raises RecordNotFound."""
        return (await self._read(f"{_PATH}/inspect", _reading(record_id), RecordInspectAnswer, options)).inspection

    async def revision(self, record_id: RecordAt | str, revision: int, **options: Unpack[CallOptions]) -> RecordHistory:
        """A record as it was at one revision, with the receipt that brought it. Raises RecordNotFound."""
        found = await self._read(
            f"{_PATH}/revision",
            lambda scope: RecordRevisionRead(
                contract_version=VERSION, scope=scope, record_id=id_of(record_id), revision=revision
            ),
            RecordRevisionAnswer,
            options,
        )
        return found.history

    async def _operate(self, operation: RecordOperation, options: CommandOptions) -> RecordReceipt:
        return (await self._answer(operation, options)).receipt

    async def _answer(self, operation: RecordOperation, options: CommandOptions) -> RecordCommandAnswer:
        def body(scope: Scope, key: str) -> RecordCommand:
            return RecordCommand(contract_version=VERSION, scope=scope, idempotency_key=key, operation=operation)

        return await self._command(f"{_PATH}/commands", "record", body, RecordCommandAnswer, options)


def _reading(record_id: RecordAt | str) -> Callable[[Scope], RecordRead]:
    return lambda scope: RecordRead(contract_version=VERSION, scope=scope, record_id=id_of(record_id))
