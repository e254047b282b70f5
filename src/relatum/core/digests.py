"""Every digest of the ledger (docs/digests.md). Nothing else hashes.

A digest is BLAKE3 over a label, a zero byte and canonical bytes. The label names what is digested and the version of
its encoding. The hashes of a log alone are SHA-256, as its standard says.
"""

from __future__ import annotations

import hmac
from functools import lru_cache
from hashlib import sha256
from typing import TypeVar

from blake3 import blake3
from msgspec import UNSET, Struct
from msgspec.structs import replace

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


def workspace_id(partition: Partition) -> str:
    """The stable, opaque name of a partition: 64 hex digits."""
    return blake3(b"relatum/1/partition\0" + encode(partition)).hexdigest()


def company_digest(company_id: str) -> bytes:
    """Groups a company's workspaces in the store: 16 bytes."""
    return blake3(b"relatum/1/company\0" + company_id.encode()).digest(16)


def relation_command_digest(operation: RelationOperation) -> str:
    """Identity of a relation command: anybody can recompute it."""
    return blake3(b"relatum/1/relation-command\0" + encode(operation)).hexdigest()


def record_command_digest(operation: RecordOperation, store_key: bytes) -> str:
    """Identity of a record command, keyed by the store so that an erased short text can't be guessed from it."""
    return blake3(b"relatum/1/record-command\0" + encode(operation), key=store_key).hexdigest()


def relation_digest(canonical: bytes) -> bytes:
    """Digest of the canonical bytes of a relation at one revision."""
    return blake3(b"relatum/1/relation\0" + canonical).digest()


def record_digest(canonical: bytes) -> bytes:
    """Digest of the canonical bytes of a record's kept part, which holds the salted digests of the erasable parts."""
    return blake3(b"relatum/1/record\0" + canonical).digest()


def payload_digest(row: PayloadRow) -> bytes:
    """Salted digest of an erasable value."""
    return stored_payload_digest(encode(row))


def stored_payload_digest(body: bytes) -> bytes:
    """The same of the canonical bytes that it is stored as."""
    return blake3(b"relatum/1/payload\0" + body).digest()


def tool_call_digest(canonical: bytes) -> str:
    """Identity of a tool call: what two calls that say the same have in common."""
    return blake3(b"relatum/1/tool-call\0" + canonical).hexdigest(16)


def store_key_digest(store_key: bytes) -> bytes:
    """Digest of the store's key, kept beside it."""
    return blake3(b"relatum/1/store-key\0" + store_key).digest()


def credential_digest(stored: bytes) -> bytes:
    """Digest of a credential as it is stored, by which the row that leads to it knows it again."""
    return blake3(b"relatum/1/credential\0" + stored).digest()


def link_command_digest(operation: LinkOperation) -> str:
    """Identity of a link command: anybody can recompute it."""
    return blake3(b"relatum/1/link-command\0" + encode(operation)).hexdigest()


def load_line_digest(operation: RecordOperation | RelationOperation | LinkOperation, run: str | None) -> bytes:
    """What a line of a load means, 16 bytes: its key is made of it, so that the same line has the same key again.

    `run` keeps the keys of one run apart from those of all others.
    """
    return blake3(b"relatum/1/load-line\0" + encode((run, operation))).digest(16)


def words_digest(words: Words) -> bytes:
    """Salted digest of what a verdict says in words."""
    return stored_words_digest(encode(words))


def stored_words_digest(canonical: bytes) -> bytes:
    """The same of the canonical bytes that they are stored as."""
    return blake3(b"relatum/1/words\0" + canonical).digest()


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
    return blake3(b"relatum/1/checkpoint-command\0" + encode(asked)).hexdigest()


def checkpoint_digest(workspace: str, stream: Stream, checkpoint: Checkpoint) -> str:
    """Digest of a checkpoint without its own digest, bound to the partition and the stream."""
    bare = replace(checkpoint, checkpoint_digest=UNSET)  # which the encoder leaves out
    bound = {"workspace_id": workspace, "stream": stream, "checkpoint": bare}
    return blake3(b"relatum/1/checkpoint\0" + encode(bound)).hexdigest()


def receipt_digest(
    workspace: str, receipt: RecordReceipt | RelationReceipt | CheckpointReceipt | JudgmentReceipt | LinkReceipt
) -> str:
    """Digest of a receipt without its own digest, bound to the partition."""
    bare = replace(receipt, receipt_digest=UNSET)  # which the encoder leaves out
    return blake3(b"relatum/1/receipt\0" + encode({"receipt": bare, "workspace_id": workspace})).hexdigest()


def sealed_receipt(workspace: str, receipt: AnyReceipt) -> AnyReceipt:
    """`receipt` with its own digest filled in."""
    return replace(receipt, receipt_digest=receipt_digest(workspace, receipt))


def text_digest(text: bytes) -> str:
    """Digest of a file of a text export."""
    return blake3(b"relatum/1/text-file\0" + text).hexdigest()


def text_root(files: dict[str, str]) -> str:
    """Digest of a whole text export: of the digest of each file by its path."""
    return blake3(b"relatum/1/text-export\0" + encode(files)).hexdigest()


