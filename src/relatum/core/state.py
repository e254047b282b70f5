"""The ports of the core: what a decision or an evaluation may read of one partition, and nothing more."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from relatum.core.access import StoredCredential
from relatum.core.cursors import Checkpoint, Cursor
from relatum.core.events import Head
from relatum.core.ids import Partition
from relatum.core.records import RecordMeta
from relatum.core.relations import StoredRelation
from relatum.core.streams import Stream


class RecordVersion(NamedTuple):
    """A record at one revision as stored.

    `sequence` is that of its event; `stored_bytes` counts the kept part and the payload.
    """

    meta: RecordMeta
    digest: bytes
    sequence: int
    stored_bytes: int


class RelationVersion(NamedTuple):
    """A relation at one revision as stored. `sequence` is that of its event."""

    relation: StoredRelation
    digest: bytes
    sequence: int
    stored_bytes: int


class Records(Protocol):
    """The records of one partition at one moment: all that eligibility needs."""

    def record(self, record_id: str) -> RecordVersion | None:
        """A record at its current revision, deleted or not. Raises StorageInconsistency where its rows are damaged."""


class PartitionState(Records, Protocol):
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
