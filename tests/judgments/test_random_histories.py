"""Random histories of judgments leave rows that make sense, whatever was refused on the way.

See `crash_tests/inspection/soundness.py`.
"""

from __future__ import annotations

import random  # noqa: TID251 - a seed gives the same history again
from typing import Any

import pytest

from crash_tests.inspection.soundness import check_rows, check_sense
from crash_tests.violation import Violation
from relatum.clock import ManualClock
from relatum.core.candidates import Orphaned
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Ref
from relatum.core.judgments import Judgment
from relatum.core.receipts import RelationReceipt
from relatum.core.verdicts import KINDS, Verdict
from relatum.errors import Refusal, StorageInconsistency
from relatum.ledger import Ledger
from relatum.limits import DAY_MILLIS
from relatum.store.keys import PREFIX_BYTES, Table
from tests.support import builders
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.support.matrix import first_of
from tests.support.stores import published_rows

VERDICTS: list[Verdict] = list(KINDS)
TOPICS = ("ferry", "harbour", None, None)
STEPS = 120
ROUNDS_MAX = 20
"""Ids are new each time, and with them what a history comes to: a table may be empty for a while."""


class History:
    """Whoever judges at random in one partition. What may well be refused is tried all the same."""

    def __init__(self, ledger: Ledger, clock: ManualClock, seed: int) -> None:
        self.dice = random.Random(seed)
        self.clock = clock
        self.judging = JudgingDesk(ledger)
        self.desk = Desk(ledger)
        self.records: list[Ref] = [self.judging.save(f"departure {number}") for number in range(4)]
        self.relations: list[RelationReceipt] = []
        self.runs: list[str] = []

    def step(self) -> None:
        kinds = (
            self.save,
            self.judge,
            self.compare,
            self.submit,
            self.relate,
            self.stand,
            self.sweep,
            self.undo,
            self.delete,
        )
        self.dice.choices(kinds, (5, 6, 8, 3, 5, 3, 1, 1, 1))[0]()
        self.clock.advance(self.dice.choice((0, 1, DAY_MILLIS)))

    def some(self, number: int) -> list[Ref]:
        return self.dice.sample(self.records, min(number, len(self.records)))

    def save(self) -> None:
        given: dict[str, Any] = {"topic_key": self.dice.choice(TOPICS), "like": tuple(self.some(3))}
        self.records.append(self.judging.save(f"departure {len(self.records)}", **given))

    def judge(self) -> None:
        pending = [one.candidate_id for one in self.judging.pending()]
        chosen = [*self.dice.sample(pending, min(len(pending), 3)), builders.unknown_id()]
        judgments = [
            Judgment(candidate_id=one, relation=self.dice.choice(VERDICTS), reason="because") for one in chosen * 2
        ]
        self._learn(*self.judging.judge_all(judgments))

    def compare(self) -> None:
        source, target = self.some(2)
        verdicts: list[Verdict] = ["supersedes", "supersedes", "scoped", "conflicts_with"]
        self._learn(self.judging.compare(source, target, self.dice.choice(verdicts), reason="so"))

    def submit(self) -> None:
        source, target = self.some(2)
        self.judging.submit((source, target), (target, source))

    def relate(self) -> None:
        if self.relations:
            receipt = self.dice.choice(self.relations)
            at = receipt.relation_id, receipt.revision
            change = self.dice.choice(
                (builders.retire(*at), builders.restore(*at), builders.judge(*at, "rejected"), builders.judge(*at))
            )
            self._learn(self.desk.submit(change))

    def stand(self) -> None:
        [record] = self.some(1)
        change = self.dice.choice((self.judging.archive, self.judging.unarchive, self.judging.pin, self.judging.unpin))
        change(record)

    def sweep(self) -> None:
        self.clock.advance(15 * DAY_MILLIS)
        swept = self.judging.sweep()
        assert isinstance(swept, JudgmentEvent)
        assert swept.consequences is not None
        self.runs += [one.operation_id for one in swept.consequences.candidates if isinstance(one, Orphaned)]

    def undo(self) -> None:
        if self.runs:
            self.judging.undo(operation_id=self.dice.choice(self.runs))

    def delete(self) -> None:
        [record] = self.some(1)
        self.desk.submit(builders.delete(record))

    def _learn(self, *answers: object) -> None:
        for answer in answers:
            receipt = answer.receipt if isinstance(answer, JudgmentEvent) else answer
            if isinstance(receipt, RelationReceipt):
                self.relations = [one for one in self.relations if one.relation_id != receipt.relation_id]
                self.relations.append(receipt)
            else:
                assert receipt is None or isinstance(receipt, Refusal)


@pytest.mark.parametrize("seed", first_of(range(25), quick=8))
def test_a_random_history_leaves_rows_that_make_sense(ledger: Ledger, clock: ManualClock, seed: int) -> None:
    history = History(ledger, clock, seed)
    for _ in range(STEPS):
        history.step()
    found = check_rows(published_rows(ledger))
    assert found.candidates
    assert found.verdicts


TOLD = [
    Table.RECORD,
    Table.RELATION,
    Table.TOPIC,
    Table.REPLACED,
    Table.CANDIDATE,
    Table.CANDIDATE_STATUS,
    Table.CANDIDATE_PAIR,
    Table.CANDIDATE_END,
    Table.VERDICT,
    Table.VERDICT_PAIR,
    Table.VERDICT_END,
]


@pytest.mark.parametrize("table", TOLD, ids=lambda table: table.name)
def test_a_row_that_is_missing_makes_no_sense(ledger: Ledger, clock: ManualClock, table: Table) -> None:
    history = History(ledger, clock, 3)
    found: dict[bytes, bytes] = {}
    told: list[bytes] = []
    for _ in range(ROUNDS_MAX):
        for _ in range(STEPS):
            history.step()
        found = published_rows(ledger)
        told = [key for key in found if key[PREFIX_BYTES] == table and any(key[:PREFIX_BYTES])]
        if told:
            break
    assert told
    for key in told[:: len(told) // 4 + 1]:
        with pytest.raises((Violation, KeyError, StorageInconsistency)):
            check_sense({other: row for other, row in found.items() if other != key})


def test_a_standing_that_is_missing_or_has_no_cause_makes_no_sense(ledger: Ledger) -> None:
    judging, desk = JudgingDesk(ledger), Desk(ledger)
    first, second = judging.save("nine"), judging.save("ten")
    given = judging.compare(second, first, "supersedes")
    assert isinstance(given, JudgmentEvent)
    assert given.receipt is not None
    with ledger.view() as view:
        key = view.partition(judging.partition).keys.standing(first.record_id)
    found = published_rows(ledger)
    check_sense(found)
    with pytest.raises(Violation):
        check_sense({other: row for other, row in found.items() if other != key})
    desk.retire(given.receipt)
    with pytest.raises(Violation, match="retired"):
        check_sense(published_rows(ledger) | {key: found[key]})
