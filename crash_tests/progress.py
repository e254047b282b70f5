"""The consumers' progress over HTTP: what each has saved, held against what was acknowledged.

look     before anything in doubt is sent again: each checkpoint is the one that was acknowledged last, or the one
         that the consumer's command in doubt would leave, and nothing beyond
check    after it was: what is saved is what was acknowledged, revision by revision, and every receipt is given again
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random

from crash_tests.consumers.consumer import Consumer
from crash_tests.history import Json
from crash_tests.violation import require, require_same
from crash_tests.witness import Witness

SAMPLE_MAX = 3
"""Of each consumer: revisions looked up besides those that are new, and receipts asked for by their key."""


class Progress:
    """The checkpoints of one store from restart to restart."""

    def __init__(self, consumers: Iterable[Consumer]) -> None:
        self._consumers = list(consumers)
        self._found: dict[Consumer, Json | None] = {}
        self._looked_up: dict[Consumer, int] = {}

    def look(self, witness: Witness) -> None:
        """Nothing acknowledged is lost, and nothing is saved that nobody asked for."""
        self._found = {one: witness.checkpoint(one.owner) for one in self._consumers}
        for consumer, found in self._found.items():
            if found == consumer.checkpoint:
                continue
            doubt = consumer.doubt
            where = f"the checkpoint of {consumer.name}"
            if doubt is None or consumer.refusal_of(doubt) is not None:
                require_same(where, consumer.checkpoint, found)
            else:
                expected = {"revision": len(consumer.saved) + 1, "cursor": doubt.operation["cursor"]}
                told = {name: (found or {}).get(name) for name in expected}
                require_same(f"{where}, with one command in doubt", expected, told)

    def check(self, witness: Witness, random: Random) -> int:
        """After everything in doubt was settled; how many receipts were compared."""
        return sum(self._check(witness, random, consumer) for consumer in self._consumers)

    def _check(self, witness: Witness, random: Random, consumer: Consumer) -> int:
        where, saved = f"the checkpoint of {consumer.name}", consumer.saved
        require_same(where, consumer.checkpoint, witness.checkpoint(consumer.owner))
        found = self._found.get(consumer)
        kept = found is None or any(found == command.told()["checkpoint"] for command in saved[-2:])
        require(kept, f"{where} was {found} after the restart, and is not among the last ones any more")
        require_same(
            f"{where} beyond its last revision", None, witness.checkpoint_receipt(consumer.owner, len(saved) + 1)
        )
        known = self._looked_up.get(consumer, 0)
        indexes = {*range(known, len(saved)), *random.sample(range(known), min(SAMPLE_MAX, known))}
        for index in sorted(indexes):
            command, told = saved[index], witness.checkpoint_receipt(consumer.owner, index + 1)
            require_same(f"the receipt of revision {index + 1} of {where}", command.receipt, told)
            require_same(f"the receipt of {command.name}, replayed", command.receipt, witness.send(command))
        for command in random.sample(saved, min(SAMPLE_MAX, len(saved))):
            require_same(f"the receipt of {command.name}, read", command.receipt, witness.receipt_of(command))
        self._looked_up[consumer] = len(saved)
        _compare_diagnosis(consumer, witness.diagnosis(consumer.owner, consumer.place))
        return len(indexes)


def _compare_diagnosis(consumer: Consumer, found: Json) -> None:
    """A consumer's whole standing, as one who knows the stream to its end must see it."""
    heard, checkpoint, place = consumer.heard, consumer.checkpoint, consumer.place
    active, saved = heard.baseline is not None, checkpoint["cursor"]["sequence"] if checkpoint else 0
    relative = "before" if saved < consumer.sequence else "equal" if saved == consumer.sequence else "after"
    expected = {
        "consumer_id": consumer.owner.consumer_id,
        "active": active,
        "baseline": heard.baseline,
        "high_watermark": heard.cursor_at(heard.last) if active else None,
        "checkpoint": checkpoint,
        "checkpoint_status": "compatible" if checkpoint else "missing",
        "pending_positions": heard.last - saved if checkpoint else None,
        "witness_status": "compatible" if place else "not_provided",
        "checkpoint_relative_to_witness": relative if checkpoint and place else None,
    }
    require_same(f"the diagnosis of {consumer.name}", expected, found)
