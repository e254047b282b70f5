"""The one writer: takes a group, decides it, commits it, publishes it, answers it.

    take -> decide each on an overlay -> write, sync, publish -> answer every waiter

While a group waits for the disk the next one gathers. A failed or doubtful commit poisons the writer: nobody of that group is
told success or refusal, every later command is refused, published state stays readable, and a restart decides the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Thread
from time import perf_counter

from relatum.clock import FloorClock
from relatum.core.access import Credential
from relatum.core.changes import JournalHead
from relatum.core.cursors import CheckpointReceipt
from relatum.core.receipts import RecordReceipt, RelationReceipt
from relatum.entropy import Entropy
from relatum.errors import Refusal, WritesRefused
from relatum.store.database import Database
from relatum.telemetry import Log, Metrics
from relatum.writer.announcer import Announcer
from relatum.writer.group import CommandFailed, Group
from relatum.writer.intake import Intake
from relatum.writer.submission import Outcome, Submission, Ticket


class Committer:
    """Owns every write of a database, in a thread of its own."""

    def __init__(
        self,
        database: Database,
        clock: FloorClock,
        entropy: Entropy,
        metrics: Metrics,
        log: Log,
        *,
        queue_commands_max: int,
        group_commands_max: int,
    ) -> None:
        self.poisoned = False
        self.announcer = Announcer()
        self._database = database
        self._clock = clock
        self._entropy = entropy
        self._metrics = metrics
        self._log = log
        self._group_commands_max = group_commands_max
        self._intake = Intake(queue_commands_max)
        self._thread = Thread(target=self._run, name="relatum-committer", daemon=True)
        metrics.write_queue.set_function(lambda: len(self._intake))
        metrics.poisoned.set_function(lambda: self.poisoned)
        metrics.position.set(database.position.position)
        self._thread.start()

    def submit(self, submissions: Sequence[Submission], on_done: Callable[[Ticket], None]) -> None:
        """Queues commands that are decided in order. Raises WriteBusy (full) or WritesRefused (poisoned, closing)."""
        if self.poisoned:
            raise WritesRefused("writes are refused after a storage failure, until a restart")
        self._intake.put(Ticket(tuple(submissions), on_done))

    def drain(self, timeout_seconds: float) -> bool:
        """Takes no more commands and waits until those taken are answered; whether that came about in time."""
        self._intake.close()
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while tickets := self._intake.take(self._group_commands_max):
            if self.poisoned:
                self._refuse(tickets)
                continue
            try:
                self._commit(tickets)
            except Exception as error:  # noqa: BLE001 - whatever broke, the outcome on disk is unknown
                self.poisoned = True
                self._log.failure("a commit failed; writes are refused until a restart", error)
                self._refuse(tickets)

    def _commit(self, tickets: list[Ticket]) -> None:
        group = Group(self._database.store, self._entropy, self._clock.millis())
        for ticket in tickets:
            ticket.outcomes = [group.decide(submission) for submission in ticket.submissions]
        if group.accepted:
            started = perf_counter()
            self._database.commit(group.staged.rows(), group.position_after(self._database.position))
            self._clock.raise_floor(group.at_millis)
            self._count(group, perf_counter() - started)
        for ticket in tickets:
            self._tell(ticket)
            self._tally(ticket.outcomes)
        if group.moved:
            self.announcer.announce(frozenset(group.moved))
        self._metrics.replays.inc(group.replays)

    def _refuse(self, tickets: list[Ticket]) -> None:
        unknown = WritesRefused("writes are refused after a storage failure, until a restart")
        for ticket in tickets:
            ticket.outcomes = [unknown] * len(ticket.submissions)
            self._tell(ticket)

    def _tell(self, ticket: Ticket) -> None:
        try:
            ticket.on_done(ticket)
        except Exception as error:  # noqa: BLE001 - one waiter that has gone must not cost the others their answers
            self._log.failure("a waiter could not be told its outcome", error)

    def _count(self, group: Group, seconds: float) -> None:
        self._metrics.groups.inc()
        self._metrics.syncs.inc()
        self._metrics.group_commands.observe(group.accepted)
        self._metrics.sync_seconds.observe(seconds)
        self._metrics.position.set(self._database.position.position)

    def _tally(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            match outcome:
                case RecordReceipt():
                    self._metrics.commands("record", outcome.action).inc()
                case RelationReceipt():
                    self._metrics.commands("relation", outcome.action).inc()
                case Credential():
                    self._metrics.commands("credential", outcome.history[-1].action).inc()
                case Refusal():
                    self._metrics.refusals(outcome.code).inc()
                case CheckpointReceipt():
                    self._metrics.commands("checkpoint", "saved").inc()
                case JournalHead():
                    pass  # mostly the stream was active already
                case CommandFailed():
                    self._log.failure("a command failed inside the ledger", outcome.__cause__ or outcome)
                case _:
                    self._log.failure("a command met a storage inconsistency", outcome)
