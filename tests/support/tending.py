"""A desk that tends records besides judging them: links, marks of staleness, promotions of mined edges."""

from __future__ import annotations

from relatum.core.answers.receipts import LinkKind
from relatum.core.commands import MarkStale
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Ref
from relatum.core.links import Link, LinkOperation, LinkReceipt, Unlink
from relatum.core.promotions import MiningRun, PromotedKind, Promoting, Proposal
from relatum.core.receipts import Receipt, RecordReceipt
from relatum.errors import Refusal
from tests.support.judging import JudgingDesk


class TendingDesk(JudgingDesk):
    """Gives these commands in one partition, each under a key of its own."""

    def link(self, one: Ref, other: Ref, kind: LinkKind = "related") -> LinkReceipt | Refusal:
        return self._link(Link(source_id=one.record_id, target_id=other.record_id, kind=kind))

    def unlink(self, one: Ref, other: Ref) -> LinkReceipt | Refusal:
        return self._link(Unlink(source_id=one.record_id, target_id=other.record_id))

    def mark_stale(self, ref: Ref, because: Ref, confidence: float | None = None) -> RecordReceipt | Refusal:
        return self._record(MarkStale(record_id=ref.record_id, because=because, confidence=confidence))

    def promote(self, run_date: str, *edges: tuple[Ref, Ref, PromotedKind]) -> JudgmentEvent | Refusal:
        """Proposes edges of one day, the first one with the most confidence."""
        proposals = tuple(
            Proposal(source_id=one.record_id, target_id=other.record_id, kind=kind, confidence=0.99 - place / 1000)
            for place, (one, other, kind) in enumerate(edges)
        )
        run = MiningRun(run_id=f"miner {run_date}", run_date=run_date)
        return self._alone(Promoting(run=run, proposals=proposals))

    def _link(self, operation: LinkOperation) -> LinkReceipt | Refusal:
        receipt: Receipt | Refusal = self.ledger.submit(
            self.ledger.command(self.partition, self.author, self.key(), operation)
        )
        assert isinstance(receipt, LinkReceipt | Refusal)
        return receipt
