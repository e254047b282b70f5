"""Every digest of the ledger (docs/digests.md). Nothing else hashes.

A digest is BLAKE3 over a label, a zero byte and canonical bytes. The label names what is digested and the version of
its encoding.
"""

from __future__ import annotations

import hmac
from functools import lru_cache
from typing import TypeVar

from blake3 import blake3
from msgspec import Struct
from msgspec.structs import asdict, replace

from relatum.core.candidates import Words
from relatum.core.canonical import encode
from relatum.core.changes import JournalHead, RecordChange, RelationChange
from relatum.core.commands import RecordOperation, RelationOperation
from relatum.core.cursors import Checkpoint, CheckpointCommand, CheckpointReceipt
from relatum.core.ids import Partition
from relatum.core.judgments import JudgmentOperation
from relatum.core.links import LinkOperation, LinkReceipt
from relatum.core.receipts import JudgmentReceipt, RecordReceipt, RelationReceipt
from relatum.core.records import PayloadRow
from relatum.core.streams import Stream

AnyReceipt = TypeVar("AnyReceipt", RecordReceipt, RelationReceipt, CheckpointReceipt, JudgmentReceipt, LinkReceipt)

DIGEST_BYTES = 32
ACCUMULATOR_MODULUS = 1 << 256


def _digest(label: bytes, data: bytes) -> bytes:
    return blake3(b"relatum/1/" + label + b"\0" + data).digest()


def workspace_id(partition: Partition) -> str:
    """The stable, opaque name of a partition: 64 hex digits."""
    return _digest(b"partition", encode(partition)).hex()


def company_digest(company_id: str) -> bytes:
    """Groups a company's workspaces in the store: 16 bytes."""
    return _digest(b"company", company_id.encode())[:16]


def relation_command_digest(operation: RelationOperation) -> str:
    """Identity of a relation command: anybody can recompute it."""
    return _digest(b"relation-command", encode(operation)).hex()


def record_command_digest(operation: RecordOperation, store_key: bytes) -> str:
    """Identity of a record command, keyed by the store so that an erased short text can't be guessed from it."""
    return blake3(b"relatum/1/record-command\0" + encode(operation), key=store_key).hexdigest()


def relation_digest(canonical: bytes) -> bytes:
    """Digest of the canonical bytes of a relation at one revision."""
    return _digest(b"relation", canonical)


def record_digest(canonical: bytes) -> bytes:
    """Digest of the canonical bytes of a record's kept part, which holds the salted digests of the erasable parts."""
    return _digest(b"record", canonical)


def payload_digest(row: PayloadRow) -> bytes:
    """Salted digest of an erasable value."""
    return stored_payload_digest(encode(row))


def stored_payload_digest(body: bytes) -> bytes:
    """The same of the canonical bytes that it is stored as."""
    return _digest(b"payload", body)


def store_key_digest(store_key: bytes) -> bytes:
    """Digest of the store's key, kept beside it."""
    return _digest(b"store-key", store_key)


def credential_digest(stored: bytes) -> bytes:
    """Digest of a credential as it is stored, by which the row that leads to it knows it again."""
    return _digest(b"credential", stored)


def link_command_digest(operation: LinkOperation) -> str:
    """Identity of a link command: anybody can recompute it."""
    return _digest(b"link-command", encode(operation)).hex()


def words_digest(words: Words) -> bytes:
    """Salted digest of what a verdict says in words."""
    return stored_words_digest(encode(words))


def stored_words_digest(canonical: bytes) -> bytes:
    """The same of the canonical bytes that they are stored as."""
    return _digest(b"words", canonical)


def judgment_command_digest(operation: JudgmentOperation, store_key: bytes) -> str:
    """Identity of a judgment command, keyed by the store: its words can be erased."""
    return blake3(b"relatum/1/judgment-command\0" + encode(operation), key=store_key).hexdigest()


def checkpoint_command_digest(stream: Stream, command: CheckpointCommand) -> str:
    """Identity of a checkpoint command; its key and contract version are no part of it."""
    asked = {
        "stream": stream,
        "consumer_id": command.consumer_id,
        "expected_revision": command.expected_revision,
        "expected_checkpoint_digest": command.expected_checkpoint_digest,
        "operation": command.operation,
    }
    return _digest(b"checkpoint-command", encode(asked)).hex()


def checkpoint_digest(workspace: str, stream: Stream, checkpoint: Checkpoint) -> str:
    """Digest of a checkpoint without its own digest, bound to the partition and the stream."""
    members = _members_without(checkpoint, "checkpoint_digest")
    bound = {"workspace_id": workspace, "stream": stream, "checkpoint": members}
    return _digest(b"checkpoint", encode(bound)).hex()


def _members_without(value: Struct, name: str) -> dict[str, object]:
    members = asdict(value)
    del members[name]
    return members


