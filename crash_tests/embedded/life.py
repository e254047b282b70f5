"""One life of the process: from opening the ledger to its end, or to whatever ends it before."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from random import Random
from threading import Event, Lock, Thread
from unittest import mock

from crash_tests.bugs import BUGS
from crash_tests.embedded.accounts import PARTITIONS
from crash_tests.embedded.command_source import Sights, Thinker, bootstrap
from crash_tests.embedded.execution import administrator, carry_out, carry_out_all
from crash_tests.embedded.messages import (
    Activation,
    Broken,
    Ended,
    Judgment,
    Memory,
    Opened,
    Reporter,
    Sent,
    Shown,
    Told,
    Unable,
)
from crash_tests.embedded.plan import Plan
from crash_tests.embedded.seeded_environment import AGES, CountingClock, SeededEntropy
from crash_tests.violation import Violation, require_same
from relatum.errors import Failure, StorageFailure, StoreUnavailable
from relatum.ledger import Ledger
from relatum.store import failpoints, rocks
from relatum.store.rows import Position
from relatum.store.view import LedgerView

READ_PAUSE_SECONDS = 0.0003
"""Readers leave the interpreter to the others for so long between two looks."""
LINGER_SECONDS = 0.002
"""At the failpoint at which the process stops itself, whoever has been answered may still say so."""
REPLAYED_MAX = 64


def live(directory: Path, plan: Plan, reporter: Reporter, unresolved: Sequence[Sent] = ()) -> bool:
    """Lives as planned, sending commands in doubt again before anything else; whether it came to its end in peace.

    IMPORTANT: the process must not have opened a store before, and must not fork afterwards.
    """
    life = _Life(plan, reporter)
    with _prepared(plan, life.stop):
        try:
            life.run(directory, unresolved)
        except Violation as broken:
            reporter.tell(Broken(text=str(broken)))
        except (Failure, StoreUnavailable) as failure:
            reporter.tell(Unable(text=str(failure)))
        else:
            reporter.tell(Ended())
            return True
    return False


def shown_by(view: LedgerView) -> Shown:
    """What a view shows."""
    heads: dict[str, tuple[int, str]] = {}
    for partition in map(view.partition, PARTITIONS):
        head = partition.head()
        heads[partition.workspace_id] = head.sequence, head.event_digest.hex()
    return Shown(position=_position(view), heads=heads)


@contextmanager
def _prepared(plan: Plan, stop: Callable[[], None]) -> Iterator[None]:
    """The product as planned, with its bug and its buffer, and stopping where it is to stop."""
    reached = count(1)

    def hook(place: failpoints.Name) -> None:
        if place == plan.stop_at and next(reached) == plan.stop_number:
            stop()

    if plan.bug is not None:
        BUGS[plan.bug].plant()
    with mock.patch.object(rocks, "WRITE_BUFFER_BYTES", plan.write_buffer_bytes):
        failpoints.arm(hook if plan.stop_at else None)
        try:
            yield
        finally:
            failpoints.arm(None)


class _Life:
    def __init__(self, plan: Plan, reporter: Reporter) -> None:
        self._plan = plan
        self._reporter = reporter
        self._ledger: Ledger | None = None
        self._lock = Lock()
        self._left = plan.commands
        self._over = Event()
        self._failure: Exception | None = None
        self._acknowledged: list[tuple[Sent, Told]] = []

    def run(self, directory: Path, unresolved: Sequence[Sent]) -> None:
        plan = self._plan
        entropy = SeededEntropy(plan.seed)
        ledger = Ledger.open(
            directory,
            create=plan.create,
            clock=CountingClock(),
            entropy=entropy,
            watermark_lag=plan.watermark_lag,
            ages=AGES,
        )
        self._ledger = ledger
        self._reporter.tell(Opened(), self._look())
        for sent in unresolved:
            self._carry_out(ledger, sent)
        if administrator(ledger) is None:
            self._carry_out(ledger, bootstrap(plan.seed))
        with ledger.view() as view:
            sights = Sights(view)
        self._together(ledger, sights)
        if self._failure is not None:
            raise self._failure
        if plan.close:
            ledger.close()

    def stop(self) -> None:
        """SIGSTOP of this process, having told what a reader that came now would see."""
        if self._ledger is not None:
            with suppress(StorageFailure):  # it is closed by now
                self._reporter.tell(self._look())
        self._over.wait(LINGER_SECONDS)
        os.kill(os.getpid(), signal.SIGSTOP)

    def _together(self, ledger: Ledger, sights: Sights) -> None:
        workers = [
            Thread(target=self._safely, args=(self._work, ledger, sights, number))
            for number in range(self._plan.threads)
        ]
        readers = [Thread(target=self._safely, args=(self._read, ledger)) for _ in range(self._plan.readers)]
        for thread in (*workers, *readers):
            thread.start()
        for worker in workers:
            worker.join()
        self._over.set()
        for reader in readers:
            reader.join()

    def _safely(self, work: Callable[..., None], *arguments: object) -> None:
        try:
            work(*arguments)
        except Exception as error:  # noqa: BLE001 - raised again when all threads have ended
            self._failure = self._failure or error
            self._over.set()

    def _look(self) -> Shown:
        assert self._ledger is not None
        with self._ledger.view() as view:
            return shown_by(view)

    def _read(self, ledger: Ledger) -> None:
        """Tell of every position that is published, as soon as it is seen."""
        last = -1
        while not self._over.wait(READ_PAUSE_SECONDS):
            with ledger.view() as view:
                shown = shown_by(view) if _position(view) != last else None
            if shown is not None:
                self._reporter.tell(shown)
                last = shown.position

    def _work(self, ledger: Ledger, sights: Sights, number: int) -> None:
        name = f"{self._plan.seed}-{number}"
        random = Random(name)
        thinker = Thinker(name, random, sights)
        while self._take(1) and not self._over.is_set():
            chosen = random.random()
            if chosen < 0.46:
                self._memory(ledger, sights, thinker.memory())
            elif chosen < 0.62:
                self._memory(ledger, sights, thinker.batch())
            elif chosen < 0.78:
                with ledger.view() as view:
                    sent = thinker.judgment(view)
                self._carry_out(ledger, sent, sights)
            elif chosen < 0.86:
                self._replay(ledger, random)
            elif chosen < 0.88:
                self._carry_out(ledger, thinker.activation())
            else:
                with ledger.view() as view:
                    sent = thinker.saving(view) if chosen < 0.95 else thinker.credential_change(view)
                self._carry_out(ledger, sent)

    def _take(self, commands: int) -> bool:
        """Takes so much of what the plan allows; False once it is used up."""
        with self._lock:
            self._left -= commands
            return self._left >= 0

    def _memory(self, ledger: Ledger, sights: Sights, commands: list[Sent]) -> None:
        self._take(len(commands) - 1)
        self._reporter.tell(*commands)
        told = carry_out_all(ledger, commands)
        self._reporter.tell(*told)
        for sent, one in zip(commands, told, strict=True):
            if one.receipt is not None:
                sights.learn(ledger, sent, one.receipt)
                self._acknowledged.append((sent, one))

    def _carry_out(self, ledger: Ledger, sent: Sent, sights: Sights | None = None) -> None:
        self._reporter.tell(sent)
        told = carry_out(ledger, sent)
        self._reporter.tell(told)
        if told.receipt is not None and not isinstance(sent.ask, Activation):
            self._acknowledged.append((sent, told))
            if sights is not None:
                sights.learn(ledger, sent, told.receipt)

    def _replay(self, ledger: Ledger, random: Random) -> None:
        """Something acknowledged of late is sent again, and must be answered with the same bytes."""
        recent = [one for one in self._acknowledged[-REPLAYED_MAX:] if isinstance(one[0].ask, Memory | Judgment)]
        if recent:
            sent, told = random.choice(recent)
            require_same(f"the answer to {sent.id}, sent again", told, carry_out(ledger, sent))


def _position(view: LedgerView) -> int:
    assert isinstance(view.position, Position)
    return view.position.position
