"""One run of a load: lines read, planned, sent or checked, and reported, in their order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from relatum.cli.client.load.interruption import Interruption
from relatum.cli.client.load.lines import Line
from relatum.cli.client.load.plan import Plan, Planned, Rejected
from relatum.cli.client.load.report import Report
from relatum.cli.client.load.sending import Batch, Sender, Settled
from relatum.limits import COMMAND_BATCH_MAX


class Destination(Protocol):
    """What takes the batches of a run."""

    def send(self, batch: Batch) -> Iterator[Settled]:
        """What became of each line of a batch, in order."""
        ...


class Bounds(NamedTuple):
    """From which line on lines are sent, and how many refusals end the run. None: any number."""

    from_line: int = 1
    refused_max: int | None = None

    @property
    def commands_max(self) -> int:
        """How many commands go into one request: alone each, where the first refusal must be the last line sent."""
        return 1 if self.refused_max == 1 else COMMAND_BATCH_MAX


class Run:
    """Takes lines to their end. `sender` looks up what lines before the first one are known as."""

    def __init__(
        self, plan: Plan, destination: Destination, sender: Sender | None, report: Report, bounds: Bounds
    ) -> None:
        self._plan = plan
        self._destination = destination
        self._sender = sender
        self._report = report
        self._bounds = bounds
        self._batch = Batch(bounds.commands_max)
        self._read_bytes = 0

    def take(self, source: Iterator[Line], interruption: Interruption) -> None:
        """Takes all lines, until an interruption or the last refusal that is borne."""
        while not self._is_over and not interruption.asked:
            try:
                with interruption.waiting():
                    line = next(source, None)
            except KeyboardInterrupt:
                return
            if line is None:
                break
            self._read_bytes = line.read_bytes
            self._take(line)
        if not self._is_over and not interruption.asked:
            self._flush()

    @property
    def _is_over(self) -> bool:
        most = self._bounds.refused_max
        return most is not None and self._report.refused >= most

    def _take(self, line: Line) -> None:
        reading = self._plan.read(line)
        if isinstance(reading, Rejected):
            self._add(reading)
            return
        if not reading.needs.isdisjoint(self._batch.pending):
            self._flush()
            if self._is_over:
                return
        planned = self._plan.settled(reading)
        if line.number < self._bounds.from_line:
            self._skip(planned)
            return
        if isinstance(planned, Planned) and not self._batch.takes(planned):
            self._flush()
            if self._is_over:
                return
        self._add(planned)

    def _skip(self, planned: Planned | Rejected) -> None:
        if self._sender is not None and isinstance(planned, Planned) and planned.name is not None:
            self._sender.look_up(planned)

    def _add(self, line: Planned | Rejected) -> None:
        if line.number < self._bounds.from_line:
            return
        self._batch.add(line)
        if self._batch.is_full or (isinstance(line, Rejected) and self._bounds.refused_max is not None):
            self._flush()

    def _flush(self) -> None:
        batch, self._batch = self._batch, Batch(self._bounds.commands_max)
        for settled in self._destination.send(batch):
            if isinstance(settled, Rejected):
                self._report.rejected(settled)
            else:
                self._report.taken(*settled)
        self._report.flush()
        self._report.progress(self._read_bytes)
