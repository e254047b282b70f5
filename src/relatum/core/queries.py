"""What reads take: filters, and the bodies of the read routes (records.md, relations.md, access.md).

Ranges of integers and the syntax of UUIDs are checked by decoding, as for commands; null means the same as omission.
Numbers of ids, their distinctness, string classes and the soundness of a cursor are static rules, checked by the read
itself.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, field
from msgspec.structs import force_setattr

from relatum import limits
from relatum.core.answers.eligibility import FailureReason, RelationReason
from relatum.core.answers.records import Disposition, RecordState
from relatum.core.answers.relations import Origin, RelationState
from relatum.core.answers.standings import StandingState
from relatum.core.ids import Scope
from relatum.core.kinds import Kind, KindClass, RecordType
from relatum.core.receipts import Family
from relatum.core.text import is_evidence_ref, is_identifier, is_method
from relatum.core.wire import Closed, Sparse, Uuid, canonical_uuid, check_u64

Order = Literal["created_asc", "created_desc"]
NEWEST_FIRST: Order = "created_desc"
RecordsView = Literal["retained", "current"]
RETAINED: RecordsView = "retained"


def _bounded(greatest: int, default: int) -> Meta:
    return Meta(extra_json_schema={"minimum": 1, "maximum": greatest, "default": default})


PageLimit = Annotated[int, _bounded(limits.PAGE_LIMIT_MAX, limits.PAGE_LIMIT_DEFAULT)]
ScanLimit = Annotated[int, _bounded(limits.SCAN_LIMIT_MAX, limits.SCAN_LIMIT_DEFAULT)]
CredentialsLimit = Annotated[int, _bounded(limits.CREDENTIALS_PAGE_MAX, limits.CREDENTIALS_PAGE_DEFAULT)]
HistoricRevision = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": limits.U64_MAX})]


def _check_limit(value: int | None, greatest: int) -> None:
    if value is not None and not 1 <= value <= greatest:
        raise ValueError(f"a limit lies between 1 and {greatest}")


class PageFilter(Sparse, frozen=True, kw_only=True):
    """What every query takes: at most `limit` entries out of at most `scan_limit` rows, from `cursor` on."""

    limit: PageLimit | None = None
    scan_limit: ScanLimit | None = None
    order: Order | None = NEWEST_FIRST
    cursor: str | None = None

    def __post_init__(self) -> None:
        _check_limit(self.limit, limits.PAGE_LIMIT_MAX)
        _check_limit(self.scan_limit, limits.SCAN_LIMIT_MAX)
        if self.order in (None, NEWEST_FIRST):
            force_setattr(self, "order", NEWEST_FIRST)  # the very object of the default, or cursors would tell

    @property
    def entries_max(self) -> int:
        """`limit`, or its default."""
        return self.limit or limits.PAGE_LIMIT_DEFAULT

    @property
    def scanned_max(self) -> int:
        """`scan_limit`, or its default."""
        return self.scan_limit or limits.SCAN_LIMIT_DEFAULT

    @property
    def newest_first(self) -> bool:
        """Whether the page runs from the newest to the oldest."""
        return self.order == NEWEST_FIRST


class RecordFilter(PageFilter, frozen=True, kw_only=True):
    """Filter of `records/query`: a record passes that agrees with every member given.

    `text` is sought in title and content, whatever the case; `source_id` is that of the provenance, found by
    an index.
    """

    text: str | None = None
    tag: str | None = None
    type: RecordType | None = None
    category: str | None = None
    fact_key: str | None = None
    topic_key: str | None = None
    source_id: str | None = None

    def problem(self) -> str | None:
        """The static rule that this filter breaks, or None."""
        names = (self.category, self.fact_key, self.topic_key)
        if not all(name is None or is_identifier(name) for name in names):
            return "category, fact_key and topic_key must be identifiers"
        sound = self.source_id is None or is_evidence_ref(self.source_id)
        return None if sound else "source_id must be 1 to 2048 bytes, not blank, without control characters"


class RetainedFilter(RecordFilter, frozen=True, kw_only=True):
    """Filter of `records/retained`: what a reviewer looks for among records in every state.

    `disposition` none means that nobody has reviewed the record, waiting none or unreviewed; `author` is a subject.
    `eligible` and `reason`, which is that of the first failure, are tried after all others.
    """

    state: RecordState | None = None
    disposition: Disposition | Literal["none", "waiting"] | None = None
    standing: StandingState | None = None
    pinned: bool | None = None
    derived: bool | None = None
    author: str | None = None
    eligible: bool | None = None
    reason: FailureReason | None = None

    def problem(self) -> str | None:
        """The static rule that this filter breaks, or None."""
        if self.author is not None and not is_identifier(self.author):
            return "the author is not an identifier"
        return super().problem()


class CompanyRecordFilter(RetainedFilter, frozen=True, kw_only=True):
    """Filter of the company's `records/query`: all retained records by default, or only those eligible now."""

    view: RecordsView | None = RETAINED

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.view in (None, RETAINED):
            force_setattr(self, "view", RETAINED)


