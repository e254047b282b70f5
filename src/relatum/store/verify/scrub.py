"""The online scrub: a store that is being served, verified again and again in the background.

What lives here: `Scrub`, a thread that takes the steps of `store_check.py` on views of what is published, and rests
between them. What must not: a way to stop the server. A finding is logged and counted; an operator decides.

What always holds: no view outlasts a step, however slow the pace is, because an old view keeps superseded files on the
disk; nine tenths of the time, at least, the thread rests; it ends soon after it is told to, and holds no view then. A
pass that fails is counted, logged and begun again long before the next one would be due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from math import ldexp
from threading import Event, Thread
from time import monotonic
from typing import Final, NamedTuple

from relatum.clock import Clock
from relatum.errors import StorageFailure
from relatum.store.kv import Reader
from relatum.store.verify.findings import Findings
from relatum.store.verify.report import Finding
from relatum.store.verify.serial import SerialPartitions
from relatum.store.verify.store_check import StoreCheck
from relatum.store.verify.throttle import Stopped, Unhurried
from relatum.store.verify.totals import Totals
from relatum.store.view import LedgerView
from relatum.telemetry import Log, Metrics

LOGGED_MAX: Final = 20
"""Findings of one pass that are logged; all are counted."""

STOP_SECONDS_MAX: Final = 10.0
_DOUBLED_MAX: Final = 32


class Pace(NamedTuple):
    """How fast a store is gone through: in `pass_seconds`, or longer where resting leaves no time for more."""

    pass_seconds: float
    step_rows: int = 500
    """Rows of a step: about ten milliseconds, for which the event loop shares the interpreter with the scrub."""
    rest_factor: float = 9.0
    """How many times as long as a step took is rested after it, at least."""
    retry_seconds: float = 60.0
    """What is waited after a failure, and twice as long after each further one on end."""
    retry_seconds_max: float = 3_600.0

    def retry_after(self, failures: int) -> float:
        """Seconds until the next try, after so many failures on end."""
        return min(ldexp(self.retry_seconds, min(failures - 1, _DOUBLED_MAX)), self.retry_seconds_max)


@contextmanager
def scrubbing(
    view: Callable[[], LedgerView],
    metrics: Metrics,
    log: Log,
    clock: Clock,
    hours: int,
    *,
    patience: Callable[[], float] = lambda: STOP_SECONDS_MAX,
) -> Iterator[None]:
    """Scrubs while the block runs, a pass in so many hours; not at all if there are none.

    At the end a step that is under way is waited for, no longer than `patience` then tells, in seconds.
    """
    if hours == 0:
        yield
        return
    scrub = Scrub(view, metrics, log, clock, Pace(hours * 3600.0))
    scrub.start()
    try:
        yield
    finally:
        scrub.stop(min(patience(), STOP_SECONDS_MAX))


class Scrub:
    """One thread over one store."""

    def __init__(self, view: Callable[[], LedgerView], metrics: Metrics, log: Log, clock: Clock, pace: Pace) -> None:
        self._view = view
        self._metrics = metrics
        self._log = log
        self._clock = clock
        self._pace = pace
        self._logged = 0
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="relatum-scrub", daemon=True)

    def start(self) -> None:
        """Begins the first pass."""
        self._thread.start()

    def stop(self, timeout_seconds: float = STOP_SECONDS_MAX) -> None:
        """Leaves the pass where it is. Returns once no view is held, or the time is over."""
        self._stopping.set()
        self._thread.join(timeout_seconds)

    def _run(self) -> None:
        failures = 0
        while not self._stopping.is_set():
            begun = monotonic()
            try:
                self._pass(begun)
            except Stopped:
                return
            except Exception as error:  # noqa: BLE001 - whatever is wrong with the scrub, the server goes on
                failures += 1
                self._failed(error)
                self._stopping.wait(self._pace.retry_after(failures))
            else:
                failures = 0
                self._stopping.wait(begun + self._pace.pass_seconds - monotonic())

    def _failed(self, error: Exception) -> None:
        if self._stopping.is_set():
            return  # the ledger was closed, perhaps
        self._metrics.scrub_failures.inc()
        if isinstance(error, StorageFailure):
            self._log.failure("the scrub could not read the store and begins again soon", error)
        else:
            self._log.failure("the scrub failed and begins again soon", error)

    def _pass(self, begun: float) -> None:
        """Every step once. Raises Stopped."""
        self._logged = 0
        self._metrics.scrub_progress.set(0.0)
        findings, totals, step_rows = Findings(self._tell), Totals(), self._pace.step_rows
        partitions = SerialPartitions(self._taken, findings, totals, step_rows=step_rows)
        check = StoreCheck(self._taken, findings, totals, partitions, step_rows=step_rows)
        rows, started = 0, monotonic()
        for _ in check.steps():
            self._metrics.scrub_rows.inc(check.rows - rows)
            self._metrics.scrub_progress.set(check.fraction)
            rows = check.rows
            self._rest(started, begun + check.fraction * self._pace.pass_seconds)
            started = monotonic()
        self._metrics.scrub_progress.set(1.0)
        self._metrics.scrub_passes.inc()
        self._metrics.scrub_ended.set(self._clock.millis() / 1000)
        seconds = round(monotonic() - begun, 3)
        self._log.info("the scrub has gone through the store", rows=check.rows, findings=self._logged, seconds=seconds)

    def _rest(self, started: float, due: float) -> None:
        """Rests from a step, and until the pass is due to go on."""
        now = monotonic()
        moment = max(now + self._pace.rest_factor * (now - started), due)
        if self._stopping.wait(max(0.0, moment - now)):
            raise Stopped

    @contextmanager
    def _taken(self) -> Iterator[Reader]:
        with self._view() as view:
            yield Unhurried(view.reader, self._stopping)

    def _tell(self, finding: Finding) -> None:
        self._metrics.scrub_findings.inc()
        self._logged += 1
        if self._logged <= LOGGED_MAX:
            self._log.error(
                "the scrub found stored rows that contradict each other",
                family=finding.family,
                workspace_id=finding.workspace_id,
                finding=finding.message,
            )
        elif self._logged == LOGGED_MAX + 1:
            self._log.error("the scrub has more findings in this pass, which are counted and not logged")
