"""What an export carries of a partition, between store and text.

No revisions and no times of commits: a record is carried as it is now, and comes back as something new. What relates to
it relates to what it is now, or to something earlier.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from relatum.core.answers.receipts import LinkKind
from relatum.core.answers.records import Disposition
from relatum.core.ids import Author, Partition
from relatum.core.kinds import Kind
from relatum.core.records import RecordInput
from relatum.core.relations import Provenance


class Carried(Struct, frozen=True, kw_only=True):
    """Base of what is carried."""


class CarriedReview(Carried, frozen=True, kw_only=True):
    """A disposition, on what evidence, by whom."""

    disposition: Disposition
    evidence_ref: str
    author: Author


class CarriedDerivation(Carried, frozen=True, kw_only=True):
    """What a record was derived from, each source as it is now."""

    source_ids: tuple[str, ...]
    method: str
    method_revision: str
    evidence_ref: str


class CarriedVerdict(Carried, frozen=True, kw_only=True):
    """That a relation is a verdict, with what was said.

    `takeover_id`: the candidate of a save that took the topic slot of the target, and so made the relation.
    """

    confidence: float | None = None
    reason: str | None = None
    evidence: Any = None
    takeover_id: str | None = None


class CarriedRelation(Carried, frozen=True, kw_only=True):
    """An active relation, at its source. `earlier_ids`: the records of which it speaks at an earlier revision."""

    relation_id: str
    kind: Kind
    target_id: str
    author: Author
    provenance: Provenance
    valid_from_millis: int | None = None
    valid_until_millis: int | None = None
    evidence_ids: tuple[str, ...] = ()
    earlier_ids: tuple[str, ...] = ()
    review: CarriedReview | None = None
    verdict: CarriedVerdict | None = None


class CarriedLink(Carried, frozen=True, kw_only=True):
    """A curated link, at its source."""

    target_id: str
    kind: LinkKind
    author: Author


class CarriedMark(Carried, frozen=True, kw_only=True):
    """That a later record makes one out of date."""

    because_id: str
    confidence: float | None = None


class CarriedRecord(Carried, frozen=True, kw_only=True):
    """A record as it is now, its standing, and all that is said of it as a source. `superseded_by`: a relation's id."""

    record_id: str
    author: Author
    input: RecordInput
    review: CarriedReview | None = None
    derivation: CarriedDerivation | None = None
    superseded_by: str | None = None
    archived: bool = False
    pinned: bool = False
    marks: tuple[CarriedMark, ...] = ()
    links: tuple[CarriedLink, ...] = ()
    relations: tuple[CarriedRelation, ...] = ()

    @property
    def current(self) -> bool:
        """Whether it is neither superseded nor archived."""
        return self.superseded_by is None and not self.archived


class CarriedPartition(Carried, frozen=True, kw_only=True):
    """A partition with its records by their ids."""

    partition: Partition
    records: dict[str, CarriedRecord]
