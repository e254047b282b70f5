"""The decision on a promotion: floor, cap, strongest first, and two dates for a contradiction (views.md)."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from relatum import limits
from relatum.core import digests, transitions
from relatum.core.canonical import encode
from relatum.core.commands import AssertRelation
from relatum.core.consequences import Consequences, RelationPart
from relatum.core.decide.event_envelope import Asked
from relatum.core.decide.relations import assertable
from relatum.core.ids import Ref, uuid7
from relatum.core.kinds import Kind
from relatum.core.promotions import KINDS, Promoting, PromotionOutcome, Proposal, ProposalOutcome
from relatum.core.receipts import RelationReceipt
from relatum.core.relations import Provenance, RelationInput
from relatum.core.state import PartitionState
from relatum.core.stored_judgments import Promoted
from relatum.errors import Refused


class Promotion(NamedTuple):
    """What a promotion brings about."""

    operation: Promoted
    consequences: Consequences


def broken_rule(operation: Promoting) -> str | None:
    """The first static rule that a promotion breaks, in words."""
    proposals = operation.proposals
    if not 1 <= len(proposals) <= limits.PROPOSALS_MAX:
        return "1 to 256 edges can be proposed at once"
    problem = operation.run.problem()
    if problem is not None:
        return problem
    for one in proposals:
        if one.source_id == one.target_id:
            return "source and target must be different records"
        if not 0.0 <= one.confidence <= 1.0:
            return "confidence must lie between 0 and 1"
    return None


def promote(state: PartitionState, operation: Promoting, asked: Asked) -> Promotion:
    """Takes the strongest proposals first; nothing about a proposal refuses the command."""
    promoter = _Promoter(state, operation, asked)
    order = sorted(range(len(operation.proposals)), key=lambda place: -operation.proposals[place].confidence)
    for place in order:
        promoter.take(place, operation.proposals[place])
    outcomes = tuple(promoter.outcomes[place] for place in range(len(operation.proposals)))
    stored = Promoted(run=operation.run, outcomes=outcomes, suspicions=tuple(promoter.suspicions))
    return Promotion(stored, Consequences(relations=tuple(promoter.parts)))


class _Promoter:
    """Goes through the proposals of one command."""

    def __init__(self, state: PartitionState, operation: Promoting, asked: Asked) -> None:
        self._state = state
        self._run = operation.run
        self._asked = asked
        self._room = limits.PROMOTIONS_MAX - state.promoted_on(operation.run.run_date)
        self._taken: set[frozenset[str]] = set()
        self._joined_with = cache(state.joined_with)
        self.parts: list[RelationPart] = []
        self.outcomes: dict[int, ProposalOutcome] = {}
        self.suspicions: list[tuple[str, str]] = []

    def take(self, place: int, proposal: Proposal) -> None:
        """Decides one proposal."""
        given = None if proposal.kind == "none" else self._relation(proposal, KINDS[proposal.kind])
        outcome = self._outcome(proposal, given)
        relation_id = None
        if outcome == "promoted":
            assert given is not None, "only what could be asserted is promoted"
            part = self._asserted(place, given)
            self.parts.append(part)
            self._taken.add(frozenset((proposal.source_id, proposal.target_id)))
            self._room -= 1
            relation_id = part.relation_id
        self.outcomes[place] = ProposalOutcome(outcome=outcome, relation_id=relation_id)

    def _outcome(self, proposal: Proposal, given: RelationInput | None) -> PromotionOutcome:
        """What becomes of a proposal.

        IMPORTANT: what is not fit to be related is not suspected either, and a pair is suspected whether or not the day
        has room left.
        """
        if proposal.kind == "none":
            return "nothing"
        if proposal.confidence < limits.PROMOTION_FLOOR:
            return "below_floor"
        if given is None or not self._is_assertable(given):
            return "unfit_ends"
        pair = frozenset((proposal.source_id, proposal.target_id))
        if pair in self._taken or self._are_related(given.source, given.target):
            return "related_already"
        if proposal.kind == "contradicts" and not self._seen_twice(proposal):
            return "awaits_second_date"
        return "promoted" if self._room > 0 else "over_cap"

    def _are_related(self, one: Ref, other: Ref) -> bool:
        """Whether an authored relation joins the contents of two records, whatever direction and state."""
        fewest, most = sorted(map(self._content, (one, other)), key=self._state.uses_of)
        return most in self._joined_with(fewest)

    def _content(self, pin: Ref) -> Ref:
        version = self._state.record(pin.record_id)
        assert version is not None, "what can be asserted has both its ends"
        return version.meta.content

    def _seen_twice(self, proposal: Proposal) -> bool:
        """Whether a contradiction was found on another day too; today is counted once."""
        low, high = sorted((proposal.source_id, proposal.target_id))
        dates = self._state.suspicion(low, high)
        if len(dates) < 2 and self._run.run_date not in dates and (low, high) not in self.suspicions:
            self.suspicions.append((low, high))
        return bool(set(dates) - {self._run.run_date})

    def _relation(self, proposal: Proposal, kind: Kind) -> RelationInput | None:
        """What would be asserted of both ends at their present revisions; None where one is unknown."""
        source, target = self._state.record(proposal.source_id), self._state.record(proposal.target_id)
        if source is None or target is None:
            return None
        return RelationInput(
            source=Ref(record_id=proposal.source_id, revision=source.meta.revision),
            target=Ref(record_id=proposal.target_id, revision=target.meta.revision),
            kind=kind,
            provenance=Provenance(
                origin="tool_observation",
                method="promotion",
                method_revision="1",
                evidence_ref=f"run:{self._run.run_id}",
            ),
        )

    def _is_assertable(self, given: RelationInput) -> bool:
        try:
            return assertable(self._state, given, self._asked.stamp.now_millis) is None
        except Refused:
            return False

    def _asserted(self, place: int, given: RelationInput) -> RelationPart:
        stamp = self._asked.stamp
        relation_id = uuid7(stamp.at_millis, digests.draw(stamp.entropy, f"relation/{place}", 10))
        operation = AssertRelation(relation=given)
        after = transitions.relation_after(None, operation, relation_id, stamp.at_millis, stamp.author)
        receipt = RelationReceipt(
            contract_version=1,
            idempotency_key=self._asked.idempotency_key,
            relation_id=relation_id,
            revision=1,
            action="asserted",
            author=stamp.author,
            committed_at_millis=stamp.at_millis,
            evidence_ref=given.provenance.evidence_ref,
            relation_digest=digests.relation_digest(encode(after)).hex(),
            command_digest=self._asked.command_digest,
            receipt_digest="",
            commit_sequence=self._state.head().sequence + 1,
        )
        sealed = digests.sealed_receipt(self._state.workspace_id, receipt)
        return RelationPart(relation_id=relation_id, operation=operation, receipt=sealed, plain=True)
