"""Gives a ledger judgment commands and holds every answer against the book, which then learns what came of them."""

from __future__ import annotations

from itertools import count
from typing import Any

from crash_tests.judgment_model import record_rules, rules
from crash_tests.judgment_model.expected_state import Book
from crash_tests.judgment_model.rules import RelationChange
from relatum.clock import ManualClock
from relatum.core.candidates import Opened, Orphaned, Resumed
from relatum.core.commands import RecordOperation, SaveRecord
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Author
from relatum.core.judgments import (
    Comparing,
    Confirming,
    Judging,
    Judgment,
    JudgmentOperation,
    Submitting,
    Sweeping,
    Undoing,
)
from relatum.core.receipts import Receipt, RecordReceipt, RelationReceipt
from relatum.core.stored_judgments import PairsSubmitted, SweepRun, VerdictGiven
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.reads.judgments import surfaced
from tests.judgments.model.finding import similar
from tests.model.words import CONFLICT
from tests.support.builders import PARTITION

Given = tuple[Author, str, Any, Any]
"""A command that was accepted: whose, under which key, and what was answered."""


class Driver:
    """One partition of a ledger, and the book that goes with it."""

    def __init__(self, ledger: Ledger, clock: ManualClock) -> None:
        self.ledger = ledger
        self.clock = clock
        self.book = Book()
        self.given: list[Given] = []
        self._keys = count(1)

    @property
    def now(self) -> int:
        """By which is judged what holds now."""
        return self.clock.millis()

    @property
    def commit_time(self) -> int:
        """With which the next command is stamped: commit times do not run backwards when the clock does."""
        return max(self.now, self.book.latest)

    def key(self) -> str:
        return f"key {next(self._keys)}"

    # Records and relations

    def record(self, author: Author, operation: RecordOperation) -> None:
        """Any command on a record but a save."""
        at, expected = self.commit_time, record_rules.record_trouble(self.book, operation)
        receipt = self._submit(author, operation, expected)
        if receipt is not None:
            assert isinstance(receipt, RecordReceipt)
            record_rules.change_record(self.book, operation, receipt.record_id, at)

    def save(self, author: Author, operation: SaveRecord) -> None:
        """A save: its slot, what it has surfaced, and the order of that."""
        at, book, record = self.commit_time, self.book, operation.record
        occupant = book.holder(record.topic_key)
        memory = (record.type or "memory") == "memory"
        expected = similar(book, record.content, record.topic_key) if memory else {}
        receipt = self._submit(author, operation, record_rules.record_trouble(book, operation))
        if receipt is None:
            return
        assert isinstance(receipt, RecordReceipt)
        sheet = book.sheets[receipt.record_id] = record_rules.sheet_of(record, receipt.record_id, at)
        most = 5 if operation.candidates_max is None else operation.candidates_max
        with self.ledger.view() as view:
            partition = view.partition(PARTITION)
            answer = surfaced(partition, receipt.commit_sequence)
            event = partition.event(receipt.commit_sequence)
        assert len(expected) == answer.detected
        best = sorted(expected.values(), reverse=True)[:most]
        assert [round(one, 6) for one in best] == [one.similarity for one in answer.candidates]
        for one in answer.candidates:
            found = book.sheets[one.target_id]
            assert round(expected.pop(one.target_id), 6) == one.similarity
            assert (found.title, found.content[:200], found.topic) == (one.title, one.snippet, one.topic_key)
        brought = event.consequences if event is not None else None
        opened = [one for one in brought.candidates if isinstance(one, Opened)] if brought else []
        pairs = [rules.open_pair(book, one, at) for one in opened]
        assert [one.candidate_id for one in answer.candidates] == [one.id for one in pairs if one.channel == "lexical"]
        assert all((sheet.id, 1) == (one.source.record_id, one.source.revision) for one in pairs)
        taken = [one for one in pairs if one.channel == "topic_key"]
        assert len(taken) == (occupant is not None)
        if occupant is not None:
            assert brought is not None
            [part] = brought.relations
            record_rules.take_slot(book, sheet, occupant, taken[0], part.relation_id, author)

    def relation(self, author: Author, operation: RelationChange) -> None:
        """A change of a relation that a verdict has made."""
        receipt = self._submit(author, operation, rules.relation_trouble(self.book, operation))
        if receipt is not None:
            rules.change_relation(self.book, operation)

    def _submit(self, author: Author, operation: Any, expected: str | None) -> Receipt | None:
        at, key = self.commit_time, self.key()
        answer = self.ledger.submit(self.ledger.command(PARTITION, author, key, operation))
        if not _accepted(answer, expected):
            return None
        assert isinstance(answer, RecordReceipt | RelationReceipt)
        assert (at, author) == (answer.committed_at_millis, answer.author)
        self.book.latest = at
        self.given.append((author, key, operation, answer))
        return answer

    # Judgments

    def judge(self, author: Author, judgments: tuple[Judgment, ...]) -> None:
        """A batch, whose items are accepted and refused one after another."""
        at = self.commit_time
        events = self._judged(author, Judging(judgments=judgments), None)
        assert events is not None
        for judgment, event in zip(judgments, events, strict=True):
            assert isinstance(event.operation, VerdictGiven)
            expected = rules.judgment_trouble(self.book, judgment)
            refused = event.operation.refused
            assert expected == (None if refused is None else refused.code)
            if refused is None:
                assert event.receipt is not None
                ends = self.book.pairs[judgment.candidate_id].ends
                rules.give_verdict(self.book, judgment, ends, event.receipt.relation_id, author, at)

    def compare(self, author: Author, operation: Comparing) -> None:
        """A verdict on two records."""
        at, given = self.commit_time, operation.comparison
        events = self._judged(author, operation, rules.comparison_trouble(self.book, given))
        if events is not None:
            [event] = events
            assert event.receipt is not None
            ends = given.source_id, given.target_id
            rules.give_verdict(self.book, given, ends, event.receipt.relation_id, author, at)

    def submit(self, author: Author, operation: Submitting) -> None:
        """Pairs of somebody else's detector."""
        at = self.commit_time
        events = self._judged(author, operation, rules.submission_trouble(self.book, operation))
        if events is None:
            return
        [event] = events
        assert isinstance(event.operation, PairsSubmitted)
        opened = [one for one in event.consequences.candidates if isinstance(one, Opened)] if event.consequences else []
        fresh = iter(opened)
        for given, candidate_id in zip(operation.candidates, event.operation.candidate_ids, strict=True):
            known = self.book.pending_between(given.source, given.target)
            if known is None:
                known = rules.open_pair(self.book, next(fresh), at)
                ends = self.book.sheets[given.source].ref, self.book.sheets[given.target].ref
                assert ("submitted", given.similarity or 0.0) == (known.channel, known.similarity)
                assert ends == (known.source, known.target)
            assert known.id == candidate_id
        assert next(fresh, None) is None

    def sweep(self, author: Author) -> None:
        """A run on demand."""
        due = self.book.overdue(self.now)
        events = self._judged(author, Sweeping(), None)
        assert events is not None
        self._swept(events[0], [pair.id for pair in due], author)

    def sweep_by_timer(self) -> None:
        """A run of the timer, which commits nothing where nothing is due."""
        at, due = self.commit_time, self.book.overdue(self.now)
        assert len(due) == self.ledger.judgments.sweep_due()
        if not due:
            return
        self.book.latest = at
        with self.ledger.view() as view:
            partition = view.partition(PARTITION)
            event = partition.event(partition.head().sequence)
        assert isinstance(event, JudgmentEvent)
        self._swept(event, [pair.id for pair in due], None)

    def _swept(self, event: JudgmentEvent, due: list[str], author: Author | None) -> None:
        assert isinstance(event.operation, SweepRun)
        assert event.consequences is not None
        found = [one for one in event.consequences.candidates if isinstance(one, Orphaned)]
        assert due == [one.candidate_id for one in found]
        self.book.runs[event.operation.run_id] = [(one.operation_id, one.candidate_id) for one in found]
        for one in found:
            rules.orphan(self.book.pairs[one.candidate_id], one.operation_id, author)

    def undo(self, author: Author, operation: Undoing) -> None:
        """An undo of a run, or of one operation."""
        at, expected = self.commit_time, rules.resumable(self.book, operation)
        events = self._judged(author, operation, expected if isinstance(expected, str) else None)
        if events is None:
            return
        assert not isinstance(expected, str)
        assert events[0].consequences is not None
        resumed = [one.candidate_id for one in events[0].consequences.candidates if isinstance(one, Resumed)]
        assert [pair.id for pair in expected] == resumed
        for pair in expected:
            rules.resume(pair, at)

    def confirm(self, author: Author, operation: Confirming) -> None:
        """Confirmations, all or nothing."""
        at = self.commit_time
        if self._judged(author, operation, rules.confirmation_trouble(self.book, operation)) is not None:
            rules.confirm(self.book, operation, at)

    def _judged(self, author: Author, operation: JudgmentOperation, expected: str | None) -> list[JudgmentEvent] | None:
        at, key = self.commit_time, self.key()
        answer = self.ledger.judgments.submit(PARTITION, author, key, operation)
        if not _accepted(answer, expected):
            return None
        assert isinstance(answer, list)
        events = [event for event in answer if isinstance(event, JudgmentEvent)]
        assert len(events) == len(answer)
        assert {(at, author)} == {(event.committed_at_millis, event.author) for event in events}
        self.book.latest = at
        self.given.append((author, key, operation, answer))
        return events

    # The same keys again

    def replay(self, number: int) -> None:
        """A command that was accepted, again."""
        if self.given:
            author, key, operation, answer = self.given[number % len(self.given)]
            assert answer == self._again(author, key, operation)

    def use_a_key_again(self, number: int, other: int) -> None:
        """Another command of the same family under an old key."""
        if not self.given:
            return
        author, key, operation, _ = self.given[number % len(self.given)]
        _, _, another, _ = self.given[other % len(self.given)]
        if _family(operation) == _family(another) and operation != another:
            answer = self._again(author, key, another)
            assert isinstance(answer, Refusal)
            assert CONFLICT == answer.code

    def _again(self, author: Author, key: str, operation: Any) -> Any:
        if _family(operation) == "judgment":
            return self.ledger.judgments.submit(PARTITION, author, key, operation)
        return self.ledger.submit(self.ledger.command(PARTITION, author, key, operation))


def _accepted(answer: object, expected: str | None) -> bool:
    """Whether a command was accepted, which it must have been unless `expected` is why not."""
    if expected is not None:
        assert isinstance(answer, Refusal), (expected, answer)
        assert expected == answer.code
        return False
    assert not isinstance(answer, Refusal), answer
    return True


def _family(operation: object) -> str:
    if isinstance(operation, JudgmentOperation):
        return "judgment"
    return "relation" if isinstance(operation, RelationChange) else "record"
