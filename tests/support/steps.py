"""Steps: what a test does to records and relations, in one word each, whoever carries the commands out."""

from __future__ import annotations

from typing import Any, Protocol

from relatum.core.answers.records import Disposition
from relatum.core.commands import RecordOperation, RelationOperation
from relatum.core.ids import Ref
from relatum.core.kinds import Kind
from relatum.core.receipts import Receipt, RecordReceipt, RelationReceipt
from tests.support import builders

Operation = RecordOperation | RelationOperation


class Steps(Protocol):
    """Short forms of commands that must be accepted. Whoever takes them over says how a command is accepted."""

    def accept(self, operation: Operation) -> Receipt:
        """The receipt of a command that must be accepted."""
        ...

    # Records: each answers the record at its new revision

    def create(self, content: str = "the tide turned at noon", **members: Any) -> Ref:
        return reached(self.accept(builders.create(content, **members)))

    def derive(self, *sources: Ref, **members: Any) -> Ref:
        return reached(self.accept(builders.derive(*sources, **members)))

    def revise(self, at: Ref, content: str = "the tide turned at one", **members: Any) -> Ref:
        return reached(self.accept(builders.revise(at, content, **members)))

    def delete(self, at: Ref) -> Ref:
        return reached(self.accept(builders.delete(at)))

    def review(self, at: Ref, disposition: Disposition = "approved", evidence_ref: str = "note/1") -> Ref:
        return reached(self.accept(builders.review(at, disposition, evidence_ref)))

    # Relations: each answers the relation's receipt

    def relate(self, source: Ref, target: Ref, kind: Kind = "supports", **members: Any) -> RelationReceipt:
        return related(self.accept(builders.assertion(source, target, kind, **members)))

    def retire(self, at: RelationReceipt) -> RelationReceipt:
        return related(self.accept(builders.retire(at.relation_id, at.revision)))

    def restore(self, at: RelationReceipt) -> RelationReceipt:
        return related(self.accept(builders.restore(at.relation_id, at.revision)))

    def judge(self, at: RelationReceipt, disposition: Disposition = "approved") -> RelationReceipt:
        return related(self.accept(builders.judge(at.relation_id, at.revision, disposition)))


def reached(receipt: Receipt) -> Ref:
    """The record at the revision that a receipt speaks of."""
    assert isinstance(receipt, RecordReceipt)
    return Ref(record_id=receipt.record_id, revision=receipt.revision)


def related(receipt: Receipt) -> RelationReceipt:
    """A receipt, known to be a relation's."""
    assert isinstance(receipt, RelationReceipt)
    return receipt
