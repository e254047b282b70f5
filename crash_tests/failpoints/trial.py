"""One case, carried out: a store is made, worked on and opened again, and killed at the case's places on the way."""

from __future__ import annotations

import shutil
from pathlib import Path
from signal import SIGTERM

from msgspec import Struct

from crash_tests.failpoints.backup_case import Copying
from crash_tests.failpoints.case import CLOSED, REPAIRED, Case
from crash_tests.failpoints.killed_process import failpoint, require_killed, require_killed_on_its_way
from crash_tests.failpoints.torn import tear
from crash_tests.oracle import Verdict
from crash_tests.random_draws import seeded
from crash_tests.server import Child, Server
from crash_tests.store_case import SUBJECTS, Site
from crash_tests.template import Template
from crash_tests.workload import Workload

WORK_SECONDS_MAX = 60.0
LAGS = (0, 0, 0, 1)
CLIENTS = 4
CONSUMERS = 4


class Outcome(Struct, frozen=True, kw_only=True):
    """What a case came to; `rows` were inspected."""

    acknowledged: int
    verdict: Verdict
    rows: int


class Trial:
    """A case with its number and its seed, under `directory`; `launch` prepares every program.

    With `set_back` the store that is opened in the end is that of before the work: as on a disk that lied.
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
        self._before = directory / f"case-{number}.before"
        self._place = seed, number
        self._template = template
        lag = seeded(seed, number, "lag").choice(LAGS)
        self._site = Site(directory, f"case-{number}", ("--watermark-lag", str(lag)), launch)

    def run(self) -> Outcome:
        """Raises `Violation` with the first thing that does not hold."""
        with self._site as site:
            first = self._first_server()
            acknowledged = self._work(first)
            for start in self._case.starts:
                if start in REPAIRED:
                    tear(site.store)
                with site.start(*failpoint(start), doomed=True) as starting:
                    require_killed_on_its_way(starting, start)
            for place in self._case.copies:
                Copying(site, place).run()
            if self._set_back:
                shutil.rmtree(site.store)
                shutil.move(self._before, site.store)
            server = site.serve()
            verdict = site.judge(server)
            findings = site.end(server)
        return Outcome(acknowledged=acknowledged, verdict=verdict, rows=findings.rows)

    def _first_server(self) -> Server:
        """The server that will be killed at work, on a copy of the template or on a store of its own."""
        case, site, random = self._case, self._site, seeded(*self._place, "site")
        if not case.making:
            self._template.copy(site, random)
            return self._serve(case.reached)
        for name in case.making:
            with Child(site.init_command(*failpoint(name)), site.log) as making:
                require_killed_on_its_way(making, name)
        admin_secret = site.make(killed_before=True)
        server = self._serve(case.reached + len(SUBJECTS))  # each account that is issued is a group of its own
        site.settle(server, admin_secret, random)
        return server

    def _serve(self, reached: int) -> Server:
        """The server that dies at work; one that dies closing is not doomed before it is told to stop."""
        work = self._case.work
        if self._set_back:
            shutil.copytree(self._site.store, self._before)
        if work in CLOSED:
            return self._site.serve(*failpoint(work))
        return self._site.serve(*failpoint(work, reached), doomed=True)

    def _work(self, server: Server) -> int:
        """Clients at work until the server has died; how many commands were acknowledged."""
        workload = Workload(self._site.ground, server, self._place, CLIENTS, CONSUMERS)
        if self._case.work in CLOSED:
            workload.wait_for("accepted", self._case.accepted, WORK_SECONDS_MAX)
            server.stopping = True
            server.signal(SIGTERM)
        if workload.wait_until_gone(WORK_SECONDS_MAX):
            require_killed(server, self._case.work)
        else:
            server.kill()
        return workload.finish()["accepted"]
