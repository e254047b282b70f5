"""One command for each of several records or relations: alone under the verb's key, or together in batches.

Of several each has a key of its own, the verb's with its place behind it, so that the verb can be repeated as a whole.
What is refused of several is told on standard error, and the rest is done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from relatum.cli.client.columns import RECEIPTS
from relatum.cli.client.output import Json
from relatum.cli.client.session import Session
from relatum.cli.client.statuses import Ended, Status
from relatum.cli.client.values import RecordAt
from relatum.limits import COMMAND_BATCH_MAX

Kind = Literal["record", "relation"]


def command_each(session: Session, kind: Kind, targets: Sequence[RecordAt], operation: Json) -> None:
    """Gives `operation` to each target, and shows the receipts."""
    operations = [
        {
            "type": operation["type"],
            f"{kind}_id": target.id,
            "expected_revision": session.revision_of(target, kind),
            **{name: value for name, value in operation.items() if name != "type"},
        }
        for target in targets
    ]
    if len(operations) == 1:
        session.output.one(session.command(f"{kind}s/commands", operation=operations[0])["receipt"])
        return
    _all(session, kind, operations)


def _all(session: Session, kind: Kind, operations: Sequence[Json]) -> None:
    refused: list[Ended] = []
    receipts: list[Json] = []
    for start in range(0, len(operations), COMMAND_BATCH_MAX):
        commands = [
            {"idempotency_key": f"{session.key}:{number}", "operation": one}
            for number, one in enumerate(operations[start : start + COMMAND_BATCH_MAX], start + 1)
        ]
        for number, result in enumerate(session.batch(f"{kind}s/commands/batch", commands), start):
            if "receipt" in result:
                receipts.append(result["receipt"])
            else:
                refused.append(_refusal(result["error"], operations[number][f"{kind}_id"]))
    session.output.many(receipts, RECEIPTS)
    if refused:
        for one in refused[:-1]:
            one.show()
        raise refused[-1]


def _refusal(error: Json, name: str) -> Ended:
    exit_code = Status.UNREACHED if error["status"] >= 500 else Status.REFUSED
    return Ended(error["code"], f"{error['message']} ({name})", exit_code, status=error["status"])
