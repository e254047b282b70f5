"""What clients were told: the facts that a store is held against.

A claim says of one key that its command was acknowledged with a receipt, or that its outcome is unknown. A key without
a claim was never accepted as far as any client knows, so nothing may be stored under it.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec
from msgspec import Struct

from relatum.core.cursors import CheckpointReceipt
from relatum.core.ids import Partition
from relatum.core.links import LinkReceipt
from relatum.core.receipts import JudgmentReceipt, RecordReceipt, RelationReceipt

AnyReceipt = RecordReceipt | RelationReceipt | CheckpointReceipt | JudgmentReceipt | LinkReceipt
Key = tuple[Partition, str, str, str]
"""Partition, family, subject, idempotency key: what a receipt is found by.

The family is the name under which keys are looked up; each item of a batch of judgments has one of its own.
"""


class Claim(Struct, frozen=True, kw_only=True):
    """One key. `receipt` is JSON as it came over the wire; None while the outcome is unknown."""

    partition: Partition
    family: str
    subject_id: str
    idempotency_key: str
    receipt: str | None = None

    @property
    def key(self) -> Key:
        """What the claim is about."""
        return self.partition, self.family, self.subject_id, self.idempotency_key

    def acknowledged(self) -> AnyReceipt | None:
        """The receipt, decoded strictly; None while the outcome is unknown."""
        return None if self.receipt is None else _DECODERS[self.family].decode(self.receipt)


Claims = dict[Key, Claim]

_DECODERS: dict[str, msgspec.json.Decoder[AnyReceipt]] = {
    "record": msgspec.json.Decoder(RecordReceipt),
    "relation": msgspec.json.Decoder(RelationReceipt),
    "checkpoint": msgspec.json.Decoder(CheckpointReceipt),
}


def write_claims(path: Path, claims: Iterable[Claim]) -> None:
    """One claim a line."""
    path.write_bytes(msgspec.json.Encoder().encode_lines(claims))


def read_claims(path: Path) -> list[Claim]:
    """The claims of a file."""
    return msgspec.json.Decoder(Claim).decode_lines(path.read_bytes())
