"""Carrying out what is asked for, in the process and in the oracle alike."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import assert_never

import msgspec

from crash_tests.company import ADMINISTRATOR, COMPANY, SHARED
from crash_tests.embedded.desks import COMPANY_PARTITION, DESKS, author_of
from crash_tests.embedded.messages import Activation, CredentialChange, Memory, Saving, Sent, Told
from relatum.company import IssuedCredential
from relatum.core.access import Authority, Credential, CredentialSpec
from relatum.core.commands import RecordOperation, RelationOperation
from relatum.errors import Failure, Refusal
from relatum.ledger import Ledger
from relatum.writer.submission import MemorySubmission

_ENCODER = msgspec.json.Encoder()


def submission_of(ledger: Ledger, sent: Sent) -> MemorySubmission:
    """A command on records or relations as the ledger takes it."""
    ask = sent.ask
    assert isinstance(ask, Memory)
    desk = DESKS[ask.desk]
    operation: RecordOperation | RelationOperation
    if ask.family == "record":
        operation = msgspec.convert(ask.operation, RecordOperation)
    else:
        operation = msgspec.convert(ask.operation, RelationOperation)
    return ledger.command(desk.partition, author_of(desk), sent.id, operation)


def carry_out_all(ledger: Ledger, commands: Sequence[Sent]) -> list[Told]:
    """The outcomes of commands on records and relations, submitted together. Raises what the ledger raises."""
    outcomes = ledger.submit_all([submission_of(ledger, sent) for sent in commands])
    return [_told(sent, outcome) for sent, outcome in zip(commands, outcomes, strict=True)]


def carry_out(ledger: Ledger, sent: Sent) -> Told:
    """The outcome of one command of any family. Raises what the ledger raises."""
    match sent.ask:
        case Memory():
            return carry_out_all(ledger, [sent])[0]
        case Saving(desk=number, stream=stream, command=command):
            desk = DESKS[number]
            return _told(sent, ledger.save_checkpoint(desk.partition, author_of(desk), stream, command))
        case Activation(desk=number, stream=stream):
            desk = DESKS[number]
            return _told(sent, ledger.activate(desk.partition, author_of(desk), stream))
        case CredentialChange():
            return _told(sent, _change_credential(ledger, sent.ask))
        case _:
            assert_never(sent.ask)


def administrator(ledger: Ledger) -> Credential | None:
    """The company's administrator, if it has been made."""
    with ledger.view() as view:
        found = view.partition(COMPANY_PARTITION).credentials()
        return next((one.credential for one in found if one.credential.spec.subject_id == ADMINISTRATOR), None)


def _change_credential(ledger: Ledger, change: CredentialChange) -> Credential | Refusal:
    bootstrapped = change.action == "bootstrap"
    made = ledger.bootstrap(COMPANY, ADMINISTRATOR) if bootstrapped else asyncio.run(_changed(ledger, change))
    return made.credential if isinstance(made, IssuedCredential) else made


async def _changed(ledger: Ledger, change: CredentialChange) -> IssuedCredential | Credential | Refusal:
    admin = administrator(ledger)
    assert admin is not None
    at = change.credential_id, change.expected_revision
    match change.action:
        case "issue":
            spec = CredentialSpec(
                subject_id=change.subject_id, capabilities=("memory_read", "memory_write"), grants=(SHARED,)
            )
            return await ledger.issue_credential(admin, spec)
        case "rotate":
            return await ledger.rotate_credential(admin, *at)
        case "revoke":
            return await ledger.revoke_credential(admin, *at)
        case _:
            return await ledger.change_scope_authority(admin, *at, Authority(grants=()))


def _told(sent: Sent, outcome: object) -> Told:
    if isinstance(outcome, Failure):
        raise outcome
    if isinstance(outcome, Refusal):
        return Told(id=sent.id, refusal=outcome.code)
    return Told(id=sent.id, receipt=_ENCODER.encode(outcome).decode())
