"""A state machine that gives a ledger commands of every sort and holds every answer against the oracle."""

from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from relatum.clock import ManualClock
from relatum.core.commands import CreateRecord, DeriveRecord, ReviseRecord
from relatum.core.ids import Author, Ref
from relatum.core.receipts import RecordReceipt, RelationReceipt
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.store.view import LedgerView
from tests.model.comparing import Comparison
from tests.model.oracle import Oracle
from tests.support import builders
from tests.support.builders import ADA, BOB, PARTITION, START_MILLIS, unknown_id
from tests.support.steps import Operation
from tests.support.stores import assert_rebuilds

AUTHORS = st.sampled_from([ADA, BOB])
DISPOSITIONS: Any = st.sampled_from(["approved", "rejected", "unreviewed"])
KINDS: Any = st.sampled_from(["supports", "supports", "contradicts", "temporal_before", "authored_by"])
NUMBERS = st.integers(0, 99)
TOPICS = st.sampled_from([None, None, "tides", "currents"])
TICK = 10  # times and clocks move by ticks, so that they often meet: an instant itself is where rules are told apart
TIMES = st.none() | st.integers(0, 6).map(lambda ticks: START_MILLIS + TICK * ticks)
CONTENTS = st.sampled_from(["a fact", "another", "a third", "a fourth", "a fifth", "a sixth", " "])
MOSTLY_CURRENT = st.sampled_from([0, 0, 0, 0, 0, 0, 0, -1, 1])
RECORDS = st.builds(
    builders.record,
    content=CONTENTS,
    type=st.sampled_from(["memory", "memory", "memory", "memory", "person"]),
    title=st.sampled_from([None, "a title"]),
    topic_key=TOPICS,
    event_time_millis=st.none() | st.integers(-2, 2),
    valid_until_millis=st.none() | st.none() | TIMES,
)


