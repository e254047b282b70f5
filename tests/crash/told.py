"""Commands with receipts, made up: what a server would have answered to a client of ours."""

from __future__ import annotations

from typing import Any

import msgspec

from crash_tests.history import Account, Command, Desk, Json
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
    }
    return msgspec.json.encode(told | members)


def accepted(command: Command, sequence: int, **members: Any) -> Command:
    """`command`, acknowledged."""
    command.receipt = receipt(command, sequence, **members)
    return command
