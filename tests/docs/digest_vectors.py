"""The exchange behind the vectors of docs/digests.md: a real ledger with a fixed clock and fixed randomness.

`python -m tests.docs.digest_vectors` prints the block of vectors for the page. A test holds the page to it, and both to
an implementation that was written from the page alone.
"""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import Any

import msgspec

from relatum.clock import ManualClock
from relatum.core.canonical import encode
from relatum.core.commands import RecordCommand, RelationCommand, RelationOperation
from relatum.core.cursors import CheckpointCommand, CheckpointReceipt
from relatum.core.ids import Author, Scope, memory_partition
from relatum.core.receipts import Receipt
from relatum.core.streams import RELATIONS, Stream
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.reads import relations

Json = dict[str, Any]

COMPANY_ID = "acme"
SCOPE: Json = {"project_id": "atlas", "mission_id": None, "agent_id": "scout", "visibility": "shared"}
AUTHOR: Json = {"credential_id": "018bcfe5-6800-7000-8000-00000000000a", "subject_id": "ada"}
START_MILLIS = 1_700_000_000_000


class CountedEntropy:
    """Randomness that is the same on every run."""

    def __init__(self) -> None:
        self._drawn = 0

    def draw(self, size: int) -> bytes:
        self._drawn += 1
        return blake2b(self._drawn.to_bytes(8, "big"), digest_size=size).digest()


class Exchange:
    """A client's side of a ledger: JSON goes in, JSON comes out."""

    def __init__(self, scope: Json | None = None) -> None:
        self.clock = ManualClock(START_MILLIS)
        self.ledger = Ledger.in_memory(clock=self.clock, entropy=CountedEntropy())
        self.scope = SCOPE if scope is None else scope
        self.author = msgspec.convert(AUTHOR, Author)
        self.partition = memory_partition(COMPANY_ID, self.author.subject_id, msgspec.convert(self.scope, Scope))

    def close(self) -> None:
        self.ledger.close()

    def record(self, key: str, operation: Json) -> Json:
        """The receipt of a record command."""
        return self._command(RecordCommand, key, operation)

    def relation(self, key: str, operation: Json) -> Json:
        """The receipt of a relation command."""
        return self._command(RelationCommand, key, operation)

    def _command(self, body: Any, key: str, operation: Json) -> Json:
        request = {"contract_version": 1, "scope": self.scope, "idempotency_key": key, "operation": operation}
        command = msgspec.json.decode(json.dumps(request), type=body)
        submission = self.ledger.command(self.partition, self.author, command.idempotency_key, command.operation)
        receipt: Receipt | Refusal = self.ledger.submit(submission)
        assert not isinstance(receipt, Refusal), receipt
        self.clock.advance(1_000)
        return _json(receipt)

    def revision(self, receipt: Json) -> Json:
        """A relation as `relations/revision` answers it."""
        with self.ledger.view() as view:
            history = relations.revision(view.partition(self.partition), receipt["relation_id"], receipt["revision"])
        assert not isinstance(history, Refusal)
        return _json(history)["relation"]

    def told(self, operation: Json, receipt: Json) -> Json:
        """A relation command as it was sent, what came of it, and the bytes that were digested."""
        with self.ledger.view() as view:
            version = view.partition(self.partition).relation_revision(receipt["relation_id"], receipt["revision"])
        assert version is not None
        sent: Any = msgspec.convert(operation, RelationOperation)
        return {
            "operation": operation,
            "operation_bytes": encode(sent).hex(),
            "relation": self.revision(receipt),
            "relation_bytes": encode(version.relation).hex(),
            "receipt": receipt,
        }

    def workspace_id(self) -> str:
        with self.ledger.view() as view:
            return view.partition(self.partition).workspace_id

    def checkpoint(self, stream: Stream, command: Json) -> Json:
        """The receipt of a checkpoint command."""
        given = msgspec.convert(command, CheckpointCommand)
        receipt = self.ledger.save_checkpoint(self.partition, self.author, stream, given)
        assert isinstance(receipt, CheckpointReceipt), receipt
        return _json(receipt)

    def journal(self, stream: Stream) -> Json:
        """A journal as it is stored: its identity, and each entry's nonce, change and digest."""
        with self.ledger.view() as view:
            reader = view.partition(self.partition)
            head = reader.head().streams[stream]
            entries = [entry for _, entry in reader.entries(stream, 0)]
        return {
            "stream": stream,
            "journal_id": head.journal_id,
            "entries": [
                {
                    "nonce": entry.nonce.hex(),
                    "change": _json(entry.change),
                    "prefix_digest": entry.prefix_digest.hex(),
                }
                for entry in entries
            ],
        }


def _json(value: Any) -> Json:
    found: Json = json.loads(msgspec.json.encode(value))
    return found


def vectors() -> Json:
    """One exchange: a record, a relation that is asserted and rejected, and what the relation journal tells of it."""
    exchange = Exchange()
    created = [
        exchange.record(f"fact-{number}", {"type": "create", "record": {"content": content}})
        for number, content in enumerate(["high water at noon", "low water at six", "the harbour log"], start=1)
    ]
    asserted_operation = assertion(*created)
    asserted = exchange.relation("claim-1", asserted_operation)
    rejected_operation = {
        "type": "review",
        "relation_id": asserted["relation_id"],
        "expected_revision": 1,
        "disposition": "rejected",
        "evidence_ref": "review/7",
    }
    rejected = exchange.relation("verdict-1", rejected_operation)
    found = {
        "company_id": COMPANY_ID,
        "scope": exchange.scope,
        "workspace_id": exchange.workspace_id(),
        "record_receipt": created[0],
        "relation_commands": [
            exchange.told(asserted_operation, asserted),
            exchange.told(rejected_operation, rejected),
        ],
        "journal": exchange.journal(RELATIONS),
    }
    exchange.close()
    return found


def assertion(source: Json, target: Json, proof: Json) -> Json:
    """An assertion with every member there is, some of them spelled in a way that is not the normal one."""
    spelled = [source["record_id"].upper(), target["record_id"].replace("-", ""), f"urn:uuid:{proof['record_id']}"]
    first, second, third = ({"record_id": one, "revision": 1} for one in spelled)
    return {
        "type": "assert",
        "relation": {
            "source": first,
            "target": second,
            "kind": "supports",
            "provenance": {
                "origin": "model_inference",
                "method": "reading",
                "method_revision": "2",
                "evidence_ref": "log/é",
                "model": {"provider": "maker", "model": "reader", "revision": "7"},
            },
            "valid_from_millis": -1,
            "valid_until_millis": None,
            "evidence_sources": [third],
        },
    }


if __name__ == "__main__":
    print(json.dumps(vectors(), indent=2, ensure_ascii=False))  # noqa: T201 - that is what it is for
