"""Commands with receipts, made up: what a server would have answered to a client of ours."""

from __future__ import annotations

from typing import Any

import msgspec

from crash_tests.consumers.consumer import Consumer
from crash_tests.consumers.stream_history import Heard
from crash_tests.history import Account, Command, Desk, Json, Owner
from tests.support.builders import ADA, SCOPE

ACCOUNT = Account("acme", ADA.subject_id, ADA.credential_id, "a secret")
DESK = Desk(ACCOUNT, SCOPE)

RECORD_ID = "00000000-0000-7000-8000-000000000001"


def create(key: str = "key 1", content: str = "kept") -> Command:
    """A command to create a record, with no answer yet."""
    return Command(DESK, "record", key, {"type": "create", "record": {"content": content}})


def revise(key: str, revision: int) -> Command:
    """A command on the record that `RECORD_ID` names."""
    target = {"record_id": RECORD_ID, "expected_revision": revision}
    return Command(DESK, "record", key, {"type": "revise", "record": {"content": "changed"}, **target})


def receipt(command: Command, sequence: int, **members: Any) -> bytes:
    """What accepts `command` as the first of its record."""
    told: Json = {
        "contract_version": 1,
        "idempotency_key": command.idempotency_key,
        "record_id": RECORD_ID,
        "revision": 1,
        "action": "created",
        "author": ACCOUNT.author,
        "committed_at_millis": 7,
        "commit_sequence": sequence,
        "record_digest": f"record {sequence}",
    }
    return msgspec.json.encode(told | members)


def accepted(command: Command, sequence: int, **members: Any) -> Command:
    """`command`, acknowledged."""
    command.receipt = receipt(command, sequence, **members)
    return command


# Streams and consumers

OWNER = Owner(DESK, "record", "mirror")
JOURNAL_ID = "00000000-0000-4000-8000-00000000000c"


def cursor(sequence: int, **members: Any) -> Json:
    """A place of the stream of records."""
    place = {"version": 1, "stream": "memory_records", "journal_id": JOURNAL_ID, "sequence": sequence}
    return place | {"prefix_digest": f"{sequence:064x}"} | members


def delivery(sequence: int, **members: Any) -> Json:
    """What the stream tells there: the first command made a record, the others revised it."""
    change = {
        "schema_version": 1,
        "kind": "created" if sequence == 1 else "revised",
        "record_id": RECORD_ID,
        "record_revision": sequence,
        "author": ACCOUNT.author,
        "committed_at_millis": 7,
        "record_digest": "d",
        "receipt_digest": f"receipt {sequence}",
    }
    return {"cursor": cursor(sequence), "change": change | members}


def consumer(told: int = 0) -> Consumer:
    """One that has taken so many changes of a stream that goes on for three more."""
    heard = Heard()
    heard.begin(cursor(0))
    for sequence in range(1, told + 4):
        heard.hear(delivery(sequence))
    made = Consumer(OWNER, heard)
    for sequence in range(1, told + 1):
        made.take(delivery(sequence), f"id {sequence}")
    return made


def save(by: Consumer, key: str = "key 1", **operation: Any) -> Command:
    """A command of a consumer to save its place."""
    asked = {"type": "advance", "cursor": by.place} | operation
    return Command(DESK, "checkpoint", key, asked, owner=OWNER, before=by.checkpoint)


def saved(command: Command, **members: Any) -> Command:
    """`command`, acknowledged; `members` differ in the checkpoint."""
    before = command.before
    checkpoint: Json = {
        "schema_version": 1,
        "consumer_id": OWNER.consumer_id,
        "revision": before["revision"] + 1 if before else 1,
        "cursor": command.operation["cursor"],
        "author": ACCOUNT.author,
        "updated_at_millis": 7,
        "checkpoint_digest": f"checkpoint {command.idempotency_key}",
    }
    told = {
        "contract_version": 1,
        "idempotency_key": command.idempotency_key,
        "previous": before,
        "checkpoint": checkpoint | members,
        "reconciliation_evidence": command.operation.get("evidence_ref"),
        "receipt_digest": f"receipt {command.idempotency_key}",
    }
    command.receipt = msgspec.json.encode(told)
    return command
