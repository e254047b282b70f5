"""What is submitted and what is answered can be said in bytes, and is equal on the other side of them."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec

from relatum.core import journal
from relatum.core.access import CredentialSpec
from relatum.core.commands import SaveRecord
from relatum.core.cursors import Advance, CheckpointCommand
from relatum.core.judgments import Comparing, Comparison
from relatum.core.links import Link
from relatum.core.mined import MinedEdge
from relatum.core.promotions import MiningRun
from relatum.core.streams import RECORDS
from relatum.errors import Refusal
from relatum.ledger import Ledger
from tests.support.builders import ADA, PARTITION, SCOPE, assertion, record
from tests.support.desk import Desk
from tests.support.steps import reached

Values = list[Any]


def said(value: Any) -> Any:
    """A value as it comes out of the bytes that say it."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value), type=type(value))


async def memory(ledger: Ledger, values: Values) -> tuple[str, str]:
    """Commands of records, relations and links, accepted and refused; two records that there are then."""
    desk = Desk(ledger)

    async def submit(*operations: Any) -> Values:
        commands = [desk.command(one) for one in operations]
        outcomes = await ledger.submit_async([said(one) for one in commands])
        values.extend([*commands, *outcomes])
        return outcomes

    saves = (SaveRecord(record=record(text, data={"tide": [1, None, 0.5]})) for text in ("tide", "tide, too"))
    one, other = map(reached, await submit(*saves))
    await submit(assertion(one, other), assertion(one, one))
    await submit(Link(source_id=one.record_id, target_id=other.record_id, kind="related"))
    return one.record_id, other.record_id


async def judgments(ledger: Ledger, values: Values, source_id: str, target_id: str) -> None:
    comparison = Comparison(
        source_id=source_id, target_id=target_id, relation="supersedes", confidence=0.5, evidence=[1]
    )
    comparing = Comparing(comparison=comparison)
    outcomes = await ledger.judgments.submit_async(PARTITION, ADA, "judged", said(comparing))
    assert not isinstance(outcomes, Refusal)
    values += [comparing, *outcomes]


async def streams(ledger: Ledger, values: Values) -> None:
    tip = await ledger.activate_async(said(PARTITION), said(ADA), RECORDS)
    command = CheckpointCommand(
        contract_version=1,
        idempotency_key="saved",
        consumer_id="copy",
        expected_revision=0,
        operation=Advance(cursor=journal.cursor(RECORDS, tip)),
    )
    values += [tip, command, await ledger.save_checkpoint_async(PARTITION, ADA, RECORDS, said(command))]


async def company(ledger: Ledger, values: Values) -> None:
    admin = ledger.bootstrap("acme", "root")
    assert not isinstance(admin, Refusal)
    spec = CredentialSpec(subject_id="ada", capabilities=("memory_read",), grants=(SCOPE,))
    issued = await ledger.issue_credential(said(admin.credential), said(spec))
    assert not isinstance(issued, Refusal)
    values += [spec, issued, await ledger.revoke_credential(admin.credential, issued.credential.id, 1)]


def mined(ledger: Ledger, values: Values, source_id: str, target_id: str) -> None:
    run, edge = MiningRun(run_id="night", run_date="2026-01-05"), MinedEdge(source_id, "supports", target_id, 0.5)
    values += [run, edge, ledger.mining.replace(PARTITION, said(run), [said(edge)], finish=True)]
    values += [ledger.mining.repair(PARTITION, 5), ledger.mining.drop(PARTITION)]


async def everything(ledger: Ledger) -> Values:
    """Commands and outcomes of every family."""
    values: Values = []
    one, other = await memory(ledger, values)
    await judgments(ledger, values, one, other)
    await streams(ledger, values)
    await company(ledger, values)
    mined(ledger, values, one, other)
    return values


def test_commands_and_outcomes_of_every_family_are_values() -> None:
    with Ledger.in_memory() as ledger:
        values = asyncio.run(everything(ledger))
    assert {"RecordSubmission", "RelationReceipt", "LinkReceipt", "JudgmentEvent", "Refusal", "CheckpointReceipt"} <= {
        type(one).__name__ for one in values
    }
    assert values == [said(one) for one in values]
