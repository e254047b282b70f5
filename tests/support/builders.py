"""Sample values: a partition, authors, and the operations that a caller may give.

Every builder makes a sound value; a test names only the members that it is about.
"""

from __future__ import annotations

from typing import Any

from relatum.core.answers.records import Disposition
from relatum.core.commands import (
    AssertRelation,
    CreateRecord,
    DeleteRecord,
    DeriveRecord,
    RestoreRelation,
    RetireRelation,
    ReviewRecord,
    ReviewRelation,
    ReviseRecord,
)
from relatum.core.ids import Author, Partition, Ref, Scope, memory_partition
from relatum.core.kinds import Kind
from relatum.core.records import Derivation, RecordInput
from relatum.core.relations import Model, Provenance, RelationInput

START_MILLIS = 1_700_000_000_000
"""Where the clocks of tests begin."""

SCOPE = Scope(project_id="atlas", agent_id="scout", visibility="shared")


def partition(**members: Any) -> Partition:
    """The sample partition, with other members where they are given."""
    given: dict[str, Any] = {"project_id": "atlas", "agent_id": "scout", "visibility": "shared"}
    return memory_partition("acme", "ada", Scope(**(given | members)))


ADA = Author(credential_id="00000000-0000-4000-8000-00000000000a", subject_id="ada")
BOB = Author(credential_id="00000000-0000-4000-8000-00000000000b", subject_id="bob")
PARTITION = partition()
PRIVATE = partition(mission_id="survey", visibility="private")
MODEL = Model(provider="maker", model="reader", revision="7")


def unknown_id(number: int = 0) -> str:
    """A well-formed id that no ledger makes: it is of version 4."""
    return f"ffffffff-ffff-4fff-8fff-{number:012x}"


# Records


def record(content: str = "the tide turned at noon", **members: Any) -> RecordInput:
    return RecordInput(content=content, **members)


def derivation(*sources: Ref, **members: Any) -> Derivation:
    given = {"method": "summary", "method_revision": "3", "evidence_ref": "run/12"} | members
    return Derivation(sources=sources, **given)


def create(content: str = "the tide turned at noon", **members: Any) -> CreateRecord:
    return CreateRecord(record=record(content, **members))


def derive(*sources: Ref, content: str = "tides follow the moon", **members: Any) -> DeriveRecord:
    return DeriveRecord(record=record(content, **members), derivation=derivation(*sources))


def revise(at: Ref, content: str = "the tide turned at one", **members: Any) -> ReviseRecord:
    return ReviseRecord(record_id=at.record_id, expected_revision=at.revision, record=record(content, **members))


def delete(at: Ref) -> DeleteRecord:
    return DeleteRecord(record_id=at.record_id, expected_revision=at.revision)


def review(at: Ref, disposition: Disposition = "approved", evidence_ref: str = "note/1") -> ReviewRecord:
    return ReviewRecord(
        record_id=at.record_id, expected_revision=at.revision, disposition=disposition, evidence_ref=evidence_ref
    )


# Relations


def provenance(**members: Any) -> Provenance:
    given = {"origin": "tool_observation", "method": "reading", "method_revision": "1", "evidence_ref": "log/9"}
    return Provenance(**(given | members))


def relation(source: Ref, target: Ref, kind: Kind = "supports", **members: Any) -> RelationInput:
    given: dict[str, Any] = {"provenance": provenance()} | members
    return RelationInput(source=source, target=target, kind=kind, **given)


def assertion(
    source: Ref, target: Ref, kind: Kind = "supports", *, if_absent: bool = False, **members: Any
) -> AssertRelation:
    return AssertRelation(relation=relation(source, target, kind, **members), if_absent=if_absent)


def retire(relation_id: str, revision: int, evidence_ref: str = "note/2") -> RetireRelation:
    return RetireRelation(relation_id=relation_id, expected_revision=revision, evidence_ref=evidence_ref)


def restore(relation_id: str, revision: int, evidence_ref: str = "note/3") -> RestoreRelation:
    return RestoreRelation(relation_id=relation_id, expected_revision=revision, evidence_ref=evidence_ref)


def judge(
    relation_id: str, revision: int, disposition: Disposition = "approved", evidence_ref: str = "note/4"
) -> ReviewRelation:
    return ReviewRelation(
        relation_id=relation_id, expected_revision=revision, disposition=disposition, evidence_ref=evidence_ref
    )
