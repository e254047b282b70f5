"""One store from its making to its last judgement: where it lies, the programs on it, its clients, and the oracle.

What always holds: whatever was started here has ended when the site is left.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from signal import SIGTERM
from types import TracebackType
from typing import Self

import msgspec

from crash_tests.company import ADMINISTRATOR, COMPANY, desks_of, issue
from crash_tests.history import Account
from crash_tests.inspection.claims import write_claims
from crash_tests.inspection.inspect import Findings
from crash_tests.oracle import Oracle, Verdict
from crash_tests.server import STOP_SECONDS_MAX, Server, initialise, module, program, run
from crash_tests.store_clients import Ground
from crash_tests.violation import Violation, require
from crash_tests.wire import Unreachable

INSPECTION_SECONDS_MAX = 120.0
SUBJECTS = ("extractor", "reviewer")
NOTICED = (
    "receipt-before-sync",
    "split-command",
    "watermark-ahead",
    "wrong-overlay-read",
    "missing-index-row",
    "lost-header-update",
    "missing-dependent",
    "missing-leaf",
    "log-not-grown",
    "lost-tally-update",
    "missing-journal-entry",
    "missing-receipt-witness",
    "missing-revision",
    "topic-slot-kept",
    "payload-kept",
    "missing-candidate",
    "promotion-not-counted",
    "missing-judgment-receipt",
    "replay-by-key-alone",
    "replay-forgotten",
)
"""The planted bugs (crash_tests.bugs) that clients, oracle or inspection notice wherever servers at work are killed."""


class Site:
    """A store and what belongs to it. A context manager: on leaving, every server is killed.

    `options` are those of every `relatum serve`, `launch` the preparations (crash_tests.relatum_process) of every
    program.
    """

    ground: Ground
    """What clients know and did: there once accounts were issued."""

    def __init__(self, directory: Path, name: str, options: Sequence[str] = (), launch: Sequence[str] = ()) -> None:
        self.store = directory / name
        self.log = directory / f"{name}.log"
        self.launch = tuple(launch)
        self._options = tuple(options)
        self._servers = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._servers.close()

    # The programs

    def init_command(self, *launch: str) -> list[str]:
        """The command line that makes the store."""
        names = ("--company", COMPANY, "--subject", ADMINISTRATOR)
        return program("init", self.store, *names, launch=(*self.launch, *launch))

    def make(self, *, killed_before: bool = False) -> str:
        """The secret of the company's administrator, at a later attempt if the first ones were killed."""
        made = initialise(self.store, self.log, COMPANY, ADMINISTRATOR, killed_before=killed_before, launch=self.launch)
        secret: str = made["secret"]
        return secret

    def start(self, *launch: str, doomed: bool = False) -> Server:
        """A server that is starting. Whoever asked for it ends it."""
        return Server(self.store, self.log, *self._options, launch=(*self.launch, *launch), doomed=doomed)

    def serve(self, *launch: str, doomed: bool = False) -> Server:
        """A server that is ready. It is killed when the site is left, if it still runs."""
        server = self._servers.enter_context(self.start(*launch, doomed=doomed))
        server.wait_until_ready()
        return server

    def drain(self, server: Server) -> None:
        """Stop a server as an operator would."""
        server.stopping = True
        server.signal(SIGTERM)
        status = server.wait(STOP_SECONDS_MAX)
        require(status == 0, f"a server that was told to stop ended with {status}{server.log_tail()}")

    # The clients

    def settle(self, server: Server, admin_secret: str, random: Random) -> None:
        """New accounts, which have done nothing yet, and the oracle that will judge what they are told."""
        self.inhabit([issue(server.port, admin_secret, subject) for subject in SUBJECTS], admin_secret, random)

    def inhabit(self, accounts: list[Account], admin_secret: str, random: Random) -> None:
        """The same with accounts that the store has."""
        self.ground = Ground(accounts, desks_of(accounts), admin_secret)
        self._oracle = Oracle(self.ground, random)

    # The judgement

    def judge(self, server: Server) -> Verdict:
        """Hold a server that has just started against what clients were told."""
        try:
            return self._oracle.judge(server.port)
        except Unreachable as error:
            raise Violation(f"the restarted server dropped a connection: {error}{server.log_tail()}") from error

    def inspect(self) -> Findings:
        """Judge every row of a copy, in a process of its own, while nobody serves the store."""
        copy, claims = self.store.with_suffix(".copy"), self.store.with_suffix(".claims")
        shutil.copytree(self.store, copy)
        write_claims(claims, self.ground.claims())
        told = self.log.with_suffix(".inspection")
        status, output = run(told, module("crash_tests.inspection", copy, claims), INSPECTION_SECONDS_MAX)
        if status != 0:
            raise Violation(f"the stored rows do not hold: {told.read_text().strip()}")
        shutil.rmtree(copy)
        return msgspec.json.decode(output, type=Findings)

    def end(self, server: Server) -> Findings:
        """Drain, and inspect what that leaves; then the store is removed."""
        self.drain(server)
        findings = self.inspect()
        shutil.rmtree(self.store)
        return findings
