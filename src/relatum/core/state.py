"""The ports of the core: what a decision or an evaluation may read of one partition, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from relatum.core.access import StoredCredential
from relatum.core.candidates import Candidate
from relatum.core.cursors import Checkpoint
from relatum.core.events import Head
from relatum.core.ids import Partition, Ref
from relatum.core.links import StoredLink
from relatum.core.records import RecordMeta
from relatum.core.relations import RelationInput, StoredRelation
from relatum.core.standings import Standing
from relatum.core.streams import Cursor, Stream
from relatum.core.verdicts import StoredVerdict


class RecordVersion(NamedTuple):
    """A record at one revision as stored.

    `sequence` is that of its event; `stored_bytes` counts the kept part and the payload. `body` is the row that it was
    read from, empty where it was not.
    """

    meta: RecordMeta
    digest: bytes
    sequence: int
    stored_bytes: int
    body: bytes = b""


class RelationVersion(NamedTuple):
    """A relation at one revision as stored. `sequence` is that of its event, `body` the row that it was read from."""

    relation: StoredRelation
    digest: bytes
    sequence: int
    stored_bytes: int
    body: bytes


class Records(Protocol):
    """The records of one partition at one moment: all that eligibility needs."""

    def record(self, record_id: str) -> RecordVersion | None:
        """A record at its current revision, deleted or not. Raises StorageInconsistency where its rows are damaged."""


class Judgments(Protocol):
    """What judgments of one partition's records have led to, at one moment."""

    def standing(self, record_id: str) -> Standing:
        """A record's standing; the default where nothing was ever changed."""

    def pins(self) -> int:
        """How many records are pinned."""

    def topic_of_record(self, record_id: str) -> str | None:
        """The topic key of a record's content; None where there is none or it was erased."""

    def verdict(self, relation_id: str) -> StoredVerdict | None:
        """The verdict that a relation came from; None for one that was asserted plainly."""

    def verdict_between(self, source_id: str, target_id: str) -> str | None:
        """The relation of the last verdict on an ordered pair, whatever has become of it."""

    def standing_verdicts(self, source_id: str, target_id: str) -> Iterator[str]:
        """The relations of the verdicts on an ordered pair that are active and not rejected, in their order."""

    def replaced_for_topic(self, record_id: str) -> str | None:
        """The record whose topic slot a record took over; None where it took a free one."""

    def candidate(self, candidate_id: str) -> Candidate | None:
        """A candidate, whatever its status."""

    def pending_between(self, one_id: str, other_id: str) -> str | None:
        """The pending candidate of an unordered pair."""

    def pending_since(self, before_millis: int) -> Iterator[Candidate]:
        """Pending candidates whose age counts from before an instant, oldest first."""

    def swept(self, target_id: str) -> tuple[tuple[str, str], ...] | None:
        """What a run of the sweep, or one operation of it, orphaned: candidates, each with its operation.

        None for an unknown id.
        """


class Links(Protocol):
    """The curated links of one partition, at one moment."""

    def link_between(self, one_id: str, other_id: str) -> StoredLink | None:
        """The link of an unordered pair."""

    def links(self, record_id: str) -> int:
        """How many links a record has."""


class Promotions(Protocol):
    """What promotions of one partition have led to, at one moment."""

    def uses_of(self, content: Ref) -> int:
        """How many relations and derived records pin a record's content, whatever their state."""

    def joined_with(self, content: Ref) -> frozenset[Ref]:
        """The contents that relations join with a record's content, whatever their direction and state."""

    def suspicion(self, one_id: str, other_id: str) -> tuple[str, ...]:
        """On which days an unordered pair was found to contradict itself."""

    def promoted_on(self, run_date: str) -> int:
        """How many edges were promoted for a day."""


class PartitionState(Records, Judgments, Links, Promotions, Protocol):
    """One partition at one moment. Every method raises StorageInconsistency where stored rows contradict each other."""

    @property
    def partition(self) -> Partition:
        """Which partition this is."""

    @property
    def workspace_id(self) -> str:
        """Its opaque name."""

    def head(self) -> Head:
        """Its tip; a fresh Head where nothing was ever accepted."""

    def relation(self, relation_id: str) -> RelationVersion | None:
        """A relation at its current revision."""

    def equal_relations(self, given: RelationInput) -> Iterator[RelationVersion]:
        """Relations of a kind between the present contents of both ends, active and not rejected, the oldest first.

        Of a symmetric kind in either direction.
        """

    def verify_relation(self, version: RelationVersion) -> None:
        """Checks a current relation against its revision, receipt, adjacency entries and headers."""

    def verify_record(self, version: RecordVersion) -> None:
        """Checks a current record against its revision, receipt and header."""

    def topic_holder(self, topic: str) -> str | None:
        """The id of the record that holds a topic slot."""

    def checkpoint(self, stream: Stream, subject_id: str, consumer_id: str) -> Checkpoint | None:
        """What a consumer of a subject has saved of a stream."""

    def lies_on_journal(self, stream: Stream, cursor: Cursor) -> bool:
        """Whether a well-formed cursor is a position of this partition's journal, baseline and tip included."""

    def credential(self, credential_id: str) -> StoredCredential | None:
        """A credential of the company whose partition this is."""
