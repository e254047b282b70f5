"""The change streams over HTTP: what was accepted since the last look, once each, in order, and nothing else.

What always holds: a look begins at the cursor where the last one ended. So a cursor that a client was given before a
kill must still lie on the journal afterwards, with the same prefix of history.
"""

from __future__ import annotations

from collections.abc import Iterable

from crash_tests.history import Command, Desk, Family, Json
from crash_tests.timeline import Timeline
from crash_tests.violation import require, require_same
from crash_tests.witness import Witness
from relatum.core.ids import Partition

FAMILIES: tuple[Family, ...] = ("record", "relation")


class Feeds:
    """Both streams of every partition."""

    def __init__(self, timeline: Timeline) -> None:
        self._timeline = timeline
        self._cursors: dict[tuple[Partition, Family], Json | None] = {}

    def check(self, witness: Witness, desks: Iterable[Desk], touched: list[Command]) -> int:
        """`touched` are the commands accepted since the last look, in order; how many changes were compared."""
        for desk in {desk.partition: desk for desk in desks}.values():
            for family in FAMILIES:
                own = [one for one in touched if one.family == family and one.desk.partition == desk.partition]
                self._check(witness, desk, family, own)
        return len(touched)

    def _check(self, witness: Witness, desk: Desk, family: Family, commands: list[Command]) -> None:
        where = f"the change stream of {family}s"
        after = self._cursors.get((desk.partition, family))
        deliveries = witness.changes(desk, family, after)
        require_same(f"{where}: how many changes", len(commands), len(deliveries))
        for command, delivery in zip(commands, deliveries, strict=True):
            require_same(f"{where}: what it tells of {command.name}", self._told(command), delivery["change"])
            sequence, before = delivery["cursor"]["sequence"], after["sequence"] if after else 0
            require(sequence == before + 1, f"{where}: sequence {sequence} follows {before}")
            after = delivery["cursor"]
        self._cursors[desk.partition, family] = after

    def _told(self, command: Command) -> Json:
        """The change that an accepted command makes."""
        receipt, family = command.told(), command.family
        object_id = receipt[f"{family}_id"]
        told: Json = {
            "schema_version": 1,
            "kind": receipt["action"],
            f"{family}_id": object_id,
            f"{family}_revision": receipt["revision"],
            "author": receipt["author"],
            "committed_at_millis": receipt["committed_at_millis"],
            f"{family}_digest": receipt[f"{family}_digest"],
            "receipt_digest": receipt["receipt_digest"],
        }
        if family == "relation":
            given = self._timeline.model(command.desk.partition).relations[object_id][0]["input"]
            told |= {"source": given["source"], "target": given["target"], "relation_kind": given["kind"]}
        return told