def event_digest(row: bytes) -> bytes:
    """Digest of an event's stored bytes, which name the digest of the event before it."""
    return blake3(b"relatum/1/event\0" + row).digest()


def log_leaf(entry: bytes) -> bytes:
    """The hash of a leaf of a log (RFC 9162), which is SHA-256: others verify it with what they have."""
    return sha256(b"\0" + entry).digest()


def log_node(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node of a log (RFC 9162)."""
    return sha256(b"\1" + left + right).digest()


def log_empty() -> bytes:
    """The root hash of a log without leaves (RFC 9162)."""
    return sha256().digest()


def position_digest(before: bytes, events: list[bytes]) -> bytes:
    """Digest of the whole store's history after the events of one more group, given by their digests in order."""
    return blake3(b"relatum/1/position\0" + before + b"".join(events)).digest()


@lru_cache(maxsize=4096)
def receipt_key(family: str, subject_id: str, idempotency_key: str) -> bytes:
    """Where a receipt is looked up: 16 bytes for (subject, command family, key) within a partition.

    Remembered: a command asks for its own several times on its way.
    """
    return blake3(b"relatum/1/receipt-key\0" + encode([family, subject_id, idempotency_key])).digest(16)


def consumer_key(subject_id: str, consumer_id: str) -> bytes:
    """Where a subject's consumer of a stream is looked up: 16 bytes."""
    return blake3(b"relatum/1/consumer-key\0" + encode([subject_id, consumer_id])).digest(16)


def topic_key(topic: str) -> bytes:
    """Where the holder of a topic slot is looked up: 16 bytes."""
    return blake3(b"relatum/1/topic-key\0" + topic.encode()).digest(16)


def fact_key(fact: str) -> bytes:
    """Where the records that say something of a fact are looked up: 16 bytes."""
    return blake3(b"relatum/1/fact-key\0" + fact.encode()).digest(16)


def source_key(source: str) -> bytes:
    """Where the records that come from a source are looked up: 16 bytes."""
    return blake3(b"relatum/1/source-key\0" + source.encode()).digest(16)


def said_digest(content: str, source_hash: str | None) -> bytes:
    """What a record says of its fact, and by which state of its source; equal for equal statements: 16 bytes."""
    return blake3(b"relatum/1/said\0" + encode([content, source_hash])).digest(16)


def body_digest(canonical: bytes) -> bytes:
    """What a row that has no revisions, and so nothing beside it, keeps of its own canonical bytes: 16 bytes."""
    return blake3(b"relatum/1/body\0" + canonical).digest(16)


def adjacency_digest(entry: bytes) -> int:
    """An adjacency entry as a 256-bit number, to be summed modulo 2**256 whatever the order."""
    return int.from_bytes(blake3(b"relatum/1/adjacency\0" + entry).digest(), "big")


def dependent_digest(key: bytes) -> int:
    """The key of what pins a content as a 256-bit number, to be summed modulo 2**256 whatever the order."""
    return int.from_bytes(blake3(b"relatum/1/dependent\0" + key).digest(), "big")


def row_number(row: bytes) -> int:
    """Key and body of a row as a 256-bit number, to be summed modulo 2**256 whatever the order."""
    return int.from_bytes(blake3(b"relatum/1/row\0" + row).digest(), "big")


def baseline_digest(workspace: str, stream: Stream, journal_id: str) -> bytes:
    """Prefix digest of a journal before its first entry."""
    opened = {"workspace_id": workspace, "stream": stream, "journal_id": journal_id}
    return blake3(b"relatum/1/journal-baseline\0" + encode(opened)).digest()


def prefix_digest(
    workspace: str, stream: Stream, before: JournalHead, nonce: bytes, change: RecordChange | RelationChange
) -> bytes:
    """Prefix digest of a journal up to and with the entry that follows `before`."""
    return blake3(
        b"relatum/1/journal-entry\0"
        + encode(
            {
                "workspace_id": workspace,
                "stream": stream,
                "journal_id": before.journal_id,
                "sequence": before.sequence + 1,
                "previous": before.prefix_digest.hex(),
                "nonce": nonce.hex(),
                "change": change,
            }
        )
    ).digest()


def secret_verifier(secret: str) -> bytes:
    """What is stored of a credential's secret. The secret has 256 random bits, so one hash is enough."""
    return blake3(b"relatum/1/credential-secret\0" + secret.encode()).digest()


def same(left: bytes, right: bytes) -> bool:
    """Comparison in constant time."""
    return hmac.compare_digest(left, right)


def topic_digest(words: str) -> str:
    """Tells words that are too long for a topic key from others that begin like them."""
    return blake3(b"relatum/1/topic\0" + words.encode()).hexdigest()


def draw(entropy: bytes, label: str, length: int) -> bytes:
    """`length` bytes drawn from `entropy` under a label: one way, so that a published draw tells nothing of another."""
    return blake3(b"relatum/1/draw\0" + entropy + label.encode()).digest(length)


def cursor_tag(store_key: bytes, binding: Struct | dict[str, object]) -> bytes:
    """Authenticates an opaque page cursor: 16 bytes, keyed by the store."""
    return blake3(b"relatum/1/page-cursor\0" + encode(binding), key=store_key).digest(16)
