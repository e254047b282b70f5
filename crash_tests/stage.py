"""One store from its making to its last judgement, and the rounds in between.

    making     relatum init, killed half-way now and then, and credentials issued over HTTP
    round      work, kill, restart, oracle
    end        drain, and the inspection of every row

What always holds: whatever was started here has ended when the stage is left.
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

import msgspec
from msgspec import Struct

from crash_tests.company import ADMINISTRATOR, COMPANY, desks_of, issue
from crash_tests.ground import Ground
from crash_tests.history import STREAMS, Json
from crash_tests.inspection.claims import write_claims
from crash_tests.inspection.inspect import Findings
from crash_tests.oracle import Oracle, Verdict
from crash_tests.plan import OPENING_SECONDS_MAX, EarlyKill, Place, Plan, draw_making
from crash_tests.server import STOP_SECONDS_MAX, Child, Server, initialise, module, run
from crash_tests.violation import Violation, require
from crash_tests.wire import Unreachable
from crash_tests.witness import Witness
from crash_tests.workload import Workload
from relatum.store.database import ENGINE_NAME
from relatum.store.lock import LOCK_FILE_NAME

WORK_SECONDS_MAX = 60.0
INSPECTION_SECONDS_MAX = 120.0
SUBJECTS = ("extractor", "reviewer")


class Rig(Struct, kw_only=True):
    """What all stores of a campaign have in common. `control` names damage that must be noticed."""

    directory: Path
    slots: int
    clients: int
    consumers: int
    control: str | None = None
    making_seconds: float = 0.6
    start_seconds: float = 0.8
    """What these took last, or a guess."""


class Stage:
    """A store with a server on it. A context manager: on leaving, the server is killed."""

    def __init__(self, rig: Rig, number: int, random: Random) -> None:
        self._rig = rig
        self._store = rig.directory / f"store-{number}"
        self._log = rig.directory / f"store-{number}.log"
        making = draw_making(random)
        self.kills = 0 if making is None else 1
        self._children = ExitStack()
        with self._children as until_ready:
            admin = self._make(making)
            self._server = self._serve()
            accounts = [issue(self._server.port, admin["secret"], subject) for subject in SUBJECTS]
            self._ground = Ground(accounts, desks_of(accounts), admin["secret"])
            self._activate_some(random)
            self._children = until_ready.pop_all()
        self._oracle = Oracle(self._ground, random)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._children.close()

    def round(self, plan: Plan, place: Place, *, inspected: bool) -> Round:
        """Work, a kill, a restart, the oracle; between kill and restart, if asked for, the inspection of every row."""
        if self._rig.control:
            with self._server.paused():
                shutil.copytree(self._store, self._before)
        workload = Workload(self._ground, self._server, place, self._rig.clients, self._rig.consumers)
        workload.wait_for("accepted", plan.accepted, WORK_SECONDS_MAX)
        if plan.moment in ("saving", "following"):
            workload.wait_for(plan.moment, 1, WORK_SECONDS_MAX)
        self._kill(plan)
        happened = workload.finish()
        if self._rig.control:
            self._damage(self._rig.control)
        findings = self._inspect() if inspected else None
        for start in plan.starts:
            with self._start() as starting:
                self._wait_for(start, starting, self._rig.start_seconds)
        self._server = self._serve()
        self.kills += plan.kills
        return Round(
            acknowledged=happened["accepted"], broken=happened["broken"], verdict=self._judge(), findings=findings
        )

    def _judge(self) -> Verdict:
        try:
            return self._oracle.judge(self._server.port)
        except Unreachable as error:
            raise Violation(f"the restarted server dropped a connection: {error}{self._server.log_tail()}") from error

    def end(self) -> Findings:
        """Stop the server as an operator would, and inspect what it leaves; then the store is removed."""
        self._server.stopping = True
        self._server.signal(SIGTERM)
        status = self._server.wait(STOP_SECONDS_MAX)
        require(status == 0, f"a server that was told to stop ended with {status}{self._server.log_tail()}")
        findings = self._inspect()
        shutil.rmtree(self._store)
        return findings

    def _activate_some(self, random: Random) -> None:
        """Some streams, before there is anything to tell: others begin with their first command."""
        with Witness(self._server.port, self._ground.accounts) as witness:
            for desk in {desk.partition: desk for desk in self._ground.desks}.values():
                for stream in random.sample(STREAMS, random.randint(0, 2)):
                    self._ground.heard(desk, stream).begin(witness.activate(desk, stream))
                    self._ground.opened.append(desk.partition)

    # The programs

    def _make(self, killed: EarlyKill | None) -> Json:
        """The store and the company's administrator, at the second attempt if the first is to be killed."""
        if killed is not None:
            command = module("relatum", "init", self._store, "--company", COMPANY, "--subject", ADMINISTRATOR)
            with Child(command, self._log) as making:
                self._wait_for(killed, making, self._rig.making_seconds)
        started = monotonic()
        admin = initialise(self._store, self._log, COMPANY, ADMINISTRATOR, killed_before=killed is not None)
        self._rig.making_seconds = monotonic() - started
        return admin

    def _start(self) -> Server:
        return Server(self._store, self._log, "--slots", str(self._rig.slots))

    def _serve(self) -> Server:
        started = monotonic()
        server = self._children.enter_context(self._start())
        server.wait_until_ready()
        self._rig.start_seconds = monotonic() - started
        return server

    def _wait_for(self, kill: EarlyKill, starting: Child, likely_seconds: float) -> None:
        """Wait until a program that is starting is to be killed, or has come to its end or its first line."""
        if not kill.opening:
            starting.read_line(kill.part * likely_seconds)
            return
        lock = self._store / ENGINE_NAME / LOCK_FILE_NAME
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

    # The rows

    def _inspect(self) -> Findings:
        """Judge every row of a copy, in a process of its own, while nobody serves the store."""
        copy, claims = self._store.with_suffix(".copy"), self._store.with_suffix(".claims")
        shutil.copytree(self._store, copy)
        write_claims(claims, self._ground.history.claims())
        told = self._log.with_suffix(".inspection")
        status, output = run(told, module("crash_tests.inspection", copy, claims), INSPECTION_SECONDS_MAX)
        if status != 0:
            raise Violation(f"the stored rows do not hold: {told.read_text().strip()}")
        shutil.rmtree(copy)
        return msgspec.json.decode(output, type=Findings)

    @property
    def _before(self) -> Path:
        return self._store.with_suffix(".before")

    def _damage(self, control: str) -> None:
        status, _ = run(self._log, module("crash_tests.controls", control, self._store, self._before))
        assert status == 0, "the control could not be carried out"


class Round(Struct, frozen=True, kw_only=True):
    """What one round came to."""

    acknowledged: int
    broken: int
    """Streams of server-sent events that the kill met."""
    verdict: Verdict
    findings: Findings | None
