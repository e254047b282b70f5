"""The one writer: takes a group, decides it, commits it, publishes it, answers it.

    take -> decide each on an overlay -> write, sync, mark, publish -> answer every waiter

All of it happens in the writer's own thread; with an event loop, taking and deciding happen in turns with the loop's
own work. While a group waits for the disk the next one gathers. A failed or doubtful commit poisons the writer: nobody
of that group is told success or refusal, every later command is refused, published state stays readable, and a restart
decides the truth.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from threading import Thread
from time import perf_counter
from typing import Final

from relatum.clock import FloorClock
from relatum.entropy import Entropy
from relatum.errors import ClockAhead, Failure, JournalBroken, Refusal, WritesRefused
from relatum.ledger.writer.clock_guard import ClockGuard
from relatum.ledger.writer.command_queue import Intake
from relatum.ledger.writer.group import CommandFailed, Group
from relatum.ledger.writer.group_builder import Deciding
from relatum.ledger.writer.loop_executor import Turns
from relatum.ledger.writer.notifications import Announcer
from relatum.ledger.writer.row_counter import RowCounter
from relatum.ledger.writer.submission import Outcome, Submission, Ticket
from relatum.store import failpoints
from relatum.store.database import Database
from relatum.telemetry import Log, Metrics, WriteSpans, storage_cause

_UNTRACED: Final = nullcontext()


class Committer:
    """Owns every write of a database, in a thread of its own once it is started."""

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
        clock_guard: ClockGuard | None = None,
    ) -> None:
        """Groups are stamped by `clock` and judged by the one beneath it; the guard says whether that can be right."""
        self.poisoned = False
        self.broken: set[tuple[str, str]] = set()
        """Journals, by workspace id and stream, that a reader found broken: no command extends them until a restart."""
        self.announcer = Announcer()
        self.spans: WriteSpans | None = None
        """What traces groups, if anything does."""
        self._database = database
        self._clock = clock
        self._clock_guard = clock_guard
        self._clock_refused = False
        self._entropy = entropy
        self._metrics = metrics
        self._log = log
        self._group_commands_max = group_commands_max
        self.row_counter = RowCounter(database)
        self._intake = Intake(queue_commands_max)
        self._turns: Turns | None = None
        self._thread = Thread(target=self._run, name="relatum-committer", daemon=True)
        metrics.write_queue.set_function(lambda: len(self._intake))
        metrics.poisoned.set_function(lambda: self.poisoned)
        metrics.position.set(database.position.position)

    def start(self) -> None:
        """Starts the thread; from now on groups are taken as they arrive."""
        self._thread.start()

    @contextmanager
    def in_turns_with(self, loop: asyncio.AbstractEventLoop) -> Iterator[None]:
        """Within it, brief commands are decided in the thread of the loop, which enters and leaves it."""
        assert self._turns is None, "it shares one loop at a time"
        self._turns = turns = Turns(loop)
        try:
            yield
        finally:
            self._turns = None
            turns.end()

    def require_no_turns_here(self) -> None:
        """Raises RuntimeError in the thread of a loop that the writer shares: who blocks there waits for itself."""
        turns = self._turns
        if turns is not None and turns.here():
            raise RuntimeError("nothing may wait for the writer in the thread of the event loop that it shares")

    def distrust(self, broken: JournalBroken) -> None:
        """From any thread: a reader found this journal broken, so no command extends it."""
        self.broken.add((broken.workspace_id, broken.stream))

    def clock_is_plausible(self) -> bool:
        """From any thread: whether a command would not be refused now because the clock is too far ahead."""
        try:
            self._require_plausible(self._clock.not_before_floor(self._clock.beneath.millis()))
        except ClockAhead:
            return False
        return True

    def _require_plausible(self, at_millis: int) -> None:
        if self._clock_guard is not None:
            self._clock_guard.require_plausible(at_millis, self._database.position.committed_at_millis)

    def submit(self, submissions: Sequence[Submission], on_done: Callable[[Ticket], None]) -> None:
        """Queues commands that are decided in order. Raises WriteBusy (full) or WritesRefused (poisoned, closing)."""
        if self.poisoned:
            raise WritesRefused("writes are refused after a storage failure, until a restart")
        self._intake.put(Ticket(tuple(submissions), on_done, self.spans.queued() if self.spans else None))
        self._wake()

    def drain(self, timeout_seconds: float) -> bool:
        """Takes no more commands and waits until those taken are answered; whether that came about in time.

        Raises RuntimeError where it would wait for itself.
        """
        self.require_no_turns_here()
        self.row_counter.close()
        self._intake.close()
        self._wake()
        self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def run_once(self) -> bool:
        """One group, from taking it to answering it, in the caller's thread; waits for one to arrive.

        False, with nothing done, once no more can arrive. For the thread, and for whoever simulates it.
        """
        if self.poisoned or self._turns is None:
            self._intake.wait()
        if self._intake.drained():
            return False
        deciding = Deciding(self._take, self._begin)
        try:
            if self.poisoned:
                self._refuse(self._take())
            else:
                self._decide(deciding, self._turns)
                if deciding.tickets:
                    with self._traced(deciding.tickets):
                        self._commit(deciding)
                        self._mark()
        except ClockAhead as failure:  # nothing was decided: whatever was taken is told so
            if not self._clock_refused:
                self._log.failure("the clock is too far ahead; commands are refused until that is set right", failure)
            self._clock_refused = True
            self._refuse(deciding.tickets, failure)
        except Exception as error:  # noqa: BLE001 - whatever broke, the outcome on disk is unknown
            self._poison("a commit failed; writes are refused until a restart", error)
            self._refuse(deciding.tickets)
        return True

    def _run(self) -> None:
        while self.run_once():
            pass

    def _wake(self) -> None:
        turns = self._turns
        if turns is not None:
            turns.wake()

    def _take(self) -> list[Ticket]:
        return self._intake.take(self._group_commands_max)

    def _begin(self) -> Group:
        database = self._database
        now_millis = self._clock.beneath.millis()
        at_millis = self._clock.not_before_floor(now_millis)
        self._require_plausible(at_millis)
        self._clock_refused = False
        return Group(database.store, self._entropy, at_millis, self.broken, database.recounts, now_millis=now_millis)

    def _decide(self, deciding: Deciding, turns: Turns | None) -> None:
        """IMPORTANT: taking is a turn of the loop too: what has come to it at once is one group then."""
        if turns is None:
            deciding.all()
            return
        turns.carry_out(deciding.taking(), when=self._intake.ready)
        while deciding.other_one():
            turns.carry_out(deciding.brief_ones())

    def _commit(self, decided: Deciding) -> None:
        group, tickets = decided.group, decided.tickets
        failpoints.reach("group.decided")
        if group.accepted:
            self._clock.raise_floor(group.at_millis)  # before anybody can read what was committed then
            started = perf_counter()
            self._database.commit(group.staged.rows(), group.position_after(self._database.position))
            self._count(group, perf_counter() - started)
        for ticket in tickets:
            self._tell(ticket)
            self._tally(ticket.outcomes)
        failpoints.reach("group.answered")
        if group.moved:
            self.announcer.announce(frozenset(group.moved))
        self._metrics.replays.inc(group.replays)

    def _traced(self, tickets: list[Ticket]) -> AbstractContextManager[None]:
        return _UNTRACED if self.spans is None else self.spans.committing([ticket.queued for ticket in tickets])

    def _mark(self) -> None:
        """Where the watermark lags: what was answered is durable, so nobody but the next is told of a failure."""
        try:
            self._database.mark()
        except Exception as error:  # noqa: BLE001 - as above
            self._poison("the watermark can't be raised; writes are refused until a restart", error)

    def _poison(self, message: str, error: Exception) -> None:
        self.poisoned = True
        cause, _ = storage_cause(error)
        self._metrics.storage_failures(cause).inc()
        self._log.failure(message, error)

    def _refuse(self, tickets: list[Ticket], failure: WritesRefused | None = None) -> None:
        """Tells the waiters of a failure; by default of one whose outcome nobody knows."""
        told = failure or WritesRefused("writes are refused after a storage failure, until a restart")
        for ticket in tickets:
            ticket.outcomes = [told] * len(ticket.submissions)
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
        for family, action in group.brought:
            self._metrics.commands(family, action).inc()
        self._metrics.sync_seconds.observe(seconds)
        self._metrics.position.set(self._database.position.position)

    def _tally(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            match outcome:
                case Refusal():
                    self._metrics.refusals(outcome.code).inc()
                case CommandFailed():
                    self._log.failure("a command failed inside the ledger", outcome.__cause__ or outcome)
                case Failure():
                    self._log.failure("a command met a storage inconsistency", outcome)
                case _:
                    pass  # accepted commands are counted with their group, replays apart from them
