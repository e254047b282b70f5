"""Records as a walk sees them, put together by hand: also in states that no command leads to, such as a cycle."""

from __future__ import annotations

from typing import NoReturn

from relatum.core.access import StoredCredential
from relatum.core.answers.records import Disposition, RecordState
from relatum.core.events import Head
from relatum.core.ids import Partition, Ref
from relatum.core.records import Derivation, Facts, Proof, RecordMeta, StoredReview
from relatum.core.state import RecordVersion, RelationVersion
from tests.support.builders import ADA, PARTITION, START_MILLIS, derivation, unknown_id


class Shelf:
    """A `PartitionState` that has records and nothing else. Each record has a number, which is its id."""

    def __init__(self) -> None:
        self.look_ups = 0
        self._records: dict[str, RecordVersion] = {}

    def put(
        self,
        number: int,
        *sources: Ref,
        revision: int = 1,
        state: RecordState = "active",
        disposition: Disposition | None = None,
        until: int | None = None,
        size: int = 100,
    ) -> Ref:
        """A record of `size` stored bytes, derived from `sources` if there are any; the record at its revision."""
        made_from: Derivation | None = derivation(*sources) if sources else None
        meta = RecordMeta(
            schema_version=1,
            record_id=unknown_id(number),
            revision=revision,
            created_at_millis=START_MILLIS,
            modified_at_millis=START_MILLIS,
            author=ADA,
            state=state,
            facts=Facts(valid_until_millis=until),
            payload_revision=revision,
            payload=Proof(digest=bytes(32), length=0),
            review=None if disposition is None else _review(disposition, revision),
            derivation=made_from,
        )
        self._records[meta.record_id] = RecordVersion(meta, bytes(32), number, size)
        return Ref(record_id=meta.record_id, revision=revision)

    def put_many(self, first: int, number: int, *, size: int = 100) -> tuple[Ref, ...]:
        """So many plain records from `first` on."""
        return tuple(self.put(one, size=size) for one in range(first, first + number))

    def version(self, ref: Ref) -> RecordVersion:
        return self._records[ref.record_id]

    # PartitionState

    @property
    def partition(self) -> Partition:
        return PARTITION

    @property
    def workspace_id(self) -> str:
        return "0" * 64

    def record(self, record_id: str) -> RecordVersion | None:
        self.look_ups += 1
        return self._records.get(record_id)

    def head(self) -> Head:
        return _nothing_here()

    def relation(self, relation_id: str) -> RelationVersion | None:
        return _nothing_here()

    def verify_relation(self, version: RelationVersion) -> None:
        _nothing_here()

    def verify_record(self, version: RecordVersion) -> None:
        _nothing_here()

    def topic_holder(self, topic: str) -> str | None:
        return _nothing_here()

    def credential(self, credential_id: str) -> StoredCredential | None:
        return _nothing_here()


def _review(disposition: Disposition, revision: int) -> StoredReview:
    return StoredReview(
        disposition=disposition,
        author=ADA,
        reviewed_at_millis=START_MILLIS,
        revision=revision,
        evidence=Proof(digest=bytes(32), length=0),
    )


def _nothing_here() -> NoReturn:
    raise AssertionError("eligibility reads records alone")
