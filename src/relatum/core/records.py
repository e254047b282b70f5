"""Memory records: what a client writes, what is stored, what is answered (records.md).

A record is stored in two parts, so that deletion can erase one and keep the other. `RecordMeta` holds what
eligibility and history need for ever; `Payload` holds the text and everything else that a deletion erases, salted so
that the digest that stays behind can't be guessed from.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec.structs import force_setattr

from relatum.core.answers import records as answered
from relatum.core.answers.records import Disposition, RecordInputView, RecordProvenanceView, RecordState
from relatum.core.canonical import normal_json
from relatum.core.ids import Author, Ref
from relatum.core.kinds import RecordType
from relatum.core.wire import Millis, Sparse, Uuid, check_i64


class RecordProvenance(Sparse, frozen=True, kw_only=True):
    """Where a record's content came from."""

    source_id: str
    source_hash: str | None = None
    source_revision: str | None = None


class RecordInput(Sparse, frozen=True, kw_only=True):
    """What a client writes.

    Every member but `content` is optional: omitted, null and the default are one and the same.
    """

    content: str
    type: RecordType | None = "memory"
    title: str | None = None
    data: dict[str, Any] | None = None
    tags: tuple[str, ...] | None = ()
    category: str | None = None
    topic_key: str | None = None
    fact_key: str | None = None
    provenance: RecordProvenance | None = None
    confidence: float | None = None
    event_time_millis: Millis | None = None
    valid_until_millis: Millis | None = None

    def __post_init__(self) -> None:
        check_i64(self.event_time_millis)
        check_i64(self.valid_until_millis)
        if self.type is None or self.type == "memory":
            force_setattr(self, "type", "memory")  # the very object of the default, or it would be encoded
        if self.tags is None:
            force_setattr(self, "tags", ())
        if self.confidence is not None:
            force_setattr(self, "confidence", self.confidence + 0.0)  # an int becomes a float, -0.0 becomes 0.0
        if self.data is not None:
            force_setattr(self, "data", normal_json(self.data))


class Derivation(answered.DerivationView, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The records that a derived record was made from, each with a pin on the content read, in the order given."""

    sources: tuple[Ref, ...]
    method: str
    method_revision: str
    evidence_ref: str


class Facts(Sparse, frozen=True, kw_only=True):
    """The part of an input that deletion keeps: what verdicts of the past depend on."""

    type: RecordType = "memory"
    event_time_millis: int | None = None
    valid_until_millis: int | None = None


class Payload(Sparse, frozen=True, kw_only=True):
    """The part of an input that deletion erases."""

    content: str
    title: str | None = None
    data: dict[str, Any] | None = None
    tags: tuple[str, ...] = ()
    category: str | None = None
    topic_key: str | None = None
    fact_key: str | None = None
    provenance: RecordProvenance | None = None
    confidence: float | None = None


class Proof(Sparse, frozen=True, kw_only=True):
    """What remains of an erasable value: its salted digest and its stored length in bytes."""

    digest: bytes
    length: int


class PayloadRow(Sparse, frozen=True, kw_only=True):
    """An erasable value under the revision that brought it: a payload, or the evidence reference of a review."""

    salt: bytes
    payload: Payload | None = None
    evidence_ref: str | None = None


class StoredReview(Sparse, frozen=True, kw_only=True):
    """A review without its evidence reference, which lies in the payload row of `revision`."""

    disposition: Disposition
    author: Author
    reviewed_at_millis: int
    revision: int
    evidence: Proof


class RecordMeta(Sparse, frozen=True, kw_only=True):
    """A record at one revision, without what a deletion erases.

    `payload_revision` names the revision whose payload row holds the content.
    """

    schema_version: Literal[1]
    record_id: Uuid
    revision: int
    created_at_millis: int
    modified_at_millis: int
    author: Author
    state: RecordState
    facts: Facts
    payload_revision: int
    payload: Proof
    review: StoredReview | None = None
    derivation: Derivation | None = None

    @property
    def disposition(self) -> Disposition | None:
        """The current disposition; None where nobody has reviewed this revision."""
        return self.review.disposition if self.review else None

    @property
    def content_revision(self) -> int:
        """The revision that brought the present content; of a deleted record the one that erased it.

        Every revision after it was brought by a review.
        """
        return self.payload_revision if self.state == "active" else self.revision

    @property
    def content(self) -> Ref:
        """The record at the revision under which everything lies that pins its present content."""
        return Ref(record_id=self.record_id, revision=self.content_revision)

    def holds(self, pinned_revision: int) -> bool:
        """Whether a pin on a revision of this record holds: only reviews came since (records.md, pins)."""
        return self.content_revision <= pinned_revision <= self.revision


class Review(answered.Review, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A review as answered."""

    disposition: Disposition
    evidence_ref: str
    author: Author
    reviewed_at_millis: Millis


def split(record: RecordInput) -> tuple[Facts, Payload]:
    """The kept and the erasable part of an input."""
    facts = Facts(
        type=record.type or "memory",
        event_time_millis=record.event_time_millis,
        valid_until_millis=record.valid_until_millis,
    )
    payload = Payload(
        content=record.content,
        title=record.title,
        data=record.data,
        tags=record.tags or (),
        category=record.category,
        topic_key=record.topic_key,
        fact_key=record.fact_key,
        provenance=record.provenance,
        confidence=record.confidence,
    )
    return facts, payload


def join(facts: Facts, payload: Payload) -> RecordInputView:
    """The input as answered, of its two parts."""
    origin = payload.provenance
    return RecordInputView(
        type=facts.type,
        title=payload.title,
        content=payload.content,
        data=payload.data,
        tags=payload.tags,
        category=payload.category,
        topic_key=payload.topic_key,
        fact_key=payload.fact_key,
        provenance=None
        if origin is None
        else RecordProvenanceView(
            source_id=origin.source_id, source_hash=origin.source_hash, source_revision=origin.source_revision
        ),
        confidence=payload.confidence,
        event_time_millis=facts.event_time_millis,
        valid_until_millis=facts.valid_until_millis,
    )
