"""The state machine with everything that looks on: streams, checkpoints, graphs, consumers, and copies put back."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule
from msgspec.structs import replace

from relatum.core.cursors import Advance, CheckpointCommand, CheckpointReceipt, Reconcile
from relatum.core.digests import workspace_id
from relatum.core.ids import Author
from relatum.core.streams import RECORDS, RELATIONS, Cursor, Stream
from relatum.errors import Refusal
from relatum.store.view import LedgerView
from tests.model.comparing import Comparison
from tests.model.comparing_graphs import EVIDENCE, TYPED, GraphComparison, Query
from tests.model.comparing_streams import StreamComparison
from tests.model.follower import Follower
from tests.model.machine import AUTHORS, MOSTLY_CURRENT, NUMBERS, LedgerMachine
from tests.model.oracle import Oracle
from tests.support import builders
from tests.support.builders import ADA, BOB, PARTITION

STREAMS: Any = st.sampled_from([RECORDS, RELATIONS])
CONSUMERS = st.sampled_from(["mirror", "mirror", "index"])
LIMITS = st.sampled_from([256, 3, 5, 8, 2, 1])
QUESTIONS = st.tuples(st.lists(TYPED, min_size=2, max_size=3), st.lists(EVIDENCE, min_size=1, max_size=2), LIMITS)
SOUND, LOST, ELSEWHERE = "sound", "lost", "elsewhere"  # sorts of positions
LATEST, FIRST, NONE = "latest", "first", "none"  # which digest a checkpoint command gives
POSITIONS = st.tuples(
    st.sampled_from([SOUND, SOUND, SOUND, SOUND, LOST, ELSEWHERE, "version", "sequence", "digest", "journal"]), NUMBERS
)
NOWHERE = Cursor(version=1, stream=RECORDS, journal_id=builders.unknown_id(), sequence=0, prefix_digest="0" * 64)


class FollowingMachine(LedgerMachine):
    """Asks the same questions after every step, and now and then different ones."""

    def __init__(self) -> None:
        super().__init__()
        self.typed: list[Query] = []
        self.evidence: list[Query] = []
        self.page_limit = 256
        self.eager, self.lazy = Follower(), Follower()
        self.saves: list[tuple[Author, Stream, CheckpointCommand]] = []
        self.lost: list[Cursor] = []
        self.backup: tuple[Any, Oracle] | None = None

    def copied(self) -> Any:
        """A copy of what the closed ledger lies on."""
        raise NotImplementedError

    def put_back(self, copy: Any) -> None:
        """Puts a copy in the place of what the closed ledger lies on."""
        raise NotImplementedError

    # What must hold

    def compare(self, view: LedgerView) -> Comparison:
        compared = super().compare(view)
        streams = StreamComparison(view, self.oracle)
        streams.pages(self.page_limit)
        streams.saved()
        graphs = GraphComparison(compared)
        for query in self.typed:
            graphs.typed(query)
        for query in self.evidence:
            graphs.evidence(query)
        self.eager.catch_up(view, self.page_limit)
        assert compared.served == self.eager.copy
        return compared

    def compare_thoroughly(self, view: LedgerView) -> None:
        super().compare_thoroughly(view)
        StreamComparison(view, self.oracle).history()
        self.lazy.catch_up(view, self.page_limit)
        assert self.eager.copy == self.lazy.copy

    @initialize(questions=QUESTIONS)
    def ask_something(self, questions: tuple[list[Query], list[Query], int]) -> None:
        self.typed, self.evidence, self.page_limit = questions

    @rule(questions=QUESTIONS)
    def ask_something_else(self, questions: tuple[list[Query], list[Query], int]) -> None:
        self.typed, self.evidence, self.page_limit = questions

    @rule()
    def the_lazy_one_catches_up(self) -> None:
        with self.ledger.view() as view:
            self.lazy.catch_up(view, self.page_limit)
        assert self.lazy.copy == self.eager.copy

    # Streams

    @initialize(streams=st.sets(STREAMS))
    def begin_with_streams_that_tell_nothing(self, streams: set[Stream]) -> None:
        """Before or after the first commands: where it is before, only these are active."""
        for stream in sorted(streams):
            self.activate(ADA, stream)
            self.activate(BOB, stream)
        with self.ledger.view() as view:
            compared = StreamComparison(view, self.oracle)
            compared.pages(1)
            for stream, journal in self.oracle.journals.items():
                for cursor in (None, journal.baseline or replace(NOWHERE, stream=stream)):
                    compared.stretch(stream, cursor, cursor, 1)

    @rule(author=AUTHORS, stream=STREAMS)
    def activate(self, author: Author, stream: Stream) -> None:
        now, journal = self.commit_time, self.oracle.journals[stream]
        tip = self.ledger.activate(PARTITION, author, stream)
        self.oracle.activate(stream, now)
        assert len(journal.changes) == tip.sequence
        known = journal.cursors[tip.sequence :]
        assert [(tip.journal_id, tip.prefix_digest.hex())] * len(known) == [
            (cursor.journal_id, cursor.prefix_digest) for cursor in known
        ]

    @rule(
        author=AUTHORS,
        stream=STREAMS,
        consumer_id=CONSUMERS,
        after=st.none() | POSITIONS,
        through=st.none() | POSITIONS,
        limit=LIMITS,
    )
    def look_at_a_stretch(
        self, author: Author, stream: Stream, consumer_id: str, after: Any, through: Any, limit: int
    ) -> None:
        """A page between two positions, and where a consumer stands that holds one of them."""
        first, last = (place and self.position(stream, *place) for place in (after, through))
        with self.ledger.view() as view:
            compared = StreamComparison(view, self.oracle)
            compared.stretch(stream, first, last, limit)
            compared.diagnosis(stream, author.subject_id, consumer_id, first)

    def position(self, stream: Stream, sort: str, number: int) -> Cursor:
        """A position that lies on the stream, or one that is wrong in one way."""
        cursors = self.oracle.journals[stream].cursors
        cursor = cursors[number % len(cursors)]
        lost = [cursor for cursor in self.lost if cursor.stream == stream]
        elsewhere = self.oracle.journals[RELATIONS if stream == RECORDS else RECORDS].cursors
        return {
            SOUND: cursor,
            LOST: lost[number % len(lost)] if lost else cursor,
            ELSEWHERE: elsewhere[number % len(elsewhere)],
            "version": replace(cursor, version=2),
            "sequence": replace(cursor, sequence=cursor.sequence + 1 + number % 3),
            "digest": replace(cursor, prefix_digest=NOWHERE.prefix_digest),
            "journal": replace(cursor, journal_id=NOWHERE.journal_id),
        }[sort]

    # Checkpoints

    @rule(
        author=AUTHORS,
        stream=STREAMS,
        consumer_id=CONSUMERS,
        numbers=st.lists(NUMBERS, max_size=3),
        place=POSITIONS,
        drift=MOSTLY_CURRENT,
        digest=st.sampled_from([LATEST, LATEST, FIRST, NONE]),
        reconciles=st.booleans(),
    )
    def save_checkpoints(
        self,
        author: Author,
        stream: Stream,
        consumer_id: str,
        numbers: list[int],
        place: tuple[str, int],
        drift: int,
        digest: str,
        reconciles: bool,
    ) -> None:
        """Positions one after another, there and back; the last one perhaps against a rule."""
        for number in numbers:
            self.save_one(author, stream, consumer_id, Advance(cursor=self.position(stream, SOUND, number)))
        cursor = self.position(stream, *place)
        operation = Reconcile(cursor=cursor, evidence_ref="note/5") if reconciles else Advance(cursor=cursor)
        self.save_one(author, stream, consumer_id, operation, drift, digest)

    def save_one(
        self,
        author: Author,
        stream: Stream,
        consumer_id: str,
        operation: Advance | Reconcile,
        drift: int = 0,
        digest: str = LATEST,
    ) -> None:
        kept = self.oracle.notebook.saved.get((stream, author.subject_id, consumer_id), [])
        expected = {LATEST: kept[-1:], FIRST: kept[:1], NONE: []}[digest]
        command = CheckpointCommand(
            contract_version=1,
            idempotency_key=f"key-{next(self.keys)}",
            consumer_id=consumer_id,
            expected_revision=max(0, len(kept) + drift),
            expected_checkpoint_digest=expected[0].checkpoint.checkpoint_digest if expected else None,
            operation=operation,
        )
        self.save(author, stream, command)

    @rule(number=NUMBERS, place=POSITIONS)
    def use_the_key_of_a_checkpoint_again(self, number: int, place: tuple[str, int]) -> None:
        """The same command, another one, one of the other stream, and the same of somebody else."""
        if self.saves:
            author, stream, command = self.saves[number % len(self.saves)]
            self.save(author, stream, command)
            for of in (stream, RELATIONS if stream == RECORDS else RECORDS):
                self.save(author, of, replace(command, operation=Advance(cursor=self.position(of, *place))))
            self.save(BOB if author is ADA else ADA, stream, command)

    def save(self, author: Author, stream: Stream, command: CheckpointCommand) -> None:
        now, notebook = self.commit_time, self.oracle.notebook
        expected = notebook.expect(author, command, self.oracle.journals[stream])
        answer = self.ledger.save_checkpoint(PARTITION, author, stream, command)
        if expected is None:
            assert isinstance(answer, CheckpointReceipt), answer
            notebook.accept(workspace_id(PARTITION), author, stream, command, answer, now)
            self.oracle.commands["checkpoint"] += 1
            self.oracle.latest = now
            self.saves.append((author, stream, command))
        elif isinstance(expected, str):
            assert isinstance(answer, Refusal), answer
            assert expected == answer.code
        else:
            assert expected == answer

    # Graphs

    @rule(
        author=AUTHORS,
        kind=st.sampled_from(["supports", "contradicts", "temporal_before"]),
        numbers=st.lists(NUMBERS, min_size=3, max_size=7),
    )
    def relate_many(self, author: Author, kind: Any, numbers: list[int]) -> None:
        """Relations of a new record to many, in both directions and now and then on evidence, in one batch."""
        self.give_new(author, builders.create("a hub", event_time_millis=0))
        hub, others = self.newest(), [self.some_record(number) for number in numbers]
        batch = []
        for number, other in zip(numbers, others, strict=True):
            source, target = (hub, other) if number % 2 else (other, hub)
            proofs = (others[0],) if number % 5 == 0 else ()
            operation = builders.assertion(source, target, kind, evidence_sources=proofs)
            batch.append((author, f"key-{next(self.keys)}", operation))
        self.give(*batch)

    # Copies put back

    @rule()
    def keep_a_copy(self) -> None:
        self.ledger.close()
        self.backup = self.copied(), deepcopy(self.oracle)
        self.ledger = self.opened()

    @rule()
    def put_the_copy_back(self) -> None:
        """What was acknowledged since the copy is gone, for consumers too; what was known before it goes on."""
        if self.backup is None:
            return
        copy, oracle = self.backup
        self.ledger.close()
        self.put_back(copy)
        for stream, journal in oracle.journals.items():
            self.lost += [cursor for cursor in self.oracle.journals[stream].cursors if cursor not in journal.cursors]
        self.oracle = deepcopy(oracle)
        self.ledger = self.opened()
