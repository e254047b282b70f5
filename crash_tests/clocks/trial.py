"""One case, carried out: servers one after the other on one store, each under its wrong clock."""

from __future__ import annotations

import shutil
from pathlib import Path
from signal import SIGKILL

from msgspec import Struct, field

from crash_tests.clocks.case import Case, Life
from crash_tests.clocks.instants import Instants
from crash_tests.clocks.wrong_clock import WrongClock
from crash_tests.oracle import Verdict
from crash_tests.random_draws import seeded
from crash_tests.server import Server
from crash_tests.store_case import Site
from crash_tests.template import Template
from crash_tests.violation import require
from crash_tests.workload import Workload

WORK_SECONDS_MAX = 60.0
CLIENTS = 3
CONSUMERS = 4
_OPTIONS = ("--clock-ahead-max-seconds", "0")
"""Any clock is believed; `tests/ledger/test_clock_guard.py` tries the guard."""


class Outcome(Struct, kw_only=True):
    """What a case came to; `rows` were inspected."""

    starts: int = 0
    jumps: int = 0
    acknowledged: int = 0
    rows: int = 0
    verdict: Verdict = field(default_factory=Verdict)

    def add(self, other: Outcome) -> None:
        """Counts another one in."""
        self.starts += other.starts
        self.jumps += other.jumps
        self.acknowledged += other.acknowledged
        self.rows += other.rows
        self.verdict.add(other.verdict)

    def __str__(self) -> str:
        """One line."""
        verdict = self.verdict
        return (
            f"{self.starts} starts and {self.jumps} jumps of the clock: {self.acknowledged} commands acknowledged, "
            f"{verdict.present + verdict.absent} unacknowledged, {verdict.replayed} replays, {verdict.objects} "
            f"objects, {verdict.graphs} graphs and {self.rows} rows compared"
        )


class Trial:
    """A case with its number and its seed, under `directory`; `launch` prepares every program.

    With `set_back` the store is that of before the first life when the second one begins: as on a disk that lied.
    """

    def __init__(
        self,
        case: Case,
        seed: int,
        number: int,
        directory: Path,
        template: Template,
        launch: tuple[str, ...] = (),
        *,
        set_back: bool = False,
    ) -> None:
        self._case = case
        self._set_back = set_back
        self._template = template
        self._place = seed, number
        self._clock = WrongClock(directory / f"case-{number}.clock")
        self._site = Site(directory, f"case-{number}", _OPTIONS, (*launch, *self._clock.launch))
        template.copy(self._site, seeded(*self._place, "site"))
        self._outcome = Outcome()

    def run(self) -> Outcome:
        """Raises `Violation` with the first thing that does not hold."""
        with self._site as site:
            for turn, life in enumerate(self._case.lives):
                server = self._serve(life.offset_millis)
                self._work(life, server, turn)
                if self._set_back:
                    shutil.rmtree(site.store)
                    shutil.copytree(self._template.store, site.store)
            server = self._serve(self._case.offset_millis)
            self._outcome.rows = site.end(server).rows
        return self._outcome

    def _serve(self, offset_millis: int) -> Server:
        """A server that starts under a clock, judged by what clients were told and by its instants."""
        self._clock.put_off(offset_millis)
        server = self._site.serve()
        self._outcome.verdict.add(self._site.judge(server))
        self._outcome.starts += 1
        Instants(self._site.ground, server.port, self._clock).check()
        return server

    def _work(self, life: Life, server: Server, turn: int) -> None:
        """Clients at work while the clock jumps, and the end of the server."""
        workload = Workload(self._site.ground, server, (*self._place, turn), CLIENTS, CONSUMERS)
        for jump in life.jumps:
            workload.wait_for("accepted", jump.accepted, WORK_SECONDS_MAX)
            self._clock.put_off(jump.offset_millis)
        workload.wait_for("accepted", life.jumps[-1].accepted + CLIENTS, WORK_SECONDS_MAX)
        if life.killed:
            server.stopping = True
            status = server.kill()
            require(status == -SIGKILL, f"the server ended by itself, with {status}{server.log_tail()}")
        else:
            self._site.drain(server)
        self._outcome.acknowledged += workload.finish()["accepted"]
        self._outcome.jumps += len(life.jumps)
