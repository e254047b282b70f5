"""Events: one row per accepted command, from which every other row follows.

An event is self-contained: the normalised command with its payloads by digest, who and when, the ids and nonces that
were drawn, and the receipt. Events of a partition are numbered by `sequence` without gaps and chained by `previous`.
"""

from __future__ import annotations

from msgspec import Raw

from relatum.core.access import Authority, CredentialSpec
from relatum.core.answers.records import Disposition
from relatum.core.changes import JournalHead
from relatum.core.commands import AssertRelation, RelationOperation
from relatum.core.consequences import Consequences
from relatum.core.cursors import CheckpointCommand, CheckpointReceipt
from relatum.core.ids import Author, Partition
from relatum.core.links import LinkOperation, LinkReceipt
from relatum.core.receipts import JudgmentReceipt, RecordReceipt, RelationReceipt
from relatum.core.records import Derivation, Facts, Proof
from relatum.core.row_counts import NOTHING, Tally
from relatum.core.standings import StaleMark, StandingCommandAction
from relatum.core.stored_judgments import StoredJudgment
from relatum.core.streams import Stream
from relatum.core.wire import Sparse, Uuid

NO_EVENT = bytes(32)


class RecordCreated(Sparse, tag="create", frozen=True, kw_only=True):
    """A record came to be."""

    facts: Facts
    payload: Proof


class RecordRevised(Sparse, tag="revise", frozen=True, kw_only=True):
    """A record's content was replaced."""

    record_id: Uuid
    expected_revision: int
    facts: Facts
    payload: Proof


class RecordDeleted(Sparse, tag="delete", frozen=True, kw_only=True):
    """A record's payloads were erased."""

    record_id: Uuid
    expected_revision: int


class RecordDerived(Sparse, tag="derive", frozen=True, kw_only=True):
    """A record was derived from others."""

    facts: Facts
    payload: Proof
    derivation: Derivation


class RecordReviewed(Sparse, tag="review", frozen=True, kw_only=True):
    """A record was reviewed; the evidence reference is erasable and lies outside."""

    record_id: Uuid
    expected_revision: int
    disposition: Disposition
    evidence: Proof


class RecordSaved(Sparse, tag="save", frozen=True, kw_only=True):
    """A record came to be through a save; `detected` counts the pairs found before the cap."""

    facts: Facts
    payload: Proof
    detected: int = 0


class StandingSet(Sparse, tag="standing", frozen=True, kw_only=True):
    """A record was archived, unarchived, pinned or unpinned; the consequences say which."""

    record_id: Uuid
    expected_revision: int
    action: StandingCommandAction


class StaleMarked(Sparse, tag="mark_stale", frozen=True, kw_only=True):
    """A record was marked as out of date. With the mark go those that the deletion of a record has lifted meanwhile."""

    record_id: Uuid
    mark: StaleMark
    lifted: tuple[Uuid, ...] = ()


StoredRecordOperation = (
    RecordCreated
    | RecordRevised
    | RecordDeleted
    | RecordDerived
    | RecordReviewed
    | RecordSaved
    | StandingSet
    | StaleMarked
)


NEW_RECORDS = (RecordCreated, RecordSaved, RecordDerived)
"""The operations by which a record comes to be."""


class CredentialIssued(Sparse, tag="issue", frozen=True, kw_only=True):
    """A credential came to be; `bootstrapped` when an operator made it offline."""

    credential_id: Uuid
    spec: CredentialSpec
    verifier: bytes
    bootstrapped: bool = False


class CredentialRotated(Sparse, tag="rotate", frozen=True, kw_only=True):
    """A credential got a new secret."""

    credential_id: Uuid
    expected_revision: int
    verifier: bytes


class CredentialRevoked(Sparse, tag="revoke", frozen=True, kw_only=True):
    """A credential was revoked for ever."""

    credential_id: Uuid
    expected_revision: int


class CredentialAuthorityChanged(Sparse, tag="scope_authority", frozen=True, kw_only=True):
    """A credential got other scopes and kept its secret."""

    credential_id: Uuid
    expected_revision: int
    authority: Authority


