"""What clients sent and were told, and what the ledger has shown to have happened, event by event.

What always holds: each event is a command that somebody sent, that nobody was refused, and that makes sense after the
events before it; its receipt is the one that acknowledged it. What a view has shown is in every later one, to the
digest; and a view that is taken after an acknowledgement shows what was acknowledged.
"""

from __future__ import annotations

from typing import assert_never

import msgspec

from crash_tests.history import Command, Desk, Family, History, Stream
from crash_tests.inspection.claims import Key, items_of
from crash_tests.simulation.credentials import Badges
from crash_tests.simulation.environment import JudgedInstants
from crash_tests.simulation.partition_model import Chapter
from crash_tests.simulation.trace import Trace
from crash_tests.violation import Violation, require, require_same
from relatum.core import digests
from relatum.core.cursors import CheckpointReceipt
from relatum.core.events import (
    ActivationEvent,
    CheckpointEvent,
    CredentialEvent,
    Event,
    FoundEvent,
    JudgmentEvent,
    LinkEvent,
    RecordEvent,
    RelationEvent,
)
from relatum.core.ids import Partition, company_partition
from relatum.core.links import LinkReceipt
from relatum.core.receipts import RecordReceipt, RelationReceipt
from relatum.core.stored_judgments import VerdictGiven
from relatum.core.streams import RECORDS, RELATIONS
from relatum.core.streams import Stream as StreamName
from relatum.store import rows
from relatum.store.partition import PartitionReader
from relatum.store.view import LedgerView

AnyReceipt = RecordReceipt | RelationReceipt | LinkReceipt | CheckpointReceipt
Answer = AnyReceipt | list[JudgmentEvent]
"""What a command is answered with: a judgment, with an event for each of its items."""

KeyedEvent = RecordEvent | RelationEvent | FoundEvent | LinkEvent | CheckpointEvent | JudgmentEvent
"""What comes of a command that has an idempotency key."""

STREAM_NAMES: dict[Stream, StreamName] = {"record": RECORDS, "relation": RELATIONS}


