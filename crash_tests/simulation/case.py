"""One case from its first draw to its last judgement."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

from msgspec import Struct

from crash_tests.company import PRIVATE, SHARED
from crash_tests.consumers.stream_history import Heard
from crash_tests.history import STREAMS, Account, Desk, Owner
from crash_tests.simulation import final_checks, row_damage
from crash_tests.simulation.administrator import Clerk
from crash_tests.simulation.clients import Client
from crash_tests.simulation.consumers import Follower
from crash_tests.simulation.disk import Disk
from crash_tests.simulation.loop import SimulatedLoop
from crash_tests.simulation.machine import ADMINISTRATOR, COMPANY, Machine
from crash_tests.simulation.observations import Story
from crash_tests.simulation.plan import calm, draw
from crash_tests.simulation.readers import Reader
from crash_tests.simulation.row_damage import Kept
from crash_tests.simulation.scrubber import Scrubber
from crash_tests.simulation.supervisor import Attendant
from crash_tests.simulation.trace import Trace
from crash_tests.violation import Violation
from relatum.core.ids import uuid7
from relatum.store import failpoints

_STEPS_MAX = 50_000

Work = Coroutine[Any, Any, None]


class Outcome(Struct, frozen=True):
    """What a case came to: the digest of all that happened, and how much that was."""

    digest: str
    commands: int
    accepted: int
    ends: int
    steps: int


class Case:
    """Everything that takes part in one case."""

    def __init__(self, random: Random, tell: Callable[[str], None] | None, disk: Disk) -> None:
        self._random = random
        self._plan = plan = draw(random)
        self._loop = loop = SimulatedLoop(random)  # type: ignore[abstract]  # nobody calls the rest
        self._trace = Trace(tell)
        self._trace.note(f"{plan}")
        self._failure: Exception | None = None
        self._running = 0
        desks = _desks(random, plan.desks)
        self._story = story = Story(COMPANY, desks, self._trace)
        self._machine = machine = Machine(loop, random, plan, disk, self._trace, self._fail, story.judged)
        self._attendant = Attendant(machine, story, loop, random)
        self._clients = [Client(machine, story, random, desks) for _ in range(plan.clients)]
        self._readers = [Reader(machine, story, random) for _ in range(plan.readers)]
        self._followers = self._make_followers(desks)
        self._clerks = [Clerk(machine, story, random)] if plan.has_clerk else []
        self._scrubbers = [Scrubber(machine, random)] if plan.scrubs else []

    def run(self) -> Outcome:
        """Raises `Violation` at the first thing that does not hold, with the end of the trace."""
        try:
            with self._loop.running():
                self._run()
        except Exception as error:
            happened = "\n  ".join(self._trace.last)
            raise Violation(f"{_in_words(error)}\n  {happened}") from error
        finally:
            failpoints.arm(None)
            self._machine.disk.close()
        history = self._story.history
        return Outcome(
            digest=self._trace.digest,
            commands=history.mark(),
            accepted=len(self._story.seen),
            ends=self._machine.generation,
            steps=self._loop.steps,
        )

    # Its phases

    def _run(self) -> None:
        plan = self._plan
        self._story.badges.asked.add(("CredentialIssued", ADMINISTRATOR, 1))
        attendant = self._loop.create_task(self._guarded(self._attendant.work()))
        self._until_done(self._clients[0].lay_ground())
        self._until_done(
            *(client.work(plan.turns) for client in self._clients),
            *(reader.work(plan.turns) for reader in self._readers),
            *(follower.work(plan.turns) for follower in self._followers),
            *(clerk.work(plan.turns // 2) for clerk in self._clerks),
            *(scrubber.work(plan.turns // 2) for scrubber in self._scrubbers),
        )
        self._machine.plan = calm(plan)
        self._machine.fall()
        self._until_done(
            *(client.resolve() for client in self._clients), *(follower.resolve() for follower in self._followers)
        )
        attendant.cancel()
        while self._loop.step_now():
            self._raise_failure()
        self._machine.boot()
        self._judge()

    def _until_done(self, *works: Work) -> None:
        self._running = len(works)
        for work in works:
            self._loop.create_task(self._watched(work))
        while self._running:
            self._step()

    async def _watched(self, work: Work) -> None:
        await self._guarded(work)
        self._running -= 1

    async def _guarded(self, work: Work) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - it ends the case, wherever it was raised
            self._fail(error)

    def _judge(self) -> None:
        machine, story, random = self._machine, self._story, self._random
        machine.settle()
        assert machine.ledger is not None
        with machine.ledger.view() as view:
            final_checks.check_answers(view, story, random)
            for follower in self._followers:
                follower.look(view)
            for clerk in self._clerks:
                clerk.look(view)
            now_millis, store_key = view.now_millis, view.store_key
        machine.close()
        self._raise_failure()
        kept = Kept(
            rows=machine.disk.durable, replaced=machine.disk.replaced, store_key=store_key, now_millis=now_millis
        )
        final_checks.check_erasure(story, kept.rows)
        if self._plan.inspects:
            final_checks.check_every_row(story, kept.rows)
        if self._plan.verifies:
            row_damage.check_verification(kept, random)
        if self._plan.decays:
            row_damage.check_answers(story, kept, random)
            row_damage.check_replay(story, kept, random)
        if self._plan.rolls_back:
            final_checks.check_rollback(machine, random)

    # Its means

    def _step(self) -> None:
        if not self._loop.step():
            raise Violation("nothing will ever happen any more, and somebody waits")
        if self._loop.steps > _STEPS_MAX:
            raise Violation("the case does not come to an end")
        self._raise_failure()

    def _fail(self, error: Exception) -> None:
        self._failure = self._failure or error

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _make_followers(self, desks: list[Desk]) -> list[Follower]:
        heard: dict[tuple[Any, str], Heard] = {}
        followers = []
        for number in range(self._plan.consumers):
            desk, stream = self._random.choice(desks), self._random.choice(STREAMS)
            known = heard.setdefault((desk.partition, stream), Heard())
            owner = Owner(desk, stream, f"consumer {number}")
            followers.append(Follower(self._machine, self._story, self._random, owner, known))
        return followers


def _in_words(error: Exception) -> str:
    return str(error) if isinstance(error, Violation) else f"something broke: {error!r}"


def _desks(random: Random, count: int) -> list[Desk]:
    """Two accounts in a partition that they share, and one of them in one of its own."""
    ada, bob = (Account(COMPANY, subject, uuid7(0, random.randbytes(10)), "") for subject in ("ada", "bob"))
    return [Desk(ada, SHARED), Desk(bob, SHARED), Desk(ada, PRIVATE)][:count]


def simulate(random: Random, tell: Callable[[str], None] | None = None, disk: type[Disk] = Disk) -> Outcome:
    """Runs the case that the dice make, on a disk of its own; `tell` is given each line of its trace."""
    return Case(random, tell, disk()).run()
