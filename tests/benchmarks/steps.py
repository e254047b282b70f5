"""What one relation command costs, step by step, without HTTP and without a second thread.

    python -m tests.benchmarks.steps [--group 24] [--groups 120]

Commands go in groups through the steps that the server takes them through, each step for the whole group at once, so
that its time can be told. The steps within decide and project are timed in groups of their own, since timing them costs
time. Printed are microseconds a command: the least and the middle of all groups. On a busy machine the least is nearest
to what the work takes.
"""

from __future__ import annotations

import argparse
import functools
import tempfile
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, TypeVar

import msgspec

from relatum.cli.bench.store_fixture import COMPANY, Stage
from relatum.core import digests
from relatum.core.access import Credential
from relatum.core.answers.commands import RelationCommandAnswer
from relatum.core.commands import RelationCommand
from relatum.core.decide import relations
from relatum.core.ids import Scope, memory_partition
from relatum.entropy import SystemEntropy
from relatum.http import strict_json
from relatum.http.responses import encoded
from relatum.ledger import Ledger
from relatum.ledger.reads import credentials
from relatum.ledger.writer import group as writing
from relatum.ledger.writer.group import Group
from relatum.ledger.writer.submission import MemorySubmission
from relatum.store import keys, rows
from relatum.store.projection import apply
from relatum.store.projection import relations as projected_relations
from relatum.store.projection.staged_partition import Staging
from relatum.store.rocks import RocksStore

T = TypeVar("T")

WITHIN = (
    (writing, "look_up", "decide: the key, on the overlay"),
    (relations, "broken_rule", "decide: static rules"),
    (relations, "assertable", "decide: ends and eligibility"),
    (relations, "_accept", "decide: relation, receipt, event"),
    (writing, "project", "project: all"),
    (projected_relations, "_index", "project: adjacency, dependents and headers"),
    (apply, "_receipt", "project: receipt rows"),
    (apply, "journaled", "project: journal entry"),
    (Staging, "advance", "project: event and head"),
    (RocksStore, "get", "(gets of the engine in both)"),
    (digests, "blake3", "(hashing in both)"),
)


class Clock:
    """Gathers what each step took, group by group."""

    def __init__(self, group: int) -> None:
        self._group = group
        self._now: defaultdict[str, float] = defaultdict(float)
        self._found: defaultdict[str, list[float]] = defaultdict(list)

    def of(self, step: str, work: Callable[[], T]) -> T:
        """What the work answers; its time is added to the step's."""
        started = perf_counter()
        answer = work()
        self._now[step] += perf_counter() - started
        return answer

    def end_group(self) -> None:
        """The next group begins."""
        for step, seconds in self._now.items():
            self._found[step].append(1e6 * seconds / self._group)
        self._now.clear()

    def show(self) -> None:
        """A line for each step."""
        for step, micros in self._found.items():
            print(f"{step:36} {min(micros):7.1f} {median(micros):7.1f}")  # noqa: T201


@contextmanager
def timed_within(clock: Clock) -> Iterator[None]:
    """The functions of decide and project are timed, too."""
    before = [(place, name, getattr(place, name)) for place, name, _ in WITHIN]

    def timed(work: Callable[..., Any], step: str) -> Callable[..., Any]:
        @functools.wraps(work)
        def called(*given: Any, **named: Any) -> Any:
            return clock.of(step, lambda: work(*given, **named))

        return called

    for place, name, step in WITHIN:
        setattr(place, name, timed(getattr(place, name), step))
    try:
        yield
    finally:
        for place, name, work in before:
            setattr(place, name, work)


def main() -> None:
    """Makes a store and measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--group", type=int, default=24)
    parser.add_argument("--groups", type=int, default=120)
    given = parser.parse_args()
    steps, within = Clock(given.group), Clock(given.group)
    with tempfile.TemporaryDirectory() as directory:
        stage = Stage.make(Path(directory) / "store")
        with Ledger.open(stage.directory) as ledger:
            commands = stage.assertions()
            for number in range(2 * given.groups):
                bodies = [stage.single(one).partition(b"\r\n\r\n")[2] for one in commands.take(given.group)]
                if number % 2:
                    decided(ledger, checked(ledger, stage, bodies, steps), steps)
                    steps.end_group()
                else:
                    submissions = checked(ledger, stage, bodies, Clock(given.group))
                    with timed_within(within):
                        decided(ledger, submissions, Clock(given.group))
                    within.end_group()
    print(f"{'µs a command':36} {'least':>7} {'middle':>7}")  # noqa: T201
    steps.show()
    within.show()


def checked(ledger: Ledger, stage: Stage, bodies: Sequence[bytes], clock: Clock) -> list[MemorySubmission]:
    """From bodies to submissions: what the event loop does."""
    decoder = msgspec.json.Decoder(RelationCommand)
    clock.of("strict JSON check", lambda: deque(map(strict_json.check, bodies), maxlen=0))
    given = clock.of("typed decode", lambda: [decoder.decode(body) for body in bodies])
    credential = clock.of("authenticate", lambda: [authenticated(ledger, stage.token) for _ in bodies])[0]
    assert credential is not None
    clock.of("authorize", lambda: [authorized(credential, one.scope) for one in given])
    submissions = clock.of(
        "command digest",
        lambda: [
            ledger.command(
                memory_partition(COMPANY, stage.author.subject_id, one.scope),
                stage.author,
                one.idempotency_key,
                one.operation,
            )
            for one in given
        ],
    )
    clock.of("replay look-up, published view", lambda: [ledger._submitting._known([one]) for one in submissions])
    return submissions


def authenticated(ledger: Ledger, token: str) -> Credential | None:
    """As the endpoint finds out."""
    with ledger.view() as view:
        return credentials.authenticate(view, token)


def authorized(credential: Credential, scope: Scope) -> bool:
    """As the endpoint finds out."""
    allowed = credential.holds("memory_read", "memory_write") and credential.spec.authority.covers(scope)
    return scope.well_formed() and allowed


def decided(ledger: Ledger, submissions: Sequence[MemorySubmission], clock: Clock) -> None:
    """From submissions to answers: what the writer does, and the encoding of what it answers."""
    database = ledger._database
    group = Group(database.store, SystemEntropy(), ledger.clock.millis())
    outcomes = clock.of("decide and project", lambda: [group.decide(one) for one in submissions])
    assert group.accepted == len(submissions), outcomes
    position = clock.of("position", lambda: group.position_after(database.position))
    row = rows.seal(keys.POSITION, rows.POSITION.encode(position))
    staged = clock.of("seal the rows", group.staged.rows)
    clock.of("write the batch", lambda: database.store.write({**staged, keys.POSITION: row}))
    clock.of("sync", database.store.sync)
    watermark = database._watermark
    assert watermark is not None
    clock.of("watermark", lambda: watermark.write(position.position, position.digest))
    clock.of("publish", lambda: database.store.publish(position))
    database.position = position
    clock.of(
        "encode the answer",
        lambda: [encoded(RelationCommandAnswer(contract_version=1, receipt=one)) for one in outcomes],  # type: ignore[arg-type] # all were accepted
    )


if __name__ == "__main__":
    main()
