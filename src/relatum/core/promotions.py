"""Promotion: the only way from a mined edge to an authored relation (views.md, derived edges)."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta
from msgspec.structs import force_setattr

from relatum.core.ids import Scope
from relatum.core.kinds import Kind
from relatum.core.text import is_date, is_identifier
from relatum.core.wire import Closed, Sparse, Uuid, canonical_uuid

PromotedKind = Literal["caused_by", "leads_to", "example_of", "supports", "part_of", "contradicts", "none"]
PromotionOutcome = Literal[
    "promoted", "nothing", "below_floor", "over_cap", "related_already", "awaits_second_date", "unfit_ends"
]
RunDate = Annotated[
    str, Meta(extra_json_schema={"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}, description="A date: `YYYY-MM-DD`.")
]

KINDS: dict[PromotedKind, Kind] = {
    "caused_by": "caused_by",
    "leads_to": "leads_to",
    "example_of": "example_of",
    "supports": "supports",
    "part_of": "part_of",
    "contradicts": "contradicts",
}


class MiningRun(Closed, frozen=True, kw_only=True):
    """A run of a miner, and the day it speaks for."""

    run_id: str
    run_date: RunDate

    def problem(self) -> str | None:
        """The static rule that the name of this run breaks, or None."""
        if not is_identifier(self.run_id):
            return "run_id must be an identifier"
        return None if is_date(self.run_date) else "run_date must be a day of the calendar"


class Proposal(Sparse, frozen=True, kw_only=True):
    """An edge that a miner would have authored."""

    source_id: Uuid
    target_id: Uuid
    kind: PromotedKind
    confidence: float

    def __post_init__(self) -> None:
        force_setattr(self, "source_id", canonical_uuid(self.source_id))
        force_setattr(self, "target_id", canonical_uuid(self.target_id))
        force_setattr(self, "confidence", self.confidence + 0.0)


class Promoting(Sparse, tag="promote", frozen=True, kw_only=True):
    """Proposals of one run."""

    run: MiningRun
    proposals: tuple[Proposal, ...]


class PromoteCommand(Closed, frozen=True, kw_only=True):
    """Body of `edges/promote`."""

    contract_version: int
    scope: Scope
    idempotency_key: str
    run: MiningRun
    proposals: tuple[Proposal, ...]

    @property
    def operation(self) -> Promoting:
        """The command without its envelope."""
        return Promoting(run=self.run, proposals=self.proposals)


class ProposalOutcome(Sparse, frozen=True, kw_only=True):
    """What became of one proposal; the relation where there is one."""

    outcome: PromotionOutcome
    relation_id: Uuid | None = None


class Suspicion(Sparse, frozen=True, kw_only=True):
    """On which days a pair was found to contradict itself; two are enough."""

    run_dates: tuple[str, ...]