CredentialOperation = CredentialIssued | CredentialRotated | CredentialRevoked | CredentialAuthorityChanged


class _Event(Sparse, tag_field="family", frozen=True, kw_only=True):
    """What every event carries. `partition` is named in the first event of a partition alone.

    `journal_ids` names the journal of each stream that this event activates; `nonces` has one nonce per journal entry.
    """

    sequence: int
    previous: bytes
    committed_at_millis: int
    author: Author
    partition: Partition | None = None
    journal_ids: dict[Stream, Uuid] = {}
    nonces: tuple[bytes, ...] = ()
    consequences: Consequences | None = None


class RecordEvent(_Event, tag="record", frozen=True, kw_only=True):
    """An accepted record command."""

    record_id: Uuid
    operation: StoredRecordOperation
    receipt: RecordReceipt


class RelationEvent(_Event, tag="relation", frozen=True, kw_only=True):
    """An accepted relation command."""

    relation_id: Uuid
    operation: RelationOperation
    receipt: RelationReceipt


class FoundEvent(_Event, tag="found", frozen=True, kw_only=True):
    """An accepted assertion that found what it would have asserted: it changed nothing, and has a receipt."""

    operation: AssertRelation
    receipt: RelationReceipt


class SealedRelationEvent(RelationEvent, tag="relation", frozen=True, kw_only=True):
    """A relation event as it is read for its receipt: the command is left as the bytes that its digest covers."""

    operation: Raw  # type: ignore[assignment]  # is encoded to what the decoded command is


class CredentialEvent(_Event, tag="credential", frozen=True, kw_only=True):
    """An accepted change of a credential, in the company's own partition."""

    operation: CredentialOperation


class ActivationEvent(_Event, tag="activation", frozen=True, kw_only=True):
    """A change stream was activated; `journal_ids` names its journal."""

    stream: Stream


class CheckpointEvent(_Event, tag="checkpoint", frozen=True, kw_only=True):
    """An accepted checkpoint command of the author's subject."""

    stream: Stream
    command: CheckpointCommand
    command_digest: str
    receipt: CheckpointReceipt


class JudgmentEvent(_Event, tag="judgment", frozen=True, kw_only=True):
    """An accepted judgment command, or one item of a batch of verdicts, refused items too.

    `receipt` is that of the relation where there is a verdict, null for a refused item.
    """

    idempotency_key: str
    operation: StoredJudgment
    command_digest: str
    receipt: RelationReceipt | None = None
    judgment_receipt: JudgmentReceipt | None = None


class LinkEvent(_Event, tag="link", frozen=True, kw_only=True):
    """An accepted link command."""

    operation: LinkOperation
    receipt: LinkReceipt


SealedEvent = (
    RecordEvent
    | SealedRelationEvent
    | FoundEvent
    | CredentialEvent
    | ActivationEvent
    | CheckpointEvent
    | JudgmentEvent
    | LinkEvent
)
Event = (
    RecordEvent
    | RelationEvent
    | FoundEvent
    | CredentialEvent
    | ActivationEvent
    | CheckpointEvent
    | JudgmentEvent
    | LinkEvent
)


class Head(Sparse, frozen=True, kw_only=True):
    """The tip of a partition: how many events, their chained digest, the last commit time, the tips of its streams.

    `counted` is the tally of the rows that nothing else witnesses, `log` the frontier of the tree over all events: the
    roots of its perfect subtrees, the largest first.
    """

    sequence: int = 0
    event_digest: bytes = NO_EVENT
    committed_at_millis: int = 0
    streams: dict[Stream, JournalHead] = {}
    counted: Tally = NOTHING
    log: bytes = b""


class Stamp(Sparse, frozen=True, kw_only=True):
    """What the outside world gives a decision: two instants, the author, and 32 random bytes to draw from.

    `at_millis` is the commit time, `now_millis` what the clock says, by which expiry and validity are judged. They are
    the same but while the clock lags behind the last commit.

    `given_ids` has, by what they are of, the ids that are not drawn: those of an import, which keeps what was.
    """

    at_millis: int
    now_millis: int
    author: Author
    entropy: bytes
    given_ids: dict[str, str] = {}