class LedgerMachine(RuleBasedStateMachine):
    """Drives one partition. Subclasses say what the ledger lies on and how it is opened again."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock(START_MILLIS)
        self.oracle = Oracle()
        self.given: list[tuple[Author, str, Operation]] = []  # everything that was accepted
        self.keys = count(1)
        self.ledger = self.opened()

    def opened(self) -> Ledger:
        """The ledger, opened for the first time or again."""
        raise NotImplementedError

    def left(self) -> None:
        """Clears away what the ledger lay on."""

    # What to speak about: small numbers that are turned into whatever exists

    def some_record(self, number: int, drift: int = 0) -> Ref:
        """A record at its present revision or beside it: an eligible one, now and then any, or one that never was."""
        names = self.eligible()
        if number % 7 == 6 or not names:
            names = [*self.oracle.papers, unknown_id()]
        name = names[number // 7 % len(names)]
        paper = self.oracle.papers.get(name)
        return Ref(record_id=name, revision=max(0, (paper.revision if paper else 1) + drift))

    @property
    def now(self) -> int:
        """By which is judged what holds: the clock, wherever the last commit lies."""
        return self.clock.millis()

    @property
    def commit_time(self) -> int:
        return max(self.clock.millis(), self.oracle.latest)

    def eligible(self) -> list[str]:
        papers, now = self.oracle.papers.items(), self.now
        return [name for name, paper in papers if self.oracle.judge_paper(paper, now).reason is None]

    def some_relation(self, number: int, drift: int, *, retired: bool | None = None) -> tuple[str, int]:
        """A relation at its present revision or beside it: in the given state if there is one, seldom an unknown."""
        links = self.oracle.links
        names = [name for name, link in links.items() if link.now.retired is retired] or list(links)
        if number % 7 == 6 or not names:
            names = [unknown_id()]
        name = names[number // 7 % len(names)]
        link = self.oracle.links.get(name)
        return name, max(0, (link.revision if link else 1) + drift)

    # Commands

    def give(self, *commands: tuple[Author, str, Operation]) -> None:
        """Submits commands together and checks each answer as if it had been sent alone."""
        now, commit_time = self.now, self.commit_time
        batch = [self.ledger.command(PARTITION, author, key, operation) for author, key, operation in commands]
        answers = self.ledger.submit_all(batch)
        for (author, key, operation), answer in zip(commands, answers, strict=True):
            expected = self.oracle.expect(author, key, operation, now)
            if expected is None:
                assert isinstance(answer, RecordReceipt | RelationReceipt), answer
                assert (commit_time, author) == (answer.committed_at_millis, answer.author)
                assert sum(self.oracle.commands.values()) + 1 == answer.commit_sequence
                self.oracle.accept(author, key, operation, answer)
                self.given.append((author, key, operation))
            elif isinstance(expected, str):
                assert isinstance(answer, Refusal), answer
                assert expected == answer.code
            else:
                assert expected == answer

    def give_new(self, author: Author, operation: Operation) -> None:
        self.give((author, f"key-{next(self.keys)}", operation))

    @initialize(records=st.lists(RECORDS, min_size=2, max_size=2), kind=KINDS)
    def begin(self, records: list[Any], kind: Any) -> None:
        """A few records and relations, so that there is something to change from the first step on."""
        for content in ("one", "two", "three"):
            self.give_new(ADA, builders.create(content, event_time_millis=len(self.oracle.papers)))
        one, two, three = (Ref(record_id=name, revision=1) for name in self.oracle.papers)
        self.give_new(BOB, builders.assertion(one, two, kind, evidence_sources=(three,)))
        soon: Any = {"valid_from_millis": START_MILLIS + TICK, "valid_until_millis": START_MILLIS + 3 * TICK}
        self.give_new(ADA, builders.assertion(two, three, **soon))
        for record in records:
            self.give_new(ADA, CreateRecord(record=record))

    @rule(author=AUTHORS, record=RECORDS)
    def create(self, author: Author, record: Any) -> None:
        self.give_new(author, CreateRecord(record=record))

    @rule(author=AUTHORS, number=NUMBERS, drift=MOSTLY_CURRENT, record=RECORDS)
    def revise(self, author: Author, number: int, drift: int, record: Any) -> None:
        at = self.some_record(number, drift)
        operation = ReviseRecord(record_id=at.record_id, expected_revision=at.revision, record=record)
        self.give_new(author, operation)

    @rule(author=AUTHORS, number=NUMBERS, drift=MOSTLY_CURRENT)
    def delete(self, author: Author, number: int, drift: int) -> None:
        self.give_new(author, builders.delete(self.some_record(number, drift)))

    @rule(author=AUTHORS, number=NUMBERS, drift=MOSTLY_CURRENT, disposition=DISPOSITIONS)
    def review(self, author: Author, number: int, drift: int, disposition: Any) -> None:
        self.give_new(author, builders.review(self.some_record(number, drift), disposition))

    @rule(
        author=AUTHORS,
        numbers=st.lists(NUMBERS, min_size=1, max_size=3),
        drift=MOSTLY_CURRENT,
        record=RECORDS,
    )
    def derive(self, author: Author, numbers: list[int], drift: int, record: Any) -> None:
        sources = tuple(self.some_record(number + 7 * at, max(drift, 0)) for at, number in enumerate(numbers))
        self.give_new(author, DeriveRecord(record=record, derivation=builders.derivation(*sources)))

    @rule(author=AUTHORS, steps=st.integers(2, 9))
    def derive_again_and_again(self, author: Author, steps: int) -> None:
        """A tower on a plain record, its last storeys refused if it is too high, and a house that leans on two."""
        self.give_new(author, builders.create("the ground"))
        storeys = [self.newest()]
        for _ in range(steps):
            self.give_new(author, builders.derive(storeys[-1]))
            storeys.append(self.newest())
        self.give_new(author, builders.derive(storeys[steps // 2], *set(storeys[-1:]) - {storeys[steps // 2]}))

    def newest(self) -> Ref:
        paper = list(self.oracle.papers.values())[-1]
        return Ref(record_id=paper.id, revision=paper.revision)

    @rule(
        author=AUTHORS,
        numbers=st.lists(NUMBERS, min_size=2, max_size=4),
        drift=MOSTLY_CURRENT,
        kind=KINDS,
        interval=st.none() | st.tuples(TIMES, TIMES),
    )
    def relate(self, author: Author, numbers: list[int], drift: int, kind: Any, interval: Any) -> None:
        """Two records, and up to two more as evidence. Equal numbers mean neighbours, so that ends mostly differ."""
        source, target, *proofs = (self.some_record(number + 7 * at) for at, number in enumerate(numbers))
        begins, ends = interval or (None, None)
        operation = builders.assertion(
            Ref(record_id=source.record_id, revision=source.revision + max(drift, 0)),
            target,
            kind,
            valid_from_millis=begins,
            valid_until_millis=ends,
            evidence_sources=tuple(proofs),
        )
        self.give_new(author, operation)

    @rule(author=AUTHORS, number=NUMBERS, drift=MOSTLY_CURRENT)
    def retire(self, author: Author, number: int, drift: int) -> None:
        self.give_new(author, builders.retire(*self.some_relation(number, drift, retired=False)))

    @rule(author=AUTHORS, number=NUMBERS)
    def retire_and_restore(self, author: Author, number: int) -> None:
        relation_id, revision = self.some_relation(number, 0, retired=False)
        retire, restore = builders.retire(relation_id, revision), builders.restore(relation_id, revision + 1)
        self.give(*((author, f"key-{next(self.keys)}", operation) for operation in (retire, restore)))

    @rule(author=AUTHORS, number=NUMBERS, drift=MOSTLY_CURRENT)
    def restore(self, author: Author, number: int, drift: int) -> None:
        self.give_new(author, builders.restore(*self.some_relation(number, drift, retired=True)))

    @rule(author=AUTHORS, number=NUMBERS, drift=MOSTLY_CURRENT, disposition=DISPOSITIONS)
    def judge(self, author: Author, number: int, drift: int, disposition: Any) -> None:
        self.give_new(author, builders.judge(*self.some_relation(number, drift), disposition))

    @rule(number=st.integers(0, 100))
    def replay(self, number: int) -> None:
        if self.given:
            self.give(self.given[number % len(self.given)])

    @rule(number=st.integers(0, 100), author=AUTHORS, record=RECORDS)
    def use_a_key_again(self, number: int, author: Author, record: Any) -> None:
        """Another command under an old key, perhaps of another subject or of another family: then it is new."""
        if self.given:
            _, key, operation = self.given[number % len(self.given)]
            self.give((author, key, CreateRecord(record=record)))
            self.give((author, key, builders.judge(*self.some_relation(number, 0))))
            self.give((BOB if author is ADA else ADA, key, operation))

    @rule(author=AUTHORS, number=NUMBERS, records=st.lists(RECORDS, min_size=2, max_size=4))
    def revise_in_a_batch(self, author: Author, number: int, records: list[Any]) -> None:
        """Revisions that count on each other, with a replay of the first at the end."""
        at = self.some_record(number)
        batch: list[tuple[Author, str, Operation]] = []
        for step, record in enumerate(records):
            operation = ReviseRecord(record_id=at.record_id, expected_revision=at.revision + step, record=record)
            batch.append((author, f"key-{next(self.keys)}", operation))
        self.give(*batch, batch[0])

    # The world around

    @rule(ticks=st.integers(-2, 3))
    def move_the_clock(self, ticks: int) -> None:
        self.clock.advance(TICK * ticks)

    @rule()
    def reopen(self) -> None:
        self.ledger.close()
        self.ledger = self.opened()

    # What must hold

    @invariant()
    def everything_agrees(self) -> None:
        with self.ledger.view() as view:
            self.compare(view)

    def compare(self, view: LedgerView) -> Comparison:
        """What must hold after every step."""
        assert self.now == view.now_millis
        compared = Comparison(view, self.oracle)
        compared.reads()
        return compared

    @rule(limit=st.integers(1, 4))
    def look_through_the_pages(self, limit: int) -> None:
        with self.ledger.view() as view:
            Comparison(view, self.oracle).pages(limit)

    def compare_thoroughly(self, view: LedgerView) -> None:
        """What must hold in the end."""
        compared = self.compare(view)
        compared.history()
        compared.indexes()
        compared.erasures()

    def teardown(self) -> None:
        try:
            with self.ledger.view() as view:
                self.compare_thoroughly(view)
            assert_rebuilds(self.ledger)
        finally:
            self.ledger.close()
            self.left()
