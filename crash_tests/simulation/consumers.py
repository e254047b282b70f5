"""Consumers of change streams: they take pages, with cursors and fences, and save how far they have come.

What always holds: whether a checkpoint command must be accepted, or with what refused, is known before it is sent. One
whose outcome is unknown is sent again, and nothing else, until it is settled.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random

import msgspec

from crash_tests.consumers.consumer import Consumer
from crash_tests.consumers.page_reader import take_page
from crash_tests.consumers.stream_history import Heard
from crash_tests.history import Command, Json, Owner
from crash_tests.simulation.clients import signature
from crash_tests.simulation.machine import Machine
from crash_tests.simulation.observations import STREAM_NAMES, Story
from crash_tests.simulation.requests import Unanswered
from crash_tests.violation import require, require_same
from relatum.core import digests
from relatum.core.cursors import CheckpointCommand
from relatum.core.feeds import PageQuery
from relatum.errors import Refusal, WriteBusy, WritesRefused
from relatum.ledger import Ledger
from relatum.ledger.reads import changes, checkpoints
from relatum.store.view import LedgerView

_PAUSE_SECONDS = 0.006
_ANOTHER_HISTORY = "0" * 64


class Follower:
    """One consumer of one stream, and what it knows."""

    def __init__(self, machine: Machine, story: Story, random: Random, owner: Owner, heard: Heard) -> None:
        self._machine = machine
        self._story = story
        self._random = random
        self._stream = STREAM_NAMES[owner.stream]
        self._consumer = Consumer(owner, heard)
        self._doubt: Command | None = None

    async def work(self, turns: int) -> None:
        """So many turns."""
        for _ in range(turns):
            await self._machine.pause(_PAUSE_SECONDS)
            await self._turn()

    async def resolve(self) -> None:
        """Sends the command in doubt until it is settled."""
        while self._doubt is not None:
            await self._send(self._doubt)
            await self._machine.pause(_PAUSE_SECONDS)

    def look(self, view: LedgerView) -> None:
        """Takes everything that the stream tells from where it stands, and reads what it has saved."""
        self._read(view, limit=256, through=None)
        owner = self._consumer.owner
        reader = view.partition(owner.desk.partition)
        found = checkpoints.read(reader, self._stream, owner.desk.account.subject_id, owner.consumer_id)
        saved = None if isinstance(found, Refusal) else msgspec.to_builtins(found)
        require_same(f"what {self._consumer.name} has saved", self._consumer.checkpoint, saved)

    async def _turn(self) -> None:
        consumer, chosen = self._consumer, self._random.random()
        if self._doubt is not None:
            await self._send(self._doubt)
        elif chosen < 0.5:
            view = self._machine.view()
            if view is not None:
                with view:
                    self._story.look(view)
                    self._read(view, self._random.choice((1, 3, 256)), self._some_fence())
        elif chosen < 0.55 and consumer.saved:
            await self._send(self._random.choice(consumer.saved))
        else:
            command = self._thought_of()
            if command is not None:
                await self._send(command)

    # Pages

    def _some_fence(self) -> Json | None:
        heard = self._consumer.heard
        return heard.cursor_at(max(self._consumer.sequence, heard.last)) if self._random.random() < 0.2 else None

    def _read(self, view: LedgerView, limit: int, through: Json | None) -> None:
        consumer = self._consumer
        query: Json = {"after": consumer.place, "limit": limit, "through": through}
        partition = consumer.owner.desk.partition
        window = msgspec.convert(query, PageQuery)
        page = changes.page(view.partition(partition), self._stream, window, limit)
        require(not isinstance(page, Refusal), f"a page of {consumer.name} was refused: {page}")
        told = self._story.chapters[partition].told[consumer.owner.stream]
        start = consumer.sequence
        found: Json = msgspec.json.decode(msgspec.json.encode(page))
        take_page(consumer, query, found, 0 if through else len(told))
        expected = told[start : start + len(found["changes"])]
        require_same(f"what {consumer.name} is told", expected, [one["change"] for one in found["changes"]])

    # Checkpoints

    def _thought_of(self) -> Command | None:
        """The next command, sound in four of five cases; None where there is nothing to save yet."""
        consumer, random, chosen = self._consumer, self._random, self._random.random()
        cursor = consumer.place or consumer.heard.baseline
        if cursor is None:
            return None
        before = consumer.checkpoint
        operation: Json = {"type": "advance", "cursor": cursor}
        if chosen < 0.12:
            operation["cursor"] = consumer.heard.some_cursor(random) or cursor
        if chosen < 0.06 and before is not None:
            operation |= {"type": "reconcile", "evidence_ref": "decision 3"}
        elif 0.12 <= chosen < 0.16:
            operation["cursor"] = {**cursor, "prefix_digest": _ANOTHER_HISTORY}
        elif 0.16 <= chosen < 0.20 and consumer.saved:
            before = random.choice(consumer.saved).before
        key = self._story.history.fresh_key()
        return Command(consumer.owner.desk, "checkpoint", key, operation, owner=consumer.owner, before=before)

    async def _send(self, command: Command) -> None:
        if command not in self._consumer.saved:
            self._doubt = command
        with suppress(Unanswered):
            await self._machine.ask(lambda ledger: self._submit(ledger, command))

    async def _submit(self, ledger: Ledger, command: Command) -> None:
        consumer, saving = self._consumer, _saving(command)
        attempt = self._story.send(command, digests.checkpoint_command_digest(self._stream, saving))
        desk, is_news = command.desk, command not in consumer.saved
        with suppress(WriteBusy, WritesRefused):
            outcome = await ledger.save_checkpoint_async(desk.partition, signature(desk), self._stream, saving)
            if isinstance(outcome, Refusal):
                require_same(f"the refusal of {command.name}", consumer.refusal_of(command), outcome.code)
                self._story.refuse(command, attempt)
            else:
                self._story.accept(command, outcome)
                if is_news:
                    consumer.learn(command)
            self._doubt = None


def _saving(command: Command) -> CheckpointCommand:
    assert command.owner is not None
    before = command.before
    asked: Json = {
        "contract_version": 1,
        "idempotency_key": command.idempotency_key,
        "consumer_id": command.owner.consumer_id,
        "expected_revision": before["revision"] if before else 0,
        "expected_checkpoint_digest": before["checkpoint_digest"] if before else None,
        "operation": command.operation,
    }
    return msgspec.convert(asked, CheckpointCommand)
