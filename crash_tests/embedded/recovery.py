"""What the reopened ledger says of every command: those in doubt are settled, those acknowledged are told again."""

from __future__ import annotations

import msgspec

from crash_tests.embedded.accounts import COMPANY_PARTITION, DESKS
from crash_tests.embedded.acknowledged import Acknowledged, Known
from crash_tests.embedded.execution import carry_out, carry_out_all
from crash_tests.embedded.messages import Activation, CredentialChange, Judgment, Memory, Saving, Told
from crash_tests.history import Desk, Json
from crash_tests.inspection.claims import items_of
from crash_tests.violation import require, require_same
from relatum.core.access import Credential
from relatum.core.changes import JournalHead
from relatum.core.events import JudgmentEvent
from relatum.ledger import Ledger
from relatum.store import replay
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView

BATCH = 128
_ENCODER = msgspec.json.Encoder()


def resolve(ledger: Ledger, acknowledged: Acknowledged, known: Known) -> bool:
    """Settles a command in doubt by sending it again; whether it was there before.

    If it was, then as a whole: its receipt is found, and is what a repetition is answered with.
    """
    with ledger.view() as view:
        found = _found(view, known)
    if found is None:
        acknowledged.settle(carry_out(ledger, known.sent))
        return False
    settled = Told(id=known.sent.id, receipt=found)
    match known.ask:
        case Memory() | Judgment() | Saving():
            later = known.later or found
            require_same(f"the receipt of {known.sent.id}, which was told a moment later", later, found)
            require_same(f"the answer to {known.sent.id}, which is stored", settled, carry_out(ledger, known.sent))
        case CredentialChange(action=action) if action != "issue":  # which has no key, and would happen again
            again = carry_out(ledger, known.sent)
            require(again.receipt is None, f"{known.sent.id} has happened and was carried out once more")
        case _:
            pass
    acknowledged.settle(settled)
    return True


def tell_again(ledger: Ledger, acknowledged: Acknowledged) -> int:
    """Everything acknowledged is answered with the same bytes, or still so; how much that is."""
    told = [known for known in acknowledged.commands.values() if known.receipt is not None]
    memory = [known for known in told if isinstance(known.ask, Memory)]
    for start in range(0, len(memory), BATCH):
        some = memory[start : start + BATCH]
        for known, answer in zip(some, carry_out_all(ledger, [known.sent for known in some]), strict=True):
            _require_replayed(known, answer)
    for known in told:
        if isinstance(known.ask, Judgment | Saving):
            _require_replayed(known, carry_out(ledger, known.sent))
    with ledger.view() as view:
        for known in told:
            _require_still_so(view, known)
    return len(told)


def _require_replayed(known: Known, answer: Told) -> None:
    require_same(f"the receipt of {known.sent.id}, replayed", known.receipt, answer.receipt or answer)


def _require_still_so(view: LedgerView, known: Known) -> None:
    """Streams and credentials have no receipts: they are as they were told, or have gone on from there."""
    assert known.receipt is not None
    match known.ask:
        case Activation(desk=desk, stream=stream):
            tip = view.partition(DESKS[desk].partition).head().streams.get(stream)
            told = msgspec.json.decode(known.receipt, type=JournalHead)
            as_told = tip is not None and (tip.journal_id, tip.sequence) >= (told.journal_id, told.sequence)
            require(as_told and tip is not None and tip.journal_id == told.journal_id, f"{known.sent.id} is undone")
        case CredentialChange():
            before = msgspec.json.decode(known.receipt, type=Credential)
            stored = view.partition(COMPANY_PARTITION).credential(before.id)
            history = () if stored is None else stored.credential.history[: before.revision]
            require_same(f"the history of the credential of {known.sent.id}", before.history, history)
        case _:
            pass


def _found(view: LedgerView, known: Known) -> str | None:
    """What the store has of a command: its receipt, journal or credential."""
    found: object
    match known.ask:
        case Memory(desk=number, family=family):
            desk = DESKS[number]
            partition = view.partition(desk.partition)
            found = replay.stored_receipt(partition, family, desk.account.subject_id, known.sent.id)
        case Judgment(desk=number, operation=operation):
            found = _judged(view.partition(DESKS[number].partition), DESKS[number], known.sent.id, operation)
        case Saving(desk=number):
            desk = DESKS[number]
            partition = view.partition(desk.partition)
            found = replay.stored_checkpoint_receipt(partition, desk.account.subject_id, known.sent.id)
        case Activation(desk=number, stream=stream):
            found = view.partition(DESKS[number].partition).head().streams.get(stream)
        case CredentialChange() as change:
            found = _changed(view, change)
    return None if found is None else _ENCODER.encode(found).decode()


def _judged(partition: PartitionReader, desk: Desk, key: str, operation: Json) -> list[JudgmentEvent] | None:
    """The events of a judgment command: all of them or none, since a batch is committed at once."""
    subject_id = desk.account.subject_id
    events = [replay.judgment_event(partition, subject_id, key, item) for item in items_of(operation)]
    found = [event for event in events if event is not None]
    require(len(found) in (0, len(events)), f"{len(found)} of {len(events)} judgments of {key} are there")
    return found or None


def _changed(view: LedgerView, change: CredentialChange) -> Credential | None:
    """The credential that was made, or that is no longer as it was before the change."""
    for stored in view.partition(COMPANY_PARTITION).credentials():
        credential = stored.credential
        made = change.credential_id == "" and credential.spec.subject_id == change.subject_id
        changed = credential.id == change.credential_id and credential.revision > change.expected_revision
        if made or changed:
            return credential
    return None
