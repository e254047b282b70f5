"""Pages of the change streams, checkpoints and diagnosis as answered (feeds.md)."""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

from relatum.core.answers.base import Answer, Open
from relatum.core.answers.receipts import Checkpoint, CheckpointReceipt, RecordAction, RelationChangeAction
from relatum.core.answers.standings import StandingAction
from relatum.core.ids import Author, Ref, Scope
from relatum.core.kinds import Kind
from relatum.core.streams import Cursor
from relatum.core.wire import DigestHex, Millis, Uuid

CheckpointStatus = Literal["missing", "compatible", "history_incompatible"]

WitnessStatus = Literal["not_provided", "compatible", "history_incompatible"]

Relative = Literal["before", "equal", "after"]


class RelationChange(Answer, frozen=True, kw_only=True):
    """One accepted relation command, as the feed tells it."""

    schema_version: Literal[1]
    kind: Open[RelationChangeAction]
    relation_id: Uuid
    relation_revision: int
    source: Ref
    target: Ref
    relation_kind: Open[Kind]
    author: Author
    committed_at_millis: Millis
    relation_digest: DigestHex
    receipt_digest: DigestHex


class RecordChange(Answer, frozen=True, kw_only=True):
    """A change of a record or of its standing, as the feed tells it."""

    schema_version: Literal[1]
    kind: Open[RecordAction] | Open[StandingAction]
    record_id: Uuid
    record_revision: int
    author: Author
    committed_at_millis: Millis
    record_digest: DigestHex
    receipt_digest: DigestHex


Change = RelationChange | RecordChange

ChangeT = TypeVar("ChangeT", bound=Change)


class Delivery(Answer, Generic[ChangeT], frozen=True, kw_only=True):
    """One change and the cursor that a consumer stands at once it has taken it."""

    cursor: Cursor
    change: ChangeT


class Page(Answer, Generic[ChangeT], frozen=True, kw_only=True):
    """Consecutive deliveries. `high_watermark` is the fence; the page is `complete` if `next_cursor` has come to it.

    Cursors are null where the stream is not active.
    """

    active: bool
    baseline: Cursor | None
    changes: tuple[Delivery[ChangeT], ...]
    next_cursor: Cursor | None
    high_watermark: Cursor | None
    complete: bool


class Diagnostics(Answer, frozen=True, kw_only=True):
    """Where a consumer stands on a journal. `pending_positions` counts what its checkpoint has not seen."""

    consumer_id: str
    active: bool
    baseline: Cursor | None
    high_watermark: Cursor | None
    checkpoint: Checkpoint | None
    checkpoint_status: Open[CheckpointStatus]
    pending_positions: int | None
    witness_status: Open[WitnessStatus]
    checkpoint_relative_to_witness: Open[Relative] | None


class RelationChangesAnswer(Answer, frozen=True, kw_only=True):
    """A page of changes of relations."""

    contract_version: Literal[1]
    scope: Scope
    page: Page[RelationChange]


class RecordChangesAnswer(Answer, frozen=True, kw_only=True):
    """A page of changes of records."""

    contract_version: Literal[1]
    scope: Scope
    page: Page[RecordChange]


class ActivationAnswer(Answer, frozen=True, kw_only=True):
    """The baseline of a stream that is active now: a cursor before its first change."""

    contract_version: Literal[1]
    scope: Scope
    baseline: Cursor


class CheckpointSavedAnswer(Answer, frozen=True, kw_only=True):
    """A checkpoint that is saved."""

    contract_version: Literal[1]
    receipt: CheckpointReceipt


class CheckpointReadAnswer(Answer, frozen=True, kw_only=True):
    """What a consumer has saved."""

    contract_version: Literal[1]
    scope: Scope
    checkpoint: Checkpoint


class CheckpointRevisionAnswer(Answer, frozen=True, kw_only=True):
    """The receipt of one revision of a checkpoint."""

    contract_version: Literal[1]
    scope: Scope
    receipt: CheckpointReceipt


class DiagnoseAnswer(Answer, frozen=True, kw_only=True):
    """Where a consumer stands."""

    contract_version: Literal[1]
    scope: Scope
    diagnostics: Diagnostics
