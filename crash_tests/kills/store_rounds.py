"""One store under a campaign: its making, rounds, and its last judgement.

making     relatum init, killed half-way now and then, and credentials issued over HTTP
round      work, kill, restart, oracle
end        drain, and the inspection of every row
"""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from random import Random
from signal import SIGKILL, SIGTERM
from threading import Event
from time import monotonic
from types import TracebackType
from typing import Self

from msgspec import Struct

from crash_tests.history import STREAMS
from crash_tests.inspection.inspect import Findings
from crash_tests.kills.controls import NO_OCCASION
from crash_tests.kills.plan import LAGS, OPENING_SECONDS_MAX, EarlyKill, Plan, draw_making
from crash_tests.oracle import Verdict
from crash_tests.random_draws import Place
from crash_tests.server import Child, Server, module, run
from crash_tests.store_case import Site
from crash_tests.violation import require
from crash_tests.witness import Witness
from crash_tests.workload import Workload
from relatum.store.database import ENGINE_NAME
from relatum.store.lock import LOCK_FILE_NAME

WORK_SECONDS_MAX = 60.0


class Rig(Struct, kw_only=True):
    """What all stores of a campaign have in common. `control` names damage that must be noticed."""

    directory: Path
    slots: int
    clients: int
    consumers: int
    control: str | None = None
    launch: tuple[str, ...] = ()
    """With what the programs are prepared: see crash_tests.relatum_process."""
    making_seconds: float = 0.6
    start_seconds: float = 0.8
    """What these took last, or a guess."""


class Stage:
    """A store with a server on it. A context manager: on leaving, the server is killed."""

    def __init__(self, rig: Rig, number: int, random: Random) -> None:
        self._rig = rig
        options = ("--slots", str(rig.slots), "--watermark-lag", str(random.choice(LAGS)))
        self._site = Site(rig.directory, f"store-{number}", options, rig.launch)
        making = draw_making(random)
        self.kills = 0 if making is None else 1
        with ExitStack() as until_ready:
            until_ready.enter_context(self._site)
            admin_secret = self._make(making)
            self._server = self._serve()
            self._site.settle(self._server, admin_secret, random)
            self._activate_some(random)
            until_ready.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._site.__exit__(kind, error, trace)

    def round(self, plan: Plan, place: Place, *, inspected: bool) -> Round:
        """Work, a kill, a restart, the oracle; between kill and restart, if asked for, the inspection of every row."""
        if self._rig.control:
            shutil.rmtree(self._before, ignore_errors=True)
            with self._server.paused():
                shutil.copytree(self._site.store, self._before)
        workload = Workload(self._site.ground, self._server, place, self._rig.clients, self._rig.consumers)
        workload.wait_for("accepted", plan.accepted, WORK_SECONDS_MAX)
        if plan.moment in ("saving", "following"):
            workload.wait_for(plan.moment, 1, WORK_SECONDS_MAX)
        self._kill(plan)
        happened = workload.finish()
        if self._rig.control:
            self._damage(self._rig.control)
        findings = self._site.inspect() if inspected else None
        for start in plan.starts:
            with self._site.start() as starting:
                self._wait_for(start, starting, self._rig.start_seconds)
        self._server = self._serve()
        self.kills += plan.kills
        verdict = self._site.judge(self._server)
        return Round(acknowledged=happened["accepted"], broken=happened["broken"], verdict=verdict, findings=findings)

    def end(self) -> Findings:
        """Stop the server as an operator would, and inspect what it leaves; then the store is removed."""
        return self._site.end(self._server)

    def _activate_some(self, random: Random) -> None:
        """Some streams, before there is anything to tell: others begin with their first command."""
        ground = self._site.ground
        with Witness(self._server.port, ground.accounts) as witness:
            for desk in {desk.partition: desk for desk in ground.desks}.values():
                for stream in random.sample(STREAMS, random.randint(0, 2)):
                    ground.heard(desk, stream).begin(witness.activate(desk, stream))
                    ground.opened.append(desk.partition)

    # The programs

    def _make(self, killed: EarlyKill | None) -> str:
        """The store; the secret of its administrator, at the second attempt if the first is to be killed."""
        if killed is not None:
            with Child(self._site.init_command(), self._site.log) as making:
                self._wait_for(killed, making, self._rig.making_seconds)
        started = monotonic()
        secret = self._site.make(killed_before=killed is not None)
        self._rig.making_seconds = monotonic() - started
        return secret

    def _serve(self) -> Server:
        started = monotonic()
        server = self._site.serve()
        self._rig.start_seconds = monotonic() - started
        return server

    def _wait_for(self, kill: EarlyKill, starting: Child, likely_seconds: float) -> None:
        """Wait until a program that is starting is to be killed, or has come to its end or its first line."""
        if not kill.opening:
            starting.read_line(kill.part * likely_seconds)
            return
        lock = self._site.store / ENGINE_NAME / LOCK_FILE_NAME
        owner = f"{starting.process_id}\n"
        while not (lock.exists() and lock.read_text() == owner) and starting.read_line(0.001) is None:
            if starting.silent:
                return
        starting.read_line(kill.part * OPENING_SECONDS_MAX)

    def _kill(self, plan: Plan) -> None:
        server = self._server
        require(not server.ended, f"the server ended by itself{server.log_tail()}")
        if plan.moment == "draining":
            server.stopping = True
            server.signal(SIGTERM)
        Event().wait(plan.delay_seconds)
        server.stopping = True
        status = server.kill()
        ended_well = status == -SIGKILL or (plan.moment == "draining" and status == 0)
        require(ended_well, f"the server ended by itself, with {status}{server.log_tail()}")

    # Controls

    @property
    def _before(self) -> Path:
        return self._site.store.with_suffix(".before")

    def _damage(self, control: str) -> None:
        command = module("crash_tests.kills.controls", control, self._site.store, self._before)
        status, _ = run(self._site.log, command)
        assert status in (0, NO_OCCASION), "the control could not be carried out"


class Round(Struct, frozen=True, kw_only=True):
    """What one round came to."""

    acknowledged: int
    broken: int
    """Streams of server-sent events that the kill met."""
    verdict: Verdict
    findings: Findings | None
