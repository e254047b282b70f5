"""Commands as they come over the wire: a closed union of operations per family.

Types, required and unknown members, enumerations, UUID syntax and integer ranges are checked by decoding these structs;
everything else is a static rule, checked when the command is decided (transport.md, schema and static rules).
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import force_setattr

from relatum.core.answers.records import Disposition
from relatum.core.ids import Ref, Scope
from relatum.core.records import Derivation, RecordInput
from relatum.core.relations import RelationInput
from relatum.core.wire import Closed, Revision, Sparse, Uuid, canonical_uuid, check_u64
from relatum.limits import CANDIDATES_DEFAULT, CANDIDATES_MAX

CandidatesMax = Annotated[
    int, Meta(extra_json_schema={"minimum": 0, "maximum": CANDIDATES_MAX, "default": CANDIDATES_DEFAULT})
]


class _RecordTarget(Sparse, frozen=True, kw_only=True):
    """Members of an operation on an existing record."""

    record_id: Uuid
    expected_revision: Revision

    def __post_init__(self) -> None:
        check_u64(self.expected_revision)
        force_setattr(self, "record_id", canonical_uuid(self.record_id))


class CreateRecord(Sparse, tag="create", frozen=True, kw_only=True):
    """A new record at revision 1."""

    record: RecordInput


class ReviseRecord(_RecordTarget, tag="revise", frozen=True, kw_only=True):
    """A full replacement of the content; clears the review."""

    record: RecordInput


class DeleteRecord(_RecordTarget, tag="delete", frozen=True, kw_only=True):
    """Erases every stored payload; a tombstone stays."""


class DeriveRecord(Sparse, tag="derive", frozen=True, kw_only=True):
    """A new record made from others, whose content never changes."""

    record: RecordInput
    derivation: Derivation


class ReviewRecord(_RecordTarget, tag="review", frozen=True, kw_only=True):
    """A reviewer's disposition of a record."""

    disposition: Disposition
    evidence_ref: str


class SaveRecord(Sparse, tag="save", frozen=True, kw_only=True):
    """A new record that takes its topic slot, and surfaces records that it may contradict or replace."""

    record: RecordInput
    candidates_max: CandidatesMax | None = CANDIDATES_DEFAULT

    def __post_init__(self) -> None:
        if self.candidates_max is None or self.candidates_max == CANDIDATES_DEFAULT:
            force_setattr(self, "candidates_max", CANDIDATES_DEFAULT)
        elif not 0 <= self.candidates_max <= CANDIDATES_MAX:
            raise ValueError("candidates_max lies between 0 and 25")


class ArchiveRecord(_RecordTarget, tag="archive", frozen=True, kw_only=True):
    """Puts a record away: it stays, and is no longer current."""


class UnarchiveRecord(_RecordTarget, tag="unarchive", frozen=True, kw_only=True):
    """Takes a record out of the archive."""


class PinRecord(_RecordTarget, tag="pin", frozen=True, kw_only=True):
    """Marks a record as always worth showing."""


class UnpinRecord(_RecordTarget, tag="unpin", frozen=True, kw_only=True):
    """Takes the mark away."""


class MarkStale(Sparse, tag="mark_stale", frozen=True, kw_only=True):
    """A later record says that this one is out of date, and perhaps how much of it still holds."""

    record_id: Uuid
    because: Ref
    confidence: float | None = None

    def __post_init__(self) -> None:
        force_setattr(self, "record_id", canonical_uuid(self.record_id))
        if self.confidence is not None:
            force_setattr(self, "confidence", self.confidence + 0.0)


StandingOperation = ArchiveRecord | UnarchiveRecord | PinRecord | UnpinRecord
RecordOperation = (
    CreateRecord
    | ReviseRecord
    | DeleteRecord
    | DeriveRecord
    | ReviewRecord
    | SaveRecord
    | StandingOperation
    | MarkStale
)


class _RelationTarget(Sparse, frozen=True, kw_only=True):
    """Members of an operation on an existing relation."""

    relation_id: Uuid
    expected_revision: Revision
    evidence_ref: str

    def __post_init__(self) -> None:
        check_u64(self.expected_revision)
        force_setattr(self, "relation_id", canonical_uuid(self.relation_id))


class AssertRelation(Sparse, tag="assert", frozen=True, kw_only=True):
    """A new relation at revision 1; with `if_absent` only where no equal one is in force."""

    relation: RelationInput
    if_absent: bool = False


class RetireRelation(_RelationTarget, tag="retire", frozen=True, kw_only=True):
    """Takes a relation out of service."""


class RestoreRelation(_RelationTarget, tag="restore", frozen=True, kw_only=True):
    """Puts a retired relation back, after the checks of an assertion."""


class ReviewRelation(_RelationTarget, tag="review", frozen=True, kw_only=True):
    """A reviewer's disposition of a relation."""

    disposition: Disposition


RelationOperation = AssertRelation | RetireRelation | RestoreRelation | ReviewRelation


class RecordCommand(Closed, frozen=True, kw_only=True):
    """Body of `records/commands`."""

    contract_version: int
    scope: Scope
    idempotency_key: str
    operation: RecordOperation


class RelationCommand(Closed, frozen=True, kw_only=True):
    """Body of `relations/commands`."""

    contract_version: int
    scope: Scope
    idempotency_key: str
    operation: RelationOperation


class RecordBatchItem(Closed, frozen=True, kw_only=True):
    """One command of a batch of record commands."""

    idempotency_key: str
    operation: RecordOperation


class RelationBatchItem(Closed, frozen=True, kw_only=True):
    """One command of a batch of relation commands."""

    idempotency_key: str
    operation: RelationOperation


class RecordBatch(Closed, frozen=True, kw_only=True):
    """Body of `records/commands/batch`: 1 to 256 commands."""

    contract_version: int
    scope: Scope
    commands: tuple[RecordBatchItem, ...]


class RelationBatch(Closed, frozen=True, kw_only=True):
    """Body of `relations/commands/batch`: 1 to 256 commands."""

    contract_version: int
    scope: Scope
    commands: tuple[RelationBatchItem, ...]
