"""Bugs of what is looked up: replays, keys, and the watermark at the door."""

from __future__ import annotations

from crash_tests.bugs.bug import Bug, Patch
from relatum.core.receipts import Family, Receipt
from relatum.errors import Refusal
from relatum.store import database, replay, rows
from relatum.store.partition import PartitionReader
from relatum.store.watermark import WatermarkFile


def verify_nothing(partition: PartitionReader, receipt: Receipt) -> None:
    """A receipt is replayed whatever has become of the rows it speaks of."""


def look_up_by_key_alone(
    partition: PartitionReader, family: Family, subject_id: str, idempotency_key: str, command_digest: str
) -> Receipt | Refusal | None:
    """Another command under a used key is answered with the receipt of the first."""
    return replay.stored_receipt(partition, family, subject_id, idempotency_key)


def look_up_nothing(
    partition: PartitionReader, family: Family, subject_id: str, idempotency_key: str, command_digest: str
) -> Receipt | Refusal | None:
    """A repeated command is taken for a new one."""
    return None


def require_nothing(position: rows.Position, watermark: WatermarkFile) -> None:
    """A store behind its watermark is opened without a word."""


BUGS = (
    Bug(
        name="replay-without-history-check",
        help="a receipt is replayed without a look at the rows it speaks of",
        patches=(Patch(replay, "_verify_history", verify_nothing),),
    ),
    Bug(
        name="replay-by-key-alone",
        help="another command under a used key is answered with the first one's receipt",
        patches=(Patch(replay, "look_up", look_up_by_key_alone),),
    ),
    Bug(
        name="replay-forgotten",
        help="a repeated command is carried out again",
        patches=(Patch(replay, "look_up", look_up_nothing),),
    ),
    Bug(
        name="watermark-not-checked",
        help="a store that has lost acknowledged data is served",
        patches=(Patch(database, "_require_nothing_lost", require_nothing),),
    ),
)
