"""What clients were told: the facts that a store is held against.

A claim says of one key that its command was acknowledged with a receipt, or that its outcome is unknown. A key without
a claim was never accepted as far as any client knows, so nothing may be stored under it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from relatum.core.cursors import CheckpointReceipt
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Partition
from relatum.core.links import LinkReceipt
from relatum.core.receipts import JudgmentReceipt, RecordReceipt, RelationReceipt
from relatum.core.relation_events import judgment_family

AnyReceipt = RecordReceipt | RelationReceipt | CheckpointReceipt | JudgmentReceipt | LinkReceipt
Key = tuple[Partition, str, str, str]
"""Partition, family, subject, idempotency key: what a receipt is found by.

The family is the name under which keys are looked up; each item of a batch of judgments has one of its own.
"""


class Claim(Struct, frozen=True, kw_only=True):
    """One key. `receipt` is JSON as it came over the wire; None while the outcome is unknown.

    What was told of a refused item of a batch of judgments, which is stored like any other, is null in JSON.
    """

    partition: Partition
    family: str
    subject_id: str
    idempotency_key: str
    receipt: str | None = None
    told: bool = False
    """Whether it was acknowledged, be it in other words than a receipt."""

    @property
    def settled(self) -> bool:
        """Whether it must be stored."""
        return self.told or self.receipt is not None

    @property
    def key(self) -> Key:
        """What the claim is about."""
        return self.partition, self.family, self.subject_id, self.idempotency_key

    def acknowledged(self) -> AnyReceipt | None:
        """The receipt, decoded strictly; None where there is none, or the outcome is unknown."""
        if self.receipt is None or self.receipt == NO_RECEIPT:
            return None
        return msgspec.json.decode(self.receipt, type=_receipt_type(self))


Claims = dict[Key, Claim]
NO_RECEIPT = "null"

_RECEIPTS: dict[str, type[AnyReceipt]] = {
    "record": RecordReceipt,
    "relation": RelationReceipt,
    "checkpoint": CheckpointReceipt,
    "link": LinkReceipt,
}


def _receipt_type(claim: Claim) -> type[AnyReceipt]:
    """A judgment is answered with the receipt of the relation that it asserts, if it does."""
    judged = RelationReceipt if '"relation_id"' in (claim.receipt or "") else JudgmentReceipt
    return _RECEIPTS.get(claim.family, judged)


def keys_of(family: str, operation: Any, receipt: str | None) -> Iterator[tuple[str, str | None]]:
    """The families under which a command's key is looked up, and what was told there.

    A judgment command is told by its events, in JSON, each of which has a receipt or was refused.
    """
    if family != "judgment":
        yield family, receipt
        return
    items = items_of(operation)
    events = [None] * len(items) if receipt is None else msgspec.json.decode(receipt, type=list[JudgmentEvent])
    for item, event in zip(items, events, strict=True):
        told = None if event is None else msgspec.json.encode(event.receipt or event.judgment_receipt).decode()
        yield judgment_family(item), told


def items_of(operation: Any) -> list[int | None]:
    """The items of a judgment command, each of which has a key of its own; None where it is no batch."""
    return list(range(len(operation["judgments"]))) if operation["type"] == "batch" else [None]


def write_claims(path: Path, claims: Iterable[Claim]) -> None:
    """One claim a line."""
    path.write_bytes(msgspec.json.Encoder().encode_lines(claims))


def read_claims(path: Path) -> list[Claim]:
    """The claims of a file."""
    return msgspec.json.Decoder(Claim).decode_lines(path.read_bytes())
