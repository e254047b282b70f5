"""Whatever a history has left behind, what can be carried of it comes back as it was, and the rest is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from crash_tests.inspection.soundness import check_rows
from relatum.clock import ManualClock
from relatum.core.answers.receipts import LinkKind
from relatum.core.commands import MarkStale
from relatum.core.ids import Ref
from relatum.core.links import Link, Unlink
from relatum.core.receipts import RecordReceipt, RelationReceipt
from relatum.ledger import Ledger
from relatum.ledger.text_export.importer import import_text
from tests.judgments.test_random_histories import TOPICS, History
from tests.support import builders
from tests.support.builders import BOB, PARTITION, START_MILLIS
from tests.support.desk import Desk
from tests.support.matrix import every
from tests.support.stores import assert_rebuilds, published_rows
from tests.text_export.carrying import empty_ledger, exported, files

STEPS = 120


class Life(History):
    """A history of judgments in which records are also revised, reviewed, derived, linked, related and marked."""

    def step(self) -> None:
        kinds = (super().step, self.revise, self.review, self.derive, self.link, self.assertion, self.mark)
        self.dice.choices(kinds, (12, 2, 2, 1, 3, 4, 1))[0]()

    def _change(self, record: Ref, answer: object) -> None:
        if isinstance(answer, RecordReceipt):
            self.records.remove(record)
            self.records.append(Ref(record_id=answer.record_id, revision=answer.revision))

    def revise(self) -> None:
        [record] = self.some(1)
        author = self.dice.choice((builders.ADA, BOB))
        topic = self.dice.choice(TOPICS)
        desk = Desk(self.judging.ledger, author=author)
        self._change(record, desk.submit(builders.revise(record, "it was put off", topic_key=topic)))

    def review(self) -> None:
        [record] = self.some(1)
        self._change(record, self.desk.submit(builders.review(record, self.dice.choice(("approved", "rejected")))))

    def derive(self) -> None:
        answer = self.desk.submit(builders.derive(*self.some(2), content="both", topic_key=self.dice.choice(TOPICS)))
        if isinstance(answer, RecordReceipt):
            self.records.append(Ref(record_id=answer.record_id, revision=answer.revision))

    def link(self) -> None:
        source, target = (ref.record_id for ref in self.some(2))
        kind: LinkKind = self.dice.choice(("related", "supports", "supersedes"))
        link = Link(source_id=source, target_id=target, kind=kind)
        operation = Unlink(source_id=source, target_id=target) if self.dice.random() < 0.2 else link
        ledger = self.judging.ledger
        ledger.submit(ledger.command(PARTITION, BOB, self.judging.key(), operation))

    def assertion(self) -> None:
        source, target, *evidence = self.some(self.dice.choice((2, 3)))
        given = builders.assertion(source, target, "supports", evidence_sources=tuple(evidence))
        answer = self.desk.submit(given)
        if isinstance(answer, RelationReceipt):
            self.relations.append(answer)

    def mark(self) -> None:
        old, because = self.some(2)
        self.desk.submit(MarkStale(record_id=old.record_id, because=because, confidence=self.dice.choice((None, 0.5))))


def carry_and_compare(ledger: Ledger, clock: ManualClock, place: Path) -> None:
    first = exported(ledger, place / "first", leave_out=True)
    with empty_ledger(clock) as again:
        import_text(again, place / "first")
        second = exported(again, place / "second")
        assert_rebuilds(again)
        check_rows(published_rows(again))
    assert files(place / "first") == files(place / "second")
    assert (first.root, first.manifest) == (second.root, second.manifest)


KNOTS = (106, 109, 148, 197)
"""Seeds of histories in which topic slots went round in circles."""


@pytest.mark.parametrize("seed", every(3, [*range(12), *KNOTS]))
def test_a_random_history_comes_back_as_it_was(seed: int, tmp_path: Path) -> None:
    clock = ManualClock(START_MILLIS)
    with Ledger.in_memory(clock=clock) as ledger:
        life = Life(ledger, clock, seed)
        for _ in range(STEPS):
            life.step()
        carry_and_compare(ledger, clock, tmp_path)