def receipt_digest(
    workspace: str, receipt: RecordReceipt | RelationReceipt | CheckpointReceipt | JudgmentReceipt | LinkReceipt
) -> str:
    """Digest of a receipt without its own digest, bound to the partition."""
    members = _members_without(receipt, "receipt_digest")
    return _digest(b"receipt", encode({"workspace_id": workspace, "receipt": members})).hex()


def sealed_receipt(workspace: str, receipt: AnyReceipt) -> AnyReceipt:
    """`receipt` with its own digest filled in."""
    return replace(receipt, receipt_digest=receipt_digest(workspace, receipt))


def text_digest(text: bytes) -> str:
    """Digest of a file of a text export."""
    return _digest(b"text-file", text).hex()


def text_root(files: dict[str, str]) -> str:
    """Digest of a whole text export: of the digest of each file by its path."""
    return _digest(b"text-export", encode(files)).hex()


def event_digest(row: bytes) -> bytes:
    """Digest of an event's stored bytes, which name the digest of the event before it."""
    return _digest(b"event", row)


def position_digest(before: bytes, events: list[bytes]) -> bytes:
    """Digest of the whole store's history after the events of one more group, given by their digests in order."""
    return _digest(b"position", before + b"".join(events))


@lru_cache(maxsize=4096)
def receipt_key(family: str, subject_id: str, idempotency_key: str) -> bytes:
    """Where a receipt is looked up: 16 bytes for (subject, command family, key) within a partition.

    Remembered: a command asks for its own several times on its way.
    """
    return _digest(b"receipt-key", encode([family, subject_id, idempotency_key]))[:16]


def consumer_key(subject_id: str, consumer_id: str) -> bytes:
    """Where a subject's consumer of a stream is looked up: 16 bytes."""
    return _digest(b"consumer-key", encode([subject_id, consumer_id]))[:16]


def topic_key(topic: str) -> bytes:
    """Where the holder of a topic slot is looked up: 16 bytes."""
    return _digest(b"topic-key", topic.encode())[:16]


def fact_key(fact: str) -> bytes:
    """Where the records that say something of a fact are looked up: 16 bytes."""
    return _digest(b"fact-key", fact.encode())[:16]


def said_digest(content: str, source_hash: str | None) -> bytes:
    """What a record says of its fact, and by which state of its source; equal for equal statements: 16 bytes."""
    return _digest(b"said", encode([content, source_hash]))[:16]


def body_digest(canonical: bytes) -> bytes:
    """What a row that has no revisions, and so nothing beside it, keeps of its own canonical bytes: 16 bytes."""
    return _digest(b"body", canonical)[:16]


def adjacency_digest(entry: bytes) -> int:
    """An adjacency entry as a 256-bit number, to be summed modulo 2**256 whatever the order."""
    return int.from_bytes(_digest(b"adjacency", entry), "big")


def row_number(row: bytes) -> int:
    """Key and body of a row as a 256-bit number, to be summed modulo 2**256 whatever the order: for verification."""
    return int.from_bytes(_digest(b"row", row), "big")


def baseline_digest(workspace: str, stream: Stream, journal_id: str) -> bytes:
    """Prefix digest of a journal before its first entry."""
    return _digest(b"journal-baseline", encode({"workspace_id": workspace, "stream": stream, "journal_id": journal_id}))


def prefix_digest(
    workspace: str, stream: Stream, before: JournalHead, nonce: bytes, change: RecordChange | RelationChange
) -> bytes:
    """Prefix digest of a journal up to and with the entry that follows `before`."""
    return _digest(
        b"journal-entry",
        encode(
            {
                "workspace_id": workspace,
                "stream": stream,
                "journal_id": before.journal_id,
                "sequence": before.sequence + 1,
                "previous": before.prefix_digest.hex(),
                "nonce": nonce.hex(),
                "change": change,
            }
        ),
    )


def secret_verifier(secret: str) -> bytes:
    """What is stored of a credential's secret. The secret has 256 random bits, so one hash is enough."""
    return _digest(b"credential-secret", secret.encode())


def same(left: bytes, right: bytes) -> bool:
    """Comparison in constant time."""
    return hmac.compare_digest(left, right)


def draw(entropy: bytes, label: str, length: int) -> bytes:
    """`length` bytes drawn from `entropy` under a label: one way, so that a published draw tells nothing of another."""
    return blake3(b"relatum/1/draw\0" + entropy + label.encode()).digest(length)


def cursor_tag(store_key: bytes, binding: Struct | dict[str, object]) -> bytes:
    """Authenticates an opaque page cursor: 16 bytes, keyed by the store."""
    return blake3(b"relatum/1/page-cursor\0" + encode(binding), key=store_key).digest(16)
