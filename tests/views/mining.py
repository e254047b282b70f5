"""A miner at work in process: what it proposes, and what comes of it."""

from __future__ import annotations

from itertools import count
from typing import Any

from relatum.core.events import JudgmentEvent
from relatum.core.ids import Ref
from relatum.core.mined import MinedEdge
from relatum.core.promotions import MiningRun, PromotedKind, Promoting, PromotionOutcome, Proposal
from relatum.core.stored_judgments import Promoted
from relatum.errors import Refusal
from relatum.ledger import Ledger
from tests.support.builders import ADA, PARTITION

MONDAY, TUESDAY, WEDNESDAY = "2026-01-05", "2026-01-06", "2026-01-07"


class Miner:
    """Promotes and replaces in the sample partition."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._keys = count(1)

    def promote(self, *proposals: Proposal, day: str = MONDAY) -> list[PromotionOutcome]:
        """What becomes of proposals, in their order."""
        given = Promoting(run=MiningRun(run_id="night", run_date=day), proposals=proposals)
        key = f"mining {next(self._keys)}"
        outcomes = self._ledger.judgments.submit(PARTITION, ADA, key, given)
        assert not isinstance(outcomes, Refusal), outcomes
        [event] = outcomes
        assert isinstance(event, JudgmentEvent)
        assert isinstance(event.operation, Promoted)
        return [one.outcome for one in event.operation.outcomes]

    def replace(self, *edges: MinedEdge) -> None:
        """A run of one page."""
        run = MiningRun(run_id="night", run_date=MONDAY)
        self._ledger.mining.replace(PARTITION, run, edges, finish=True)

    def drop(self) -> None:
        """All mined edges of the partition."""
        self._ledger.mining.drop(PARTITION)


def propose(source: Ref, target: Ref, kind: PromotedKind = "supports", confidence: float = 0.9) -> Proposal:
    return Proposal(source_id=source.record_id, target_id=target.record_id, kind=kind, confidence=confidence)


def mined(source: Ref, target: Ref, kind: Any = "supports", weight: float = 0.5) -> MinedEdge:
    return MinedEdge(source.record_id, kind, target.record_id, weight)
