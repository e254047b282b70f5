"""The machine: one disk, a clock that may be wrong, and at most one ledger that runs on them.

What always holds: nothing of the ledger runs but what is called here, in one thread, so that a case decides when its
writer takes a group, what others do while it waits for the disk, and where it dies. `boot`, `close` and the turns of
the writer pause at failpoints, where others go on; so they are called as plain callbacks and never by a task.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any, TypeVar

from crash_tests.simulation.disk import Disk, Outage
from crash_tests.simulation.environment import AGES, Dice, JudgedInstants, WrongClock
from crash_tests.simulation.loop import SimulatedLoop
from crash_tests.simulation.plan import Plan
from crash_tests.simulation.requests import Requests, Unanswered
from crash_tests.simulation.store import FaultyStore
from crash_tests.simulation.trace import Trace
from crash_tests.simulation.watermark import FaultyMark
from crash_tests.simulation.writer import SteppedCommitter
from crash_tests.violation import Violation, require, require_same
from relatum.core.access import Credential
from relatum.errors import Refusal, StorageFailure, StorageInconsistency, StoreUnavailable, WritesRefused
from relatum.ledger import Ledger
from relatum.store import failpoints
from relatum.store.database import Database
from relatum.store.kv import View
from relatum.store.view import LedgerView
from relatum.telemetry import Log, Metrics

COMPANY = "acme"
ADMINISTRATOR = "root"

_DELIVERIES_MAX = 20
_PATIENCE_STEPS_MAX = 2_000
_WRITER_SECONDS = 0.002
_METRICS = Metrics()  # nobody reads them, and making them would take longer than a case

T = TypeVar("T")


class Machine:
    """Runs a ledger, lets it die, and starts it again. `generation` counts how often it has ended."""

    def __init__(
        self,
        loop: SimulatedLoop,
        random: Random,
        plan: Plan,
        disk: Disk,
        trace: Trace,
        fail: Callable[[Exception], None],
        judged: JudgedInstants,
    ) -> None:
        self._judged = judged
        self.disk = disk
        self.clock = WrongClock(loop)
        self.plan = plan
        self.ledger: Ledger | None = None
        self.admin: Credential | None = None
        self.generation = 0
        self.falls = 0
        self.leaving = False
        """Whether the ledger is about to close, so that views must be given back."""
        self._loop = loop
        self._random = random
        self._trace = trace
        self._fail = fail
        self._requests = Requests(loop, fail)
        self._lines = io.StringIO()
        self._log = Log(self._lines, self.clock.millis, "error")
        self._up = asyncio.Event()
        self._busy = False
        self._doomed = False
        self._expected = False
        self._mark: FaultyMark | None = None

    # For everybody

    async def ask(self, work: Callable[[Ledger], Coroutine[Any, Any, T]], patience: float | None = None) -> T:
        """What the ledger answers within so many seconds. Raises `Unanswered`; the work goes on then, if it can."""
        if self.ledger is None:
            raise Unanswered
        return await self._requests.wait_for(self._answered(work, self.ledger), patience)

    async def pause(self, seconds: float) -> None:
        """Lets at most so much time pass, and then waits until a ledger runs."""
        await asyncio.sleep(self._random.random() * seconds)
        await self._up.wait()

    def view(self) -> LedgerView | None:
        """A view of what was published last; None while nothing runs, or only to close."""
        if self.ledger is None:
            return None
        try:
            return self.ledger.view()
        except StorageFailure as error:
            require(self.leaving, f"a running ledger can't be read: {error}")
            return None

    def raw_view(self) -> View:
        """A view as the store gives it."""
        return self._store.view()

    @property
    def is_poisoned(self) -> bool:
        """Whether a running ledger refuses all writes."""
        return self.ledger is not None and self.ledger.readiness() == "poisoned"

    def fall(self) -> None:
        """The machine dies; in the midst of what it does, if it does something."""
        if self._busy:
            self._doomed = True
        elif self.ledger is not None:
            self._busy = True
            self._fall()
            self._busy = False

    # As plain callbacks

    def boot(self) -> None:
        """Starts the ledger, and its company where there is none; unless it dies on the way, or the disk fails."""
        if self.ledger is not None or self._busy:
            return
        self._busy = True
        self._doomed = self.leaving = False
        failpoints.arm(self._pause)
        try:
            self.ledger = self._booted()
            self._up.set()
        except (Outage, StorageFailure, WritesRefused) as error:
            self._trace.note(f"did not start: {type(error).__name__}")
            self._fall()
        except (StoreUnavailable, StorageInconsistency) as error:
            raise Violation(f"the ledger does not start any more: {error}") from error
        finally:
            self._busy = False

    def close(self) -> None:
        """Drains and closes the ledger, unless it dies on the way. Everybody has been answered then."""
        if self.ledger is None or self._busy:
            return
        self._busy = self.leaving = True
        self._trace.note("closes")
        try:
            self._close(self.ledger)
        except Outage:
            self._fall()
        else:
            self.ledger = None
            self.settle()
            self.disk.kill()
            self._end()
        finally:
            self._busy = False

    def settle(self) -> None:
        """Runs until everybody who asked has been answered; that must come to pass."""
        self._requests.settle()

    # Inside

    def _booted(self) -> Ledger:
        random, disk, plan = self._random, self.disk, self.plan
        self._store = FaultyStore(disk, plan, random)

        def open_mark(_blank: bool) -> FaultyMark:
            self._mark = FaultyMark(disk, plan, random)
            return self._mark

        self._database = Database.on(
            self._store,
            open_mark,
            create=self.admin is None,
            entropy=Dice(random),
            watermark_lag=plan.watermark_lag,
        )
        self._trace.note(f"starts at {self._database.position.position}")
        ledger = Ledger(
            self._database,
            clock=self.clock,
            entropy=Dice(random),
            metrics=_METRICS,
            log=self._log,
            queue_commands_max=plan.queue_max,
            group_commands_max=plan.group_max,
            ages=AGES,
            committer=self._employ,
        )
        if self.admin is None:
            self.admin = self._bootstrapped(ledger)
        return ledger

    def _employ(self, *given: Any, **options: Any) -> SteppedCommitter:
        self._committer = SteppedCommitter(self._expect_writer, self._judged, *given, **options)
        self._expected = False
        return self._committer

    def _bootstrapped(self, ledger: Ledger) -> Credential:
        """The administrator. Where the company was made and nobody was told, another one."""
        with self._committer.at_once():
            made = ledger.bootstrap(COMPANY, ADMINISTRATOR)
            if isinstance(made, Refusal):
                made = ledger.bootstrap(COMPANY, ADMINISTRATOR, recover=True)
        if isinstance(made, Refusal):
            raise Violation(f"the company can't be administered: {made}")
        return made.credential

    def _expect_writer(self) -> None:
        if not self._expected:
            self._expected = True
            self._loop.call_later(self._random.random() * _WRITER_SECONDS, self._write, self.generation)

    def _write(self, generation: int) -> None:
        """A turn of the writer."""
        if generation != self.generation:
            return
        self._expected = False
        if self._busy:
            self._expect_writer()
            return
        if not self._committer.waiting:
            return
        self._busy = True
        try:
            before = self._database.position
            self._committer.run_once()
            self._check_commit(before.position)
        except Outage:
            self._fall()
            return
        finally:
            self._busy = False
        if self._committer.waiting:
            self._expect_writer()

    def _require_marked(self) -> None:
        """All that was published is below the watermark."""
        assert self._mark is not None
        told = self._database.position
        require_same("the watermark of what was answered", (told.position, told.digest), self._mark.read())

    def _check_commit(self, before: int) -> None:
        """Only a disk that failed poisons the writer; and the watermark does not lag for longer than until now."""
        assert self._mark is not None
        if self._committer.poisoned:
            sound = not (self._store.failed or self._mark.failed)
            require(not sound, f"the writer is poisoned, and the disk was sound: {self._lines.getvalue()}")
        elif self._database.position.position > before:
            self._require_marked()

    def _pause(self, place: failpoints.Name) -> None:
        """At a failpoint: others go on for a while, and then the machine may die. A mark lags by no second group."""
        self._trace.note(place)
        random = self._random
        try:
            if place == "commit.written":
                self._require_marked()
            for _ in range(int(random.random() * (self.plan.bystanders + 1))):
                self._loop.step()
        except Exception as error:
            self._fail(error)  # the ledger would take it for a failure of its own
            raise Outage from error
        if self._doomed or (self.falls < self.plan.downfalls and random.random() < self.plan.fall_rate):
            raise Outage

    def _close(self, ledger: Ledger) -> None:
        for _ in range(_PATIENCE_STEPS_MAX):
            try:
                ledger.close(0)
            except StorageFailure:  # a view is open
                self._loop.step()
            else:
                return
        raise Violation("the ledger does not close")

    def _fall(self) -> None:
        """The machine dies; what its disk keeps depends on whether only the process did."""
        self.ledger = None
        self.falls += 1
        is_cut = self._random.random() < self.plan.cut_share
        self._trace.note("the power is cut" if is_cut else "the process is killed")
        for _ in range(int(self._random.random() * _DELIVERIES_MAX)):
            self._loop.step_now()  # answers that are on their way
        if is_cut:
            self.disk.cut_power(self._random)
        else:
            self.disk.kill()
        self._end()

    def _end(self) -> None:
        """Nothing of the ledger runs any more."""
        self.generation += 1
        self._up.clear()
        if self._mark is not None:
            self._mark.close()
        self._requests.drop()

    async def _answered(self, work: Callable[[Ledger], Coroutine[Any, Any, T]], ledger: Ledger) -> T:
        try:
            return await work(ledger)
        except StorageFailure as error:
            require(self.leaving, f"a running ledger can't be read: {error}")
            raise Unanswered from error
