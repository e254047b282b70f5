"""A history that uses every kind of command, and what the streams must tell of it, written down from the receipts."""

from __future__ import annotations

from typing import Any

import msgspec

from relatum.core.commands import AssertRelation
from relatum.core.receipts import Receipt, RecordReceipt, RelationReceipt
from relatum.core.relations import RelationInput
from relatum.core.streams import RECORDS, RELATIONS, Stream
from tests.support import builders
from tests.support.desk import Desk
from tests.support.steps import Operation, reached, related


class History:
    """Gives commands at a desk and keeps a log of them: for each stream the changes it must tell, in order, as JSON."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.log: dict[Stream, list[dict[str, Any]]] = {RECORDS: [], RELATIONS: []}
        self._asserted: dict[str, RelationInput] = {}

    def accept(self, operation: Operation) -> Receipt:
        receipt = self.desk.accept(operation)
        if isinstance(receipt, RecordReceipt):
            named = {"record_id": receipt.record_id, "record_revision": receipt.revision}
            digest = {"record_digest": receipt.record_digest}
        else:
            assert isinstance(receipt, RelationReceipt)
            if isinstance(operation, AssertRelation):
                self._asserted[receipt.relation_id] = operation.relation
            given = self._asserted[receipt.relation_id]
            ends = msgspec.to_builtins({"source": given.source, "target": given.target, "relation_kind": given.kind})
            named = {"relation_id": receipt.relation_id, "relation_revision": receipt.revision} | ends
            digest = {"relation_digest": receipt.relation_digest}
        self.log[RECORDS if isinstance(receipt, RecordReceipt) else RELATIONS].append(
            {
                "schema_version": 1,
                "kind": receipt.action,
                "author": msgspec.to_builtins(receipt.author),
                "committed_at_millis": receipt.committed_at_millis,
                "receipt_digest": receipt.receipt_digest,
                **named,
                **digest,
            }
        )
        return receipt

    def live(self) -> None:
        """Every kind of command once at least: 7 changes of records, 7 of relations."""
        first = reached(self.accept(builders.create("first")))
        second = reached(self.accept(builders.create("second")))
        claim = related(self.accept(builders.assertion(first, second)))
        derived = reached(self.accept(builders.derive(first, second)))
        self.accept(builders.assertion(derived, first, "semantic_related"))
        self.accept(builders.assertion(derived, first, "contradicts", evidence_sources=(second,)))
        self.accept(builders.retire(claim.relation_id, 1))
        self.accept(builders.restore(claim.relation_id, 2))
        self.accept(builders.judge(claim.relation_id, 3))
        self.accept(builders.judge(claim.relation_id, 4, "rejected"))
        second = reached(self.accept(builders.revise(second)))
        second = reached(self.accept(builders.review(second)))
        second = reached(self.accept(builders.review(second, "rejected")))
        self.accept(builders.delete(second))
