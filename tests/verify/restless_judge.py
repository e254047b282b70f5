"""A restless judge: saves, judges and tends what is in a partition, as the dice say."""

from __future__ import annotations

from collections.abc import Callable

from relatum.core.answers.receipts import LinkKind
from relatum.core.candidates import Orphaned
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Partition, Ref
from relatum.core.judgments import Judgment
from relatum.core.promotions import PromotedKind
from relatum.core.receipts import RelationReceipt
from relatum.core.verdicts import KINDS, Verdict
from relatum.ledger import Ledger
from relatum.ledger.judgments import Ages
from tests.fuzz.dice import Dice
from tests.support import builders
from tests.support.desk import Desk
from tests.support.steps import Operation
from tests.support.tending import TendingDesk

VERDICTS: list[Verdict] = list(KINDS)
LINKS: list[LinkKind] = ["related", "conflicts", "supports", "supersedes"]
EDGES: list[PromotedKind] = ["contradicts", "contradicts", "supports", "leads_to", "none"]
TOPICS = ["ferry", "harbour", None, None]
FACTS = ["toll", "bridge", None]
RECENT = 10


class _NamedDesk(TendingDesk):
    """Several of them may be at work in one partition."""

    def __init__(self, ledger: Ledger, partition: Partition, name: str) -> None:
        super().__init__(ledger, partition)
        self._name = name

    def key(self) -> str:
        return f"{super().key()} of {self._name}"


class RestlessJudge:
    """Much of what it asks for is refused; that is part of it."""

    def __init__(self, ledger: Ledger, dice: Dice, partition: Partition, name: str) -> None:
        ledger.judgments.ages = Ages(0, 0)  # whatever waits has waited too long
        self._dice = dice
        self._desk = _NamedDesk(ledger, partition, name)
        self._plain = Desk(ledger, partition)
        self._records: list[Ref] = []
        self._relations: list[RelationReceipt] = []
        self._operations: list[str] = []

    def give(self) -> None:
        """One command."""
        often: list[Callable[[], object]] = [self._save, self._judge, self._compare]
        seldom: list[Callable[[], object]] = [
            self._submit,
            self._turn,
            self._stand,
            self._stand,
            self._sweep,
            self._undo,
            self._confirm,
            self._mark,
            self._link,
            self._promote,
            self._delete,
        ]
        one_of = self._dice.one_of
        chosen = self._save if len(self._records) < 4 else one_of(often if self._dice.often(45) else seldom)
        chosen()

    def _two(self) -> tuple[Ref, Ref]:
        one, other, *_ = self._dice.shuffled(self._records[-RECENT:])
        return one, other

    def _save(self) -> None:
        one_of = self._dice.one_of
        like = tuple(self._dice.shuffled(self._records[-RECENT:])[:2])
        self._records.append(
            self._desk.save("it left at noon", like=like, topic_key=one_of(TOPICS), fact_key=one_of(FACTS))
        )

    def _judge(self) -> None:
        pending = [one.candidate_id for one in self._desk.pending()][:RECENT]
        chosen = self._dice.shuffled([*pending, builders.unknown_id()])[:3]
        said = self._dice.one_of(["so", None])
        judgments = [
            Judgment(candidate_id=one, relation=self._dice.one_of(VERDICTS), reason=said) for one in chosen + chosen
        ]
        self._learn(*self._desk.judge_all(judgments))

    def _compare(self) -> None:
        verdict = self._dice.one_of(["supersedes", *VERDICTS])
        self._learn(self._desk.compare(*self._two(), verdict, reason="because"))

    def _submit(self) -> None:
        self._desk.submit(self._two(), self._two())

    def _turn(self) -> None:
        """Retires, restores or reviews the relation of a verdict, whose standing goes with it."""
        if self._relations:
            receipt = self._dice.one_of(self._relations[-RECENT:])
            at = receipt.relation_id, receipt.revision
            changes: list[Operation] = [
                builders.retire(*at),
                builders.restore(*at),
                builders.judge(*at, "rejected"),
                builders.judge(*at),
            ]
            self._learn(self._plain.submit(self._dice.one_of(changes)))

    def _stand(self) -> None:
        desk = self._desk
        self._dice.one_of([desk.archive, desk.unarchive, desk.pin, desk.pin, desk.pin, desk.unpin])(self._two()[0])

    def _sweep(self) -> None:
        swept = self._desk.sweep()
        if isinstance(swept, JudgmentEvent) and swept.consequences is not None:
            self._operations += [one.operation_id for one in swept.consequences.candidates if isinstance(one, Orphaned)]

    def _undo(self) -> None:
        if self._operations:
            self._desk.undo(operation_id=self._dice.one_of(self._operations[-RECENT:]))

    def _confirm(self) -> None:
        self._desk.confirm(self._two()[0], self._dice.one_of(["affirmed", "refuted"]))

    def _mark(self) -> None:
        self._desk.mark_stale(*self._two(), 0.5)

    def _link(self) -> None:
        if self._dice.often(70):
            self._desk.link(*self._two(), self._dice.one_of(LINKS))
        else:
            self._desk.unlink(*self._two())

    def _promote(self) -> None:
        day = self._dice.one_of(["2023-11-14", "2023-11-15", "2023-11-16"])
        edges = [(*self._two(), self._dice.one_of(EDGES)) for _ in range(2)]
        self._desk.promote(day, *edges)

    def _delete(self) -> None:
        if self._dice.often(30):
            self._plain.submit(builders.delete(self._two()[0]))

    def _learn(self, *answers: object) -> None:
        for answer in answers:
            receipt = answer.receipt if isinstance(answer, JudgmentEvent) else answer
            if isinstance(receipt, RelationReceipt):
                self._relations.append(receipt)
