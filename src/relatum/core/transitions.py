"""What an accepted operation makes of a record, a relation or a credential.

Pure functions of the state before and the event's own members: a decision uses them to know what it is about to
accept, a rebuild uses them to arrive at the same.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import UNSET
from msgspec.structs import replace

from relatum.core import digests
from relatum.core.access import Credential, CredentialSpec, StoredCredential
from relatum.core.access import CredentialEvent as HistoryEntry
from relatum.core.answers.access import CredentialAction
from relatum.core.answers.receipts import RecordAction, RelationChangeAction
from relatum.core.commands import AssertRelation, RelationOperation, RestoreRelation, RetireRelation, ReviewRelation
from relatum.core.cursors import Checkpoint, CheckpointCommand
from relatum.core.events import (
    NEW_RECORDS,
    CredentialAuthorityChanged,
    CredentialIssued,
    CredentialOperation,
    CredentialRevoked,
    CredentialRotated,
    RecordCreated,
    RecordDeleted,
    RecordDerived,
    RecordReviewed,
    RecordRevised,
    RecordSaved,
    StaleMarked,
    StandingSet,
    StoredRecordOperation,
)
from relatum.core.ids import Author
from relatum.core.records import RecordMeta, Review, StoredReview
from relatum.core.relations import StoredRelation
from relatum.core.streams import Stream

RECORD_ACTIONS: dict[type[StoredRecordOperation], RecordAction] = {
    RecordCreated: "created",
    RecordRevised: "revised",
    RecordDeleted: "deleted",
    RecordDerived: "derived",
    RecordReviewed: "reviewed",
    RecordSaved: "created",
    StaleMarked: "marked_stale",
}
RELATION_ACTIONS: dict[type[RelationOperation], RelationChangeAction] = {
    AssertRelation: "asserted",
    RetireRelation: "retired",
    RestoreRelation: "restored",
    ReviewRelation: "reviewed",
}


def record_action(operation: StoredRecordOperation) -> RecordAction:
    """What an operation does, as receipts and streams call it."""
    return operation.action if isinstance(operation, StandingSet) else RECORD_ACTIONS[type(operation)]


def record_after(
    before: RecordMeta | None, operation: StoredRecordOperation, record_id: str, at_millis: int, author: Author
) -> RecordMeta:
    """The record that `operation` leaves."""
    if isinstance(operation, NEW_RECORDS):
        return RecordMeta(
            schema_version=1,
            record_id=record_id,
            revision=1,
            created_at_millis=at_millis,
            modified_at_millis=at_millis,
            author=author,
            state="active",
            facts=operation.facts,
            payload_revision=1,
            payload=operation.payload,
            derivation=operation.derivation if isinstance(operation, RecordDerived) else None,
        )
    assert before is not None
    revision = before.revision + 1
    match operation:
        case StandingSet() | StaleMarked():
            return before
        case RecordRevised():
            return replace(
                before,
                revision=revision,
                modified_at_millis=at_millis,
                author=author,
                facts=operation.facts,
                payload_revision=revision,
                payload=operation.payload,
                review=None,
            )
        case RecordDeleted():
            return replace(before, revision=revision, modified_at_millis=at_millis, state="deleted")
        case RecordReviewed():
            review = StoredReview(
                disposition=operation.disposition,
                author=author,
                reviewed_at_millis=at_millis,
                revision=revision,
                evidence=operation.evidence,
            )
            return replace(before, revision=revision, modified_at_millis=at_millis, review=review)
        case _:
            assert_never(operation)


def relation_after(
    before: StoredRelation | None, operation: RelationOperation, relation_id: str, at_millis: int, author: Author
) -> StoredRelation:
    """The relation that `operation` leaves."""
    if isinstance(operation, AssertRelation):
        return StoredRelation(
            schema_version=1,
            relation_id=relation_id,
            revision=1,
            input=operation.relation,
            reported_by=author,
            created_at_millis=at_millis,
            modified_at_millis=at_millis,
            state="active",
        )
    assert before is not None
    revision = before.revision + 1
    match operation:
        case RetireRelation():
            return replace(before, revision=revision, modified_at_millis=at_millis, state="retired")
        case RestoreRelation():
            return replace(before, revision=revision, modified_at_millis=at_millis, state="active")
        case ReviewRelation():
            review = Review(
                disposition=operation.disposition,
                evidence_ref=operation.evidence_ref,
                author=author,
                reviewed_at_millis=at_millis,
            )
            return replace(before, revision=revision, modified_at_millis=at_millis, review=review)
        case _:
            assert_never(operation)


def credential_after(
    before: StoredCredential | None, operation: CredentialOperation, company_id: str, at_millis: int, author: Author
) -> StoredCredential:
    """The credential that `operation` leaves."""
    if isinstance(operation, CredentialIssued):
        action: CredentialAction = "bootstrapped" if operation.bootstrapped else "issued"
        first = HistoryEntry(revision=1, action=action, actor_id=author.credential_id, at_millis=at_millis)
        issued = Credential(
            id=operation.credential_id,
            company_id=company_id,
            spec=operation.spec,
            revision=1,
            revoked_at_millis=None,
            history=(first,),
        )
        return StoredCredential(credential=issued, verifier=operation.verifier)
    assert before is not None
    was = before.credential

    def entry(action: CredentialAction) -> HistoryEntry:
        return HistoryEntry(
            revision=was.revision + 1, action=action, actor_id=author.credential_id, at_millis=at_millis
        )

    def grown(added: HistoryEntry, spec: CredentialSpec = was.spec, revoked: int | None = None) -> Credential:
        return replace(
            was, revision=added.revision, spec=spec, revoked_at_millis=revoked, history=(*was.history, added)
        )

    match operation:
        case CredentialRotated():
            return StoredCredential(credential=grown(entry("rotated")), verifier=operation.verifier)
        case CredentialRevoked():
            return replace(before, credential=grown(entry("revoked"), revoked=at_millis))
        case CredentialAuthorityChanged():
            authority = operation.authority
            added = replace(entry("scope_authority_changed"), previous=was.spec.authority, current=authority)
            spec = replace(was.spec, grants=authority.grants, scope_policy=authority.scope_policy or UNSET)
            return replace(before, credential=grown(added, spec))
        case _:
            assert_never(operation)


def checkpoint_after(
    workspace_id: str,
    stream: Stream,
    before: Checkpoint | None,
    command: CheckpointCommand,
    at_millis: int,
    author: Author,
) -> Checkpoint:
    """The checkpoint that `command` leaves. An unchanged cursor makes a new revision too."""
    after = Checkpoint(
        schema_version=1,
        consumer_id=command.consumer_id,
        revision=1 if before is None else before.revision + 1,
        cursor=command.operation.cursor,
        author=author,
        updated_at_millis=at_millis,
        checkpoint_digest="",
    )
    return replace(after, checkpoint_digest=digests.checkpoint_digest(workspace_id, stream, after))
