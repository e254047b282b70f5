"""Random histories: commands given to a real ledger, and what they should have made of it, kept in a plain world."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from relatum.core.ids import Ref
from relatum.core.receipts import RecordReceipt, RelationReceipt
from relatum.errors import Refusal
from tests.graphs.naive import PlainRecord, PlainRelation, World
from tests.support import builders
from tests.support.desk import Desk

KINDS = ["supports", "supports", "contradicts", "part_of", "compatible"]
NUMBER = st.integers(0, 40)

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("create"), NUMBER, NUMBER),
        st.tuples(st.just("derive"), NUMBER, NUMBER),
        *[st.tuples(st.just("relate"), NUMBER, NUMBER)] * 8,
        st.tuples(st.just("relate_on_evidence"), NUMBER, NUMBER),
        st.tuples(st.sampled_from(["revise", "approve", "reject", "delete"]), NUMBER, NUMBER),
        st.tuples(st.sampled_from(["retire", "restore", "turn_down"]), NUMBER, NUMBER),
    ),
    min_size=12,
    max_size=50,
)


class History:
    """Gives commands through a desk and keeps the world in step with those that were accepted."""

    def __init__(self, desk: Desk, now: int) -> None:
        self.desk = desk
        self.world = World(now=now)

    def take(self, steps: list[tuple[str, int, int]]) -> None:
        for number in range(5):
            self.create(number, 0)
        for name, a, b in steps:
            getattr(self, name)(a, b)
        self._measure()

    # Records

    def create(self, a: int, b: int) -> None:
        expires = self.world.now + b if b % 4 == 3 else None
        receipt = self.desk.submit(builders.create("x" * (a + 1), valid_until_millis=expires))
        if isinstance(receipt, RecordReceipt):
            self.world.records[receipt.record_id] = PlainRecord(expires=expires)

    def derive(self, a: int, b: int) -> None:
        sources = list(dict.fromkeys([self._pin(a), self._pin(b)]))
        receipt = self.desk.submit(builders.derive(*map(_ref, sources)))
        if isinstance(receipt, RecordReceipt):
            self.world.records[receipt.record_id] = PlainRecord(sources=sources)

    def revise(self, a: int, b: int) -> None:
        if self._accepted(builders.revise(_ref(self._pin(a)))):
            changed = self._record(a)
            changed.revision, changed.rejected, changed.expires = changed.revision + 1, False, None
            changed.content = changed.revision

    def approve(self, a: int, b: int) -> None:
        if self._accepted(builders.review(_ref(self._pin(a)), "approved")):
            self._record(a).revision += 1
            self._record(a).rejected = False

    def reject(self, a: int, b: int) -> None:
        if b % 3 == 0 and self._accepted(builders.review(_ref(self._pin(a)), "rejected")):
            self._record(a).revision += 1
            self._record(a).rejected = True

    def delete(self, a: int, b: int) -> None:
        if b % 4 == 0 and self._accepted(builders.delete(_ref(self._pin(a)))):
            self._record(a).revision += 1
            self._record(a).content = self._record(a).revision
            self._record(a).state = "deleted"

    # Relations

    def relate(self, a: int, b: int, evidence: tuple[tuple[str, int], ...] = ()) -> None:
        source, target = self._pin(a), self._pin(b)
        kind, now = KINDS[(a + b) % len(KINDS)], self.world.now
        begins = now + 5 if a % 7 == 6 else None
        expires = now + 5 if b % 7 == 6 and begins is None else None
        asserted = builders.assertion(
            _ref(source),
            _ref(target),
            kind,  # type: ignore[arg-type]  # a plain list of names
            valid_from_millis=begins,
            valid_until_millis=expires,
            evidence_sources=tuple(map(_ref, evidence)),
        )
        receipt = self.desk.submit(asserted)
        if isinstance(receipt, RelationReceipt):
            self.world.relations[receipt.relation_id] = PlainRelation(
                source, target, kind, begins=begins, expires=expires, evidence=list(evidence)
            )

    def relate_on_evidence(self, a: int, b: int) -> None:
        self.relate(a, b, evidence=(self._pin(a + b + 1),))

    def retire(self, a: int, b: int) -> None:
        self._change(a, builders.retire, state="retired")

    def restore(self, a: int, b: int) -> None:
        self._change(a, builders.restore, state="active")

    def turn_down(self, a: int, b: int) -> None:
        rejected = b % 2 == 0
        self._change(
            a, lambda at, rev: builders.judge(at, rev, "rejected" if rejected else "approved"), rejected=rejected
        )

    def _change(self, a: int, operation: Any, **members: Any) -> None:
        if not self.world.relations:
            return
        relation_id = list(self.world.relations)[a % len(self.world.relations)]
        relation = self.world.relations[relation_id]
        if self._accepted(operation(relation_id, relation.revision)):
            relation.revision += 1
            for name, value in members.items():
                setattr(relation, name, value)

    # Help

    def _id(self, number: int) -> str:
        return list(self.world.records)[number % len(self.world.records)]

    def _record(self, number: int) -> PlainRecord:
        return self.world.records[self._id(number)]

    def _pin(self, number: int) -> tuple[str, int]:
        return self._id(number), self._record(number).revision

    def _accepted(self, operation: Any) -> bool:
        return not isinstance(self.desk.submit(operation), Refusal)

    def _measure(self) -> None:
        """Takes the sizes of rows from the ledger."""
        with self.desk.view() as view:
            reader = view.partition(self.desk.partition)
            for record_id, record in self.world.records.items():
                version = reader.record(record_id)
                assert version is not None
                record.size = version.stored_bytes
            for relation_id, relation in self.world.relations.items():
                found = reader.relation(relation_id)
                assert found is not None
                relation.size = found.stored_bytes


def _ref(pin: tuple[str, int]) -> Ref:
    return Ref(record_id=pin[0], revision=pin[1])
