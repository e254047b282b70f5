"""A state machine of saves, verdicts, sweeps and the time that goes by between them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from crash_tests.judgment_model.answer_checks import JudgmentsCompared
from crash_tests.judgment_model.expected_state import DAY, DEADLINE, RESURFACING
from relatum.clock import ManualClock
from relatum.core.commands import (
    ArchiveRecord,
    CreateRecord,
    PinRecord,
    ReviseRecord,
    SaveRecord,
    UnarchiveRecord,
    UnpinRecord,
)
from relatum.core.ids import Ref
from relatum.core.judgments import (
    Comparing,
    Comparison,
    ConfirmationInput,
    Confirming,
    Judgment,
    Pair,
    Submitting,
    Undoing,
)
from relatum.core.verdicts import KINDS, Verdict
from relatum.ledger import Ledger
from relatum.ledger.view import RequestView
from tests.judgments.model.driving import Driver
from tests.judgments.model.searching import compare_searches
from tests.support import builders
from tests.support.builders import ADA, BOB, START_MILLIS, unknown_id
from tests.support.stores import assert_rebuilds

AUTHORS = st.sampled_from([ADA, ADA, BOB])
NUMBERS = st.integers(0, 99)
WORDS = st.sampled_from(["ferry", "harbour", "nine", "ten", "lantern", "bridge"])
TEXTS = st.lists(WORDS, min_size=1, max_size=4).map(" ".join)
CATEGORIES = st.sampled_from([None, None, "procedural", "project", "user", "reference"])
RECORDS = st.builds(
    builders.record,
    content=TEXTS,
    title=st.none() | st.none() | TEXTS,
    topic_key=st.sampled_from([None, "north", "north", "south"]),
    category=CATEGORIES,
    type=st.sampled_from(["memory"] * 14 + ["person"]),
)
VERDICTS: Any = st.sampled_from([*KINDS, "supersedes", "supersedes", "not_conflict"])
REASONS = st.sampled_from([None, None, None, "because", "because", "so", "b" * 400, "b" * 2_000, "b" * 2_001])
CONFIDENCES = st.sampled_from([0.0, 0.5, 1.0])
MOSTLY_CURRENT = st.sampled_from([0, 0, 0, 0, 0, 0, 0, 1])
AGES = st.sampled_from([None, None, 0, 1, RESURFACING, DEADLINE, DEADLINE + 1])
LIMITS = st.sampled_from([50, 50, 3, 1, 0])
DISPOSITIONS: Any = st.sampled_from(["rejected", "approved", "unreviewed"])
OUTCOMES: Any = st.sampled_from(["affirmed", "refuted"])
WHAT_TO_UNDO = st.sampled_from([*["run", "operation"] * 3, "both", "neither"])
STEPS_OF_TIME = st.sampled_from([1, 1, DAY - 1, DAY, DEADLINE, DEADLINE + 1, 61 * DAY, -DAY])


class JudgingMachine(RuleBasedStateMachine):
    """Drives one partition. Subclasses say what the ledger lies on and how it is opened again."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock(START_MILLIS)
        self.driver = Driver(self.opened(), self.clock)

    def opened(self) -> Ledger:
        """The ledger, opened for the first time or again."""
        raise NotImplementedError

    def left(self) -> None:
        """Clears away what the ledger lay on."""

    # What to speak about: small numbers that are turned into whatever exists

    def some_record(self, number: int) -> str:
        """A record, most often one that is active and current; seldom one that never was."""
        book = self.driver.book
        fit = [name for name in book.sheets if book.fit(name)]
        names = [*book.sheets, unknown_id()] if number % 5 == 4 or not fit else fit
        return names[number // 5 % len(names)]

    def some_ref(self, number: int, drift: int) -> Ref:
        name = self.some_record(number)
        sheet = self.driver.book.sheets.get(name)
        return Ref(record_id=name, revision=(sheet.revision if sheet else 1) + drift)

    def two_records(self, number: int) -> tuple[str, str]:
        """Two records, or one twice; half the time those of a claim or a candidate, so that pairs come again."""
        book = self.driver.book
        known = [claim.ends for claim in book.claims.values()] + [pair.ends for pair in book.pairs.values()]
        if number % 2 and known:
            ends = known[number // 4 % len(known)]
            return ends if number % 4 == 1 else (ends[1], ends[0])
        fit = [name for name in book.sheets if book.fit(name)]
        if number % 10 == 8 or not fit:
            return self.some_record(number), self.some_record(number // 3)
        first = number // 2 % len(fit)
        return fit[first], fit[first - 1 - number // 7 % max(1, len(fit) - 1)]

    def some_candidate(self, number: int) -> str:
        """A candidate, most often a pending one; seldom one that never was."""
        pairs = self.driver.book.pairs
        pending = [name for name, pair in pairs.items() if pair.status == "pending"]
        names = [*pairs, unknown_id()] if number % 5 == 4 or not pending else pending
        return names[number // 5 % len(names)]

    # Records

    @initialize(records=st.lists(RECORDS, min_size=3, max_size=5))
    def begin(self, records: list[Any]) -> None:
        for record in records:
            self.driver.save(ADA, SaveRecord(record=record))

    @rule(author=AUTHORS, record=RECORDS, most=st.sampled_from([5, 5, 25, 1, 0]))
    def save(self, author: Any, record: Any, most: int) -> None:
        self.driver.save(author, SaveRecord(record=record, candidates_max=most))

    @rule(author=AUTHORS, record=RECORDS)
    def create(self, author: Any, record: Any) -> None:
        self.driver.record(author, CreateRecord(record=record))

    @rule(author=AUTHORS, number=NUMBERS, drift=MOSTLY_CURRENT, record=RECORDS)
    def revise(self, author: Any, number: int, drift: int, record: Any) -> None:
        at = self.some_ref(number, drift)
        self.driver.record(author, ReviseRecord(record_id=at.record_id, expected_revision=at.revision, record=record))

    @rule(author=AUTHORS, number=NUMBERS, drift=MOSTLY_CURRENT)
    def delete(self, author: Any, number: int, drift: int) -> None:
        self.driver.record(author, builders.delete(self.some_ref(number, drift)))

    @rule(author=AUTHORS, number=NUMBERS, disposition=DISPOSITIONS)
    def review(self, author: Any, number: int, disposition: Any) -> None:
        self.driver.record(author, builders.review(self.some_ref(number, 0), disposition))

    @rule(
        author=AUTHORS,
        number=NUMBERS,
        drift=MOSTLY_CURRENT,
        change=st.sampled_from([ArchiveRecord, UnarchiveRecord, PinRecord, UnpinRecord]),
    )
    def stand(self, author: Any, number: int, drift: int, change: Any) -> None:
        at = self.some_ref(number, drift)
        self.driver.record(author, change(record_id=at.record_id, expected_revision=at.revision))

    @rule(author=AUTHORS, number=NUMBERS)
    def unarchive(self, author: Any, number: int) -> None:
        """One that is archived, if there is one."""
        archived = [sheet.ref for sheet in self.driver.book.sheets.values() if sheet.archived]
        if archived:
            at = archived[number % len(archived)]
            self.driver.record(author, UnarchiveRecord(record_id=at.record_id, expected_revision=at.revision))

    # Judgments

    @rule(
        author=AUTHORS,
        verdicts=st.lists(st.tuples(NUMBERS, VERDICTS, REASONS, st.none() | CONFIDENCES), min_size=1, max_size=4),
    )
    def judge(self, author: Any, verdicts: list[tuple[int, Verdict, str | None, float | None]]) -> None:
        judgments = tuple(
            Judgment(candidate_id=self.some_candidate(number), relation=verdict, reason=reason, confidence=confidence)
            for number, verdict, reason, confidence in verdicts
        )
        self.driver.judge(author, judgments)

    @rule(author=AUTHORS, number=NUMBERS, verdict=VERDICTS, reason=REASONS, confidence=CONFIDENCES)
    def compare(self, author: Any, number: int, verdict: Any, reason: str | None, confidence: float) -> None:
        source, target = self.two_records(number)
        given = Comparison(source_id=source, target_id=target, relation=verdict, reason=reason, confidence=confidence)
        self.driver.compare(author, Comparing(comparison=given))

    @rule(
        author=AUTHORS,
        pairs=st.lists(st.tuples(NUMBERS, st.none() | CONFIDENCES), min_size=1, max_size=3),
    )
    def submit(self, author: Any, pairs: list[tuple[int, float | None]]) -> None:
        given = [(*self.two_records(number), similarity) for number, similarity in pairs]
        candidates = tuple(Pair(source=one, target=other, similarity=share) for one, other, share in given)
        self.driver.submit(author, Submitting(candidates=candidates))

    @rule(author=AUTHORS, number=NUMBERS, drift=MOSTLY_CURRENT, disposition=st.none() | DISPOSITIONS)
    def change_a_relation(self, author: Any, number: int, drift: int, disposition: Any) -> None:
        """A review, or what the relation is not: retired, or restored. Half the time of one that supersedes."""
        claims = list(self.driver.book.claims.values())
        superseding = [claim for claim in claims if claim.verdict == "supersedes"]
        if number % 2 and superseding:
            claims = superseding
        if claims:
            claim = claims[number // 2 % len(claims)]
            change = builders.restore if claim.retired != (number % 11 == 10) else builders.retire
            at = claim.id, claim.revision + drift
            self.driver.relation(author, change(*at) if disposition is None else builders.judge(*at, disposition))

    @rule(author=AUTHORS, number=NUMBERS, verdict=VERDICTS, meanwhile=st.sampled_from(["", "archive", "supersede"]))
    def take_a_verdict_back_and_give_it_again(self, author: Any, number: int, verdict: Any, meanwhile: str) -> None:
        """Retired and restored, rejected and approved: each as far as the rules let it."""
        self.compare(author, number, verdict, "because", 0.5)
        for claim in list(self.driver.book.claims.values())[-1:]:
            self.driver.relation(author, builders.retire(claim.id, claim.revision))
            self.everything_agrees()
            if meanwhile == "archive":
                end = claim.ends[number % 2]
                at = self.driver.book.sheets[end].ref
                self.driver.record(author, ArchiveRecord(record_id=end, expected_revision=at.revision))
            elif meanwhile == "supersede":
                given = Comparison(
                    source_id=self.some_record(number), target_id=claim.ends[1], relation="supersedes", confidence=1
                )
                self.driver.compare(author, Comparing(comparison=given))
            self.driver.relation(author, builders.restore(claim.id, claim.revision))
            self.driver.relation(author, builders.judge(claim.id, claim.revision, "rejected"))
            self.everything_agrees()
            self.driver.relation(author, builders.judge(claim.id, claim.revision, "approved"))

    @rule(author=AUTHORS, number=NUMBERS, early=st.booleans())
    def wait_for_the_sweep_and_undo_it(self, author: Any, number: int, early: bool) -> None:
        """A candidate comes to its deadline, and one millisecond past it."""
        self.submit(author, [(number, None)])
        pending = self.driver.book.oldest("pending")
        if pending:
            self.clock.set(max(self.driver.now, pending[-1].since + DEADLINE + (not early)))
            self.everything_agrees()
            self.driver.sweep(author)
            self.everything_agrees()
            self.undo(author, number, "operation")

    @rule(author=AUTHORS)
    def sweep(self, author: Any) -> None:
        self.driver.sweep(author)

    @rule()
    def sweep_by_timer(self) -> None:
        self.driver.sweep_by_timer()

    @rule(
        author=AUTHORS,
        number=NUMBERS,
        what=WHAT_TO_UNDO,
    )
    def undo(self, author: Any, number: int, what: str) -> None:
        """A run that orphaned something, if there is one, or one of its operations."""
        runs = {run: found for run, found in self.driver.book.runs.items() if found} or {unknown_id(): []}
        run_id = list(runs)[number % len(runs)]
        operations = [operation for operation, _ in runs[run_id]] or [unknown_id(1)]
        operation_id = operations[number // 10 % len(operations)]
        self.driver.undo(
            author,
            Undoing(
                run_id=run_id if what in ("run", "both") else None,
                operation_id=operation_id if what in ("operation", "both") else None,
            ),
        )

    @rule(author=AUTHORS, outcomes=st.lists(st.tuples(NUMBERS, OUTCOMES), min_size=1, max_size=2))
    def confirm(self, author: Any, outcomes: list[tuple[int, Any]]) -> None:
        given = tuple(
            ConfirmationInput(record_id=self.some_record(number), outcome=outcome, evidence_ref="note/1")
            for number, outcome in outcomes
        )
        self.driver.confirm(author, Confirming(confirmations=given))

    @rule(author=AUTHORS, number=NUMBERS, outcomes=st.lists(OUTCOMES, min_size=2, max_size=3))
    def confirm_again_and_again(self, author: Any, number: int, outcomes: list[Any]) -> None:
        """Within one millisecond, where the last word counts."""
        name = self.some_record(number)
        for outcome in outcomes:
            given = ConfirmationInput(record_id=name, outcome=outcome, evidence_ref="note/2")
            self.driver.confirm(author, Confirming(confirmations=(given,)))

    @rule(number=NUMBERS)
    def replay(self, number: int) -> None:
        self.driver.replay(number)

    @rule(number=NUMBERS, other=NUMBERS)
    def use_a_key_again(self, number: int, other: int) -> None:
        self.driver.use_a_key_again(number, other)

    # The world around

    @rule(step=STEPS_OF_TIME)
    def move_the_clock(self, step: int) -> None:
        self.clock.advance(step)

    @rule(number=NUMBERS)
    def move_the_clock_to_where_something_changes(self, number: int) -> None:
        moments = sorted(moment for moment in self.driver.book.moments() if moment >= self.driver.now)
        if moments:
            self.clock.set(moments[number % len(moments)])

    @rule()
    def reopen(self) -> None:
        self.driver.ledger.close()
        self.driver.ledger = self.opened()

    # What must hold

    @invariant()
    def everything_agrees(self) -> None:
        with self.driver.ledger.view() as view:
            assert self.driver.now == view.now_millis
            compared = self._compared(view)
            compared.standings()
            compared.queue(None, 50)
            compared.queue(0, 50)
            compared.annotations(50)
            compared.reviews(50)

    def _compared(self, view: RequestView) -> JudgmentsCompared:
        return JudgmentsCompared(view.partition(builders.PARTITION), view.now_millis, self.driver.book)

    @rule(min_age=AGES, limit=LIMITS, text=TEXTS)
    def ask(self, min_age: int | None, limit: int, text: str) -> None:
        """Questions that are not asked every time."""
        with self.driver.ledger.view() as view:
            compared = self._compared(view)
            compared.queue(min_age, limit)
            compared.annotations(limit)
            compared.reviews(max(limit, 1))
            compare_searches(view, self.driver.book, text)

    def teardown(self) -> None:
        try:
            with self.driver.ledger.view() as view:
                for word in ("ferry", "nine ten lantern"):
                    compare_searches(view, self.driver.book, word)
            assert_rebuilds(self.driver.ledger)
        finally:
            self.driver.ledger.close()
            self.left()
