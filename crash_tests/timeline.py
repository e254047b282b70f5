"""The accepted commands of each partition in the order of their commit sequences, and the models that follow from it.

What always holds: the accepted commands of a partition are numbered without a gap, and their times do not run
backwards. Those that no receipt numbers, the quiet ones, take as many numbers as there are of them, at their time; any
other number that is missing was lost, or is stored and nobody was told, and either is a violation.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence

from crash_tests.history import Command, Desk, Json
from crash_tests.model import Model
from crash_tests.violation import require, require_same
from relatum.core.ids import Partition


class Timeline:
    """What must be there, by partition."""

    def __init__(self) -> None:
        self._models: dict[Partition, Model] = {}
        self._waiting: dict[Partition, dict[int, Command]] = {}
        self._entered: dict[int, Command] = {}
        """By where each lies in memory, which is no other's as long as it is kept here."""
        self._skipped: dict[Partition, int] = {}
        """How many numbers quiet commands have taken so far."""
        self._latest: dict[Partition, int] = {}
        """When the last command was committed."""

    def model(self, partition: Partition) -> Model:
        """The state of a partition."""
        return self._models.setdefault(partition, Model())

    def follow(
        self, accepted: Iterable[Command], quiet: Mapping[Partition, Sequence[int]]
    ) -> list[tuple[Command, str]]:
        """Takes the accepted commands that it has not taken yet; each with the id of what it made or changed.

        `quiet` are the commit times of all quiet commands.
        """
        for command in accepted:
            if id(command) not in self._entered:
                self._entered[id(command)] = command
                self._enter(command)
        touched: list[tuple[Command, str]] = []
        for partition, waiting in self._waiting.items():
            times = sorted(quiet.get(partition, ()))
            for sequence in sorted(waiting):
                command = waiting.pop(sequence)
                self._skip(partition, sequence, command, times)
                touched.append((command, self.model(partition).apply(command)))
        return touched

    def _skip(self, partition: Partition, sequence: int, command: Command, times: list[int]) -> None:
        """Numbers are missing before a command exactly as far as quiet commands of its time account for them."""
        last, at_millis = self.model(partition).sequence, command.told()["committed_at_millis"]
        latest = self._latest.get(partition, 0)
        require(at_millis >= latest, f"{command.name} was committed at {at_millis}, the one before at {latest}")
        self._latest[partition] = at_millis
        skipped = self._skipped.get(partition, 0) + sequence - last - 1
        self._skipped[partition] = skipped
        least, most = bisect_left(times, at_millis), bisect_right(times, at_millis)
        require(skipped <= most, f"commit sequence {last + 1} is missing; the next one is {sequence}")
        require(skipped >= least, f"{least} quiet commands came before {command.name} and took {skipped} numbers")

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
