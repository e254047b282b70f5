"""Clients: they send commands alone and in batches, give up waiting, send again, and now and then misuse a key.

What always holds: what a client is told is entered in the story, also when it has stopped waiting for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from random import Random

from crash_tests.curation import Curator
from crash_tests.history import Command, Desk, Family, Json
from crash_tests.simulation.machine import Machine
from crash_tests.simulation.observations import STREAM_NAMES, Answer, Story
from crash_tests.simulation.partition_model import operation_of
from crash_tests.simulation.requests import Unanswered
from crash_tests.violation import Violation, require
from relatum.core import digests
from relatum.core.decide.saves import Detected, Hit
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Author as Signature
from relatum.core.judgments import JudgmentOperation
from relatum.errors import Failure, Refusal, StorageFailure, WriteBusy, WritesRefused
from relatum.ledger import Ledger
from relatum.ledger.writer.submission import MemorySubmission, RecordSubmission

SIMILARITY = 0.5
_BATCH_MAX = 4
_GROUND_RECORDS = 4
_PAUSE_SECONDS = 0.004
_OF_STATE = {"invalid_request", "record_not_found", "revision_conflict"}
_OF_JUDGMENTS = _OF_STATE | {"candidate_not_found"}
_JUDGING = 0.2
_UNDOING = 0.6
"""So much of what is judged while a sweep can be undone is to undo it: sweeps that find something are rare."""
_TENDING = 0.3
"""So much of what is done to records and relations is to save, to link, or to change a standing."""


class Client:
    """One client at its desks."""

    def __init__(self, machine: Machine, story: Story, random: Random, desks: Sequence[Desk]) -> None:
        self._machine = machine
        self._story = story
        self._random = random
        self._desks = desks
        self._own: list[Command] = []

    async def lay_ground(self) -> None:
        """Some records in every partition, so that there is something to be about."""
        for desk in {desk.partition: desk for desk in self._desks}.values():
            for _ in range(_GROUND_RECORDS):
                self._made(desk, *self._curator(desk).creation())
        while unknown := [command for command in self._own if command.unknown]:
            await self._machine.pause(_PAUSE_SECONDS)
            await self._send(unknown)

    async def work(self, turns: int) -> None:
        """So many turns."""
        for _ in range(turns):
            await self._machine.pause(_PAUSE_SECONDS)
            await self._turn()

    async def resolve(self) -> None:
        """Sends everything again of which nobody knows what became of it, until that is known."""
        for command in self._own:
            while command.unknown:
                await self._send([command])
                await self._machine.pause(_PAUSE_SECONDS)

    async def _turn(self) -> None:
        random, chosen = self._random, self._random.random()
        unknown = [command for command in self._own if command.unknown]
        if unknown and chosen < 0.5:
            await self._send(unknown[-_BATCH_MAX:] if random.random() < 0.5 else [random.choice(unknown)])
        elif self._own and chosen < 0.12:
            told = random.choice(self._own)
            await self._send([self._thought_of(told.desk) if told.refused else told])
        elif self._own and chosen < 0.18:
            await self._reuse_key(random.choice(self._own))
        elif chosen < 0.21:
            await self._activate(random.choice(self._desks))
        elif chosen < 0.21 + _JUDGING:
            await self._send([self._judgment(random.choice(self._desks))])
        else:
            desk = random.choice(self._desks)
            count = 1 if random.random() < 0.5 else random.randint(2, _BATCH_MAX)
            await self._send([self._thought_of(desk) for _ in range(count)])

    def _curator(self, desk: Desk) -> Curator:
        return Curator(self._random, self._story.chapter(desk).sight)

    def _thought_of(self, desk: Desk) -> Command:
        curator = self._curator(desk)
        family, operation = curator.tending() if self._random.random() < _TENDING else curator.operation()
        command = self._made(desk, family, operation)
        if operation["type"] == "save":
            command.hits = tuple(curator.hits())
        return command

    def _judgment(self, desk: Desk) -> Command:
        return self._made(desk, "judgment", self._opinion(desk))

    def _opinion(self, desk: Desk) -> Json:
        book = self._story.chapter(desk).book
        pending = [pair.id for pair in book.oldest("pending")]
        swept: list[Json] = [{"run_id": run} for run, orphaned in book.runs.items() if orphaned]
        swept += [{"operation_id": one} for orphaned in book.runs.values() for one, _ in orphaned]
        if book.oldest("orphaned") and self._random.random() < _UNDOING:
            return {"type": "undo", **self._random.choice(swept)}
        return self._curator(desk).judgment(pending, swept)

    def _made(self, desk: Desk, family: Family, operation: Json) -> Command:
        command = Command(desk, family, self._story.history.fresh_key(), operation)
        self._own.append(command)
        return command

    async def _send(self, commands: list[Command]) -> None:
        """Waits for the answers, or not so long."""
        patience = None if self._random.random() < 0.7 else self._random.random() * 3 * _PAUSE_SECONDS
        with suppress(Unanswered):
            await self._machine.ask(lambda ledger: self._submit(ledger, commands), patience)

    async def _submit(self, ledger: Ledger, chosen: list[Command]) -> None:
        """Sends what was chosen, but for what an earlier request of this client has been refused meanwhile."""
        left = [command for command in chosen if not command.refused]
        await self._submit_memory(ledger, [command for command in left if command.family != "judgment"])
        for command in left:
            if command.family == "judgment":
                await self._submit_judgment(ledger, command)

    async def _submit_memory(self, ledger: Ledger, commands: list[Command]) -> None:
        submissions = [_submission(ledger, command) for command in commands]
        attempts = [
            self._story.send(command, submission.command_digest)
            for command, submission in zip(commands, submissions, strict=True)
        ]
        with suppress(WriteBusy, WritesRefused):
            outcomes = await ledger.submit_async(submissions)
            for command, attempt, outcome in zip(commands, attempts, outcomes, strict=True):
                if isinstance(outcome, StorageFailure):
                    raise outcome  # as where nothing was taken before it
                if not isinstance(outcome, WriteBusy | WritesRefused):  # behind saves that were taken
                    self._told(command, attempt, outcome)

    async def _submit_judgment(self, ledger: Ledger, command: Command) -> None:
        desk, operation = command.desk, operation_of(command)
        assert isinstance(operation, JudgmentOperation)
        with ledger.view() as view:
            attempt = self._story.send(command, digests.judgment_command_digest(operation, view.store_key))
        with suppress(WriteBusy, WritesRefused):
            outcome = await ledger.judgments.submit_async(
                desk.partition, signature(desk), command.idempotency_key, operation
            )
            if isinstance(outcome, Refusal):
                self._told(command, attempt, outcome)
                return
            failures = [one for one in outcome if isinstance(one, Failure)]
            events = [one for one in outcome if isinstance(one, JudgmentEvent)]
            self._told(command, attempt, failures[0] if failures else events)

    def _told(self, command: Command, attempt: int, outcome: Answer | Refusal | Failure) -> None:
        if isinstance(outcome, Failure):
            raise Violation(f"{command.name} was answered: {outcome!r}")
        if not isinstance(outcome, Refusal):
            self._story.accept(command, outcome)
            return
        fitting = _OF_JUDGMENTS if command.family == "judgment" else _OF_STATE
        codes = {"idempotency_conflict"} if self._story.is_taken(command) else fitting
        require(outcome.code in codes, f"{command.name} was refused with {outcome.code}")
        self._story.refuse(command, attempt)

    async def _reuse_key(self, taken: Command) -> None:
        """Another command under a used key: never accepted, unless the first one was refused."""
        family, operation = self._curator(taken.desk).operation()
        if taken.family == "judgment":
            family, operation = "judgment", self._opinion(taken.desk)
        if not taken.unknown and family == taken.family and operation != taken.operation:
            await self._send([Command(taken.desk, family, taken.idempotency_key, operation)])

    async def _activate(self, desk: Desk) -> None:
        stream = self._random.choice(list(STREAM_NAMES.values()))

        async def ask(ledger: Ledger) -> None:
            self._story.wished.add((desk.partition, stream))
            with suppress(WriteBusy, WritesRefused):
                tip = await ledger.activate_async(desk.partition, signature(desk), stream)
                self._story.activated(desk, stream, tip.journal_id)

        with suppress(Unanswered):
            await self._machine.ask(ask)


def signature(desk: Desk) -> Signature:
    """How commands of a desk are signed."""
    return Signature(credential_id=desk.account.credential_id, subject_id=desk.account.subject_id)


def _submission(ledger: Ledger, command: Command) -> MemorySubmission:
    operation = operation_of(command)
    assert not isinstance(operation, JudgmentOperation)
    desk = command.desk
    submission = ledger.command(desk.partition, signature(desk), command.idempotency_key, operation)
    if isinstance(submission, RecordSubmission):
        return submission._replace(detected=Detected(tuple(Hit(found, SIMILARITY) for found in command.hits)))
    return submission
