"""Carrying out what is asked for, in the process and in the oracle alike."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, assert_never

import msgspec

from crash_tests.company import ADMINISTRATOR, COMPANY, SHARED
from crash_tests.embedded.accounts import COMPANY_PARTITION, DESKS, author_of
from crash_tests.embedded.messages import Activation, CredentialChange, Judgment, Memory, Saving, Sent, Told
from crash_tests.history import Desk, Json
from relatum.core.access import Authority, Credential, CredentialSpec
from relatum.core.commands import RecordOperation, RelationOperation
from relatum.core.decide.saves import Detected, Hit
from relatum.core.judgments import JudgmentOperation
from relatum.core.links import LinkOperation
from relatum.errors import Failure, Refusal
from relatum.ledger import Ledger
from relatum.ledger.company import IssuedCredential
from relatum.ledger.judgments import Judged
from relatum.ledger.writer.submission import MemorySubmission, RecordSubmission

SIMILARITY = 0.5
_ENCODER = msgspec.json.Encoder()
_OPERATIONS: dict[str, Any] = {"record": RecordOperation, "relation": RelationOperation, "link": LinkOperation}


def submission_of(ledger: Ledger, sent: Sent) -> MemorySubmission:
    """A command on records, relations or links as the ledger takes it."""
    ask = sent.ask
    assert isinstance(ask, Memory)
    desk = DESKS[ask.desk]
    operation = msgspec.convert(ask.operation, _OPERATIONS[ask.family])
    submission = ledger.command(desk.partition, author_of(desk), sent.id, operation)
    if isinstance(submission, RecordSubmission):
        return submission._replace(detected=Detected(tuple(Hit(found, SIMILARITY) for found in ask.hits)))
    return submission


def carry_out_all(ledger: Ledger, commands: Sequence[Sent]) -> list[Told]:
    """The outcomes of commands on records, relations and links, submitted together. Raises what the ledger raises."""
    outcomes = ledger.submit_all([submission_of(ledger, sent) for sent in commands])
    return [_told(sent, outcome) for sent, outcome in zip(commands, outcomes, strict=True)]


def carry_out(ledger: Ledger, sent: Sent) -> Told:
    """The outcome of one command of any family. Raises what the ledger raises."""
    match sent.ask:
        case Memory():
            return carry_out_all(ledger, [sent])[0]
        case Judgment(desk=number, operation=operation):
            return _told(sent, _judge(ledger, DESKS[number], sent.id, operation))
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


def _judge(ledger: Ledger, desk: Desk, key: str, operation: Json) -> list[Judged] | Refusal:
    asked: JudgmentOperation = msgspec.convert(operation, JudgmentOperation)
    events = ledger.judgments.submit(desk.partition, author_of(desk), key, asked)
    if not isinstance(events, Refusal):
        for event in events:
            if isinstance(event, Failure):
                raise event
    return events


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