class RelationFilter(PageFilter, frozen=True, kw_only=True):
    """Filter of `relations/query`: a relation passes that agrees with every member given.

    `disposition` none means that nobody has reviewed the relation, waiting none or unreviewed; `endpoint` is a record
    at either end; `reporter` is a subject. `eligible` and `reason` are tried after all others.
    """

    kind: Kind | None = None
    state: RelationState | None = None
    disposition: Disposition | Literal["none", "waiting"] | None = None
    origin: Origin | None = None
    endpoint: Uuid | None = None
    reporter: str | None = None
    kind_class: KindClass | None = field(default=None, name="class")
    method: str | None = None
    eligible: bool | None = None
    reason: RelationReason | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.endpoint is not None:
            force_setattr(self, "endpoint", canonical_uuid(self.endpoint))

    def problem(self) -> str | None:
        """The static rule that this filter breaks, or None."""
        if self.reporter is not None and not is_identifier(self.reporter):
            return "the reporter is not an identifier"
        sound = self.method is None or is_method(self.method)
        return None if sound else "the method is 1 to 256 bytes, not blank, without control characters"


class ScopedRead(Closed, frozen=True, kw_only=True):
    """What every body of a scoped read begins with."""

    contract_version: int
    scope: Scope


class RecordRead(ScopedRead, frozen=True, kw_only=True):
    """Body of `records/read` and `records/inspect`."""

    record_id: Uuid

    def __post_init__(self) -> None:
        force_setattr(self, "record_id", canonical_uuid(self.record_id))


class RecordBatchRead(ScopedRead, frozen=True, kw_only=True):
    """Body of `records/batch`: 1 to 100 distinct ids."""

    record_ids: tuple[Uuid, ...]

    def __post_init__(self) -> None:
        force_setattr(self, "record_ids", tuple(canonical_uuid(one) for one in self.record_ids))


class RecordRevisionRead(RecordRead, frozen=True, kw_only=True):
    """Body of `records/revision`."""

    revision: HistoricRevision

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_revision(self.revision)


class RecordQuery(ScopedRead, frozen=True, kw_only=True):
    """Body of `records/query`."""

    filter: RecordFilter


class RelationRead(ScopedRead, frozen=True, kw_only=True):
    """Body of `relations/read` and `relations/inspect`."""

    relation_id: Uuid

    def __post_init__(self) -> None:
        force_setattr(self, "relation_id", canonical_uuid(self.relation_id))


class RelationRevisionRead(RelationRead, frozen=True, kw_only=True):
    """Body of `relations/revision`."""

    revision: HistoricRevision

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_revision(self.revision)


class RelationQuery(ScopedRead, frozen=True, kw_only=True):
    """Body of `relations/query`."""

    filter: RelationFilter


class ReceiptRead(ScopedRead, frozen=True, kw_only=True):
    """Body of `receipts/read`: a key of the caller's own subject in a family of commands."""

    family: Family
    idempotency_key: str


class CredentialsQuery(Closed, frozen=True, kw_only=True):
    """Query parameters of the list of credentials; `after` is the last id of the page before."""

    contract_version: int
    limit: CredentialsLimit | None = None
    after: Uuid | None = None

    def __post_init__(self) -> None:
        _check_limit(self.limit, limits.CREDENTIALS_PAGE_MAX)
        if self.after is not None:
            force_setattr(self, "after", canonical_uuid(self.after))


def _check_revision(revision: int) -> None:
    check_u64(revision)
    if revision == 0:
        raise ValueError("revisions start at 1")