class Story:
    """Everything known of one store. `unseen` are acknowledged commands that no view has shown yet."""

    def __init__(self, company_id: str, desks: list[Desk], trace: Trace) -> None:
        self.history = History()
        self.badges = Badges()
        self.wished: set[tuple[Partition, StreamName]] = set()
        """Streams that somebody asked to be activated."""
        self.unseen: dict[Key, Command] = {}
        self.seen: dict[Key, Command] = {}
        self.judged = JudgedInstants()
        self.company = Chapter(company_partition(company_id))
        self.chapters = {desk.partition: Chapter(desk.partition) for desk in desks}
        self._trace = trace
        self._sent: dict[tuple[Key, str], Command] = {}
        self._attempts: dict[Command, int] = {}
        self._floors: dict[Command, tuple[int, int]] = {}
        self._items: dict[Command, list[JudgmentEvent]] = {}
        """Judgments of which a view has shown some items."""
        self._activated: dict[tuple[Partition, StreamName], str] = {}
        self._told_millis = 0

    def chapter(self, desk: Desk) -> Chapter:
        """The partition of a desk."""
        return self.chapters[desk.partition]

    # What clients do

    def send(self, command: Command, command_digest: str) -> int:
        """A command is about to be sent; the number of the attempt."""
        if command not in self._attempts:
            self.history.enter(command)
            self._sent[command.key, command_digest] = command
            self._floors[command] = self.chapter(command.desk).acknowledged, self._told_millis
        self._attempts[command] = self._attempts.get(command, 0) + 1
        self._trace.note(f"{command.name} is sent")
        return self._attempts[command]

    def accept(self, command: Command, answer: Answer) -> None:
        """It was answered with a receipt."""
        told = msgspec.json.encode(answer)
        self._trace.note(f"{command.name} is acknowledged")
        self._trace.mix(told)
        self.history.accept(command, told)
        if command.key not in self.seen:
            self.unseen[command.key] = command
        if command in self._floors:
            self._check_order(command, answer, *self._floors.pop(command))

    def _check_order(self, command: Command, answer: Answer, sequence: int, millis: int) -> None:
        """What was acknowledged before a command was sent came before it."""
        if isinstance(answer, CheckpointReceipt):
            at_millis = answer.checkpoint.updated_at_millis
        else:
            chapter = self.chapter(command.desk)
            if isinstance(answer, list):
                own, at_millis = answer[0].sequence, answer[0].committed_at_millis
            else:
                own, at_millis = answer.commit_sequence, answer.committed_at_millis
                chapter.sight.learn(command)
            require(own > sequence, f"{command.name} took place before one that came before it")
            chapter.acknowledged = max(chapter.acknowledged, own)
        require(at_millis >= millis, f"{command.name} was committed earlier than one that came before it")
        self._told_millis = max(self._told_millis, at_millis)

    def is_taken(self, command: Command) -> bool:
        """Whether another command was accepted under its key."""
        other = self.seen.get(command.key) or self.unseen.get(command.key)
        return other is not None and other is not command

    def activated(self, desk: Desk, stream: StreamName, journal_id: str) -> None:
        """A stream is said to be active."""
        known = self._activated.setdefault((desk.partition, stream), journal_id)
        require_same(f"the journal of {stream}", known, journal_id)

    def refuse(self, command: Command, attempt: int) -> None:
        """It was refused; which settles it unless it was sent again since, and the state may have moved."""
        self._trace.note(f"{command.name} is refused")
        if attempt == self._attempts[command]:
            self.history.refuse(command)

    # What the ledger shows

    def look(self, view: LedgerView) -> None:
        """Whatever is new in a view that was just taken; everything that was acknowledged before must be in it."""
        for chapter in (self.company, *self.chapters.values()):
            self._advance(chapter, view.partition(chapter.partition))
        for command in self._items:
            raise Violation(f"a view shows a part of {command.name}")
        for command in self.unseen.values():
            raise Violation(f"{command.name} was acknowledged, and a view taken afterwards does not show it")
        self.badges.require_all_seen()
        for (partition, stream), journal_id in self._activated.items():
            require_same(f"the journal of {stream}", journal_id, self.chapters[partition].journals.get(stream))
        position = view.position
        assert isinstance(position, rows.Position)
        events = self.company.sequence + sum(chapter.sequence for chapter in self.chapters.values())
        require_same("how many events the published position counts", events, position.position)

    def _advance(self, chapter: Chapter, reader: PartitionReader) -> None:
        head = reader.head()
        require(head.sequence >= chapter.sequence, f"a view shows {head.sequence} events after {chapter.sequence}")
        for sequence in range(chapter.sequence + 1, head.sequence + 1):
            body = reader.body(reader.keys.event(sequence))
            require(body is not None, f"event {sequence} is missing")
            assert body is not None
            event = rows.EVENT.decode(body)
            require(event.sequence == sequence, f"event {sequence} calls itself {event.sequence}")
            require(event.previous == chapter.digest, f"event {sequence} does not follow the one before it")
            require(event.committed_at_millis >= chapter.at_millis, f"event {sequence} was committed before its past")
            self._enter(chapter, event)
            chapter.sequence, chapter.digest = sequence, digests.event_digest(body)
            chapter.at_millis = event.committed_at_millis
        require(head.event_digest == chapter.digest, "what a view has shown is not what another one shows")

    def _enter(self, chapter: Chapter, event: Event) -> None:
        for stream, journal_id in event.journal_ids.items():
            require(stream not in chapter.journals, f"the stream {stream} was activated twice")
            chapter.journals[stream] = journal_id
        match event:
            case CredentialEvent():
                self.badges.enter(event)
            case ActivationEvent():
                asked = (chapter.partition, event.stream) in self.wished
                require(asked, f"the stream {event.stream} was activated, and nobody had asked for it")
            case CheckpointEvent():
                command = self._command_of(chapter, event)
                self._happened(command, event.receipt)
                assert command.owner is not None
                chapter.save(command, command.owner)
            case RecordEvent() | RelationEvent() | FoundEvent() | LinkEvent():
                command = self._command_of(chapter, event)
                self._happened(command, event.receipt)
                chapter.enter(command, event, self._judged_at(chapter, event))
                require_same(f"the place of {command.name}", event.sequence, event.receipt.commit_sequence)
            case JudgmentEvent():
                self._enter_judgment(chapter, event)
            case _:
                assert_never(event)

    def _judged_at(self, chapter: Chapter, event: KeyedEvent) -> int:
        """By which instant an event was judged: no later than that of its commit."""
        at_millis = self.judged.of(digests.workspace_id(chapter.partition), event.sequence)
        require(at_millis <= event.committed_at_millis, f"event {event.sequence} was judged after its commit")
        return at_millis

    def _command_of(self, chapter: Chapter, event: KeyedEvent) -> Command:
        """The command that an event came of."""
        family, idempotency_key, digest = _identified(event)
        key = (chapter.partition, family, event.author.subject_id, idempotency_key)
        command = self._sent.get((key, digest))
        if command is None:
            raise Violation(f"event {event.sequence} is a {family} command that nobody sent")
        require(key not in self.seen, f"{command.name} happened twice")
        require(not command.refused, f"{command.name} was refused, and it happened")
        return command

    def _happened(self, command: Command, answer: Answer) -> None:
        """All of a command is there."""
        self.history.accept(command, msgspec.json.encode(answer))
        self.seen[command.key] = command
        self.unseen.pop(command.key, None)

    def _enter_judgment(self, chapter: Chapter, event: JudgmentEvent) -> None:
        """A judgment, or the next item of a batch."""
        command = self._command_of(chapter, event)
        items, known = items_of(command.operation), self._items.setdefault(command, [])
        item = event.operation.index if isinstance(event.operation, VerdictGiven) else None
        require_same(f"which judgment of {command.name} comes next", items[len(known)], item)
        known.append(event)
        chapter.enter(command, event, self._judged_at(chapter, event))
        receipt = event.receipt or event.judgment_receipt
        if receipt is not None:
            require_same(f"the place of {command.name}", event.sequence, receipt.commit_sequence)
            require_same(f"the key of {command.name}", command.idempotency_key, receipt.idempotency_key)
        if len(known) == len(items):
            del self._items[command]
            self._happened(command, known)


def _identified(event: KeyedEvent) -> tuple[Family, str, str]:
    """Family, key and digest of the command that an event came of."""
    match event:
        case CheckpointEvent(receipt=receipt, command_digest=digest):
            return "checkpoint", receipt.idempotency_key, digest
        case JudgmentEvent(idempotency_key=key, command_digest=digest):
            return "judgment", key, digest
        case RecordEvent(receipt=recorded):
            return "record", recorded.idempotency_key, recorded.command_digest
        case RelationEvent(receipt=related) | FoundEvent(receipt=related):
            return "relation", related.idempotency_key, related.command_digest
        case LinkEvent(receipt=linked):
            return "link", linked.idempotency_key, linked.command_digest
