"""The accepted commands of each partition in the order of their commit sequences, and the models that follow from it.

What always holds: between two judgements the commands of a partition are numbered without a gap: one that is missing
was lost, or is stored and nobody was told, and either is a violation.
"""

from __future__ import annotations

from collections.abc import Iterable

from crash_tests.history import Command, Desk, Json
from crash_tests.model import Model
from crash_tests.violation import require, require_same
from relatum.core.ids import Partition


class Timeline:
    """What must be there, by partition."""

    def __init__(self) -> None:
        self._models: dict[Partition, Model] = {}
        self._waiting: dict[Partition, dict[int, Command]] = {}
        self._entered: set[int] = set()

    def model(self, partition: Partition) -> Model:
        """The state of a partition."""
        return self._models.setdefault(partition, Model())

    def follow(self, accepted: Iterable[Command]) -> list[tuple[Command, str]]:
        """Takes the accepted commands that it has not taken yet; each with the id of what it made or changed."""
        for command in accepted:
            if id(command) not in self._entered:
                self._entered.add(id(command))
                self._enter(command)
        touched: list[tuple[Command, str]] = []
        for partition, waiting in self._waiting.items():
            model = self.model(partition)
            while model.sequence + 1 in waiting:
                command = waiting.pop(model.sequence + 1)
                touched.append((command, model.apply(command)))
            missing = f"commit sequence {model.sequence + 1} is missing; the next one is {min(waiting, default=0)}"
            require(not waiting, missing)
        return touched

    def check_observed(self, observed: Iterable[tuple[Desk, Json]]) -> None:
        """What a read has shown was not taken back."""
        for desk, record in observed:
            record_id, revision = record["record_id"], record["revision"]
            known = self.model(desk.partition).records.get(record_id, [])
            require(len(known) >= revision, f"a read showed revision {revision} of record {record_id}, which is gone")
            require_same(f"revision {revision} of record {record_id}, shown by a read", record, known[revision - 1])

    def _enter(self, command: Command) -> None:
        waiting = self._waiting.setdefault(command.desk.partition, {})
        sequence = command.told()["commit_sequence"]
        other = waiting.setdefault(sequence, command)
        require(other is command, f"{command.name} and {other.name} share commit sequence {sequence}")
