"""Promotions: what becomes of a miner's proposals, and what is counted of days and pairs; the contract, written out.

What always holds: an event is held against the book of before it, and entered then.
"""

from __future__ import annotations

from crash_tests.judgment_model.expected_state import Book
from crash_tests.violation import Violation, require, require_same
from relatum.core.commands import AssertRelation
from relatum.core.consequences import Consequences
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Ref
from relatum.core.kinds import Kind
from relatum.core.promotions import Promoting, PromotionOutcome, Proposal
from relatum.core.relations import Provenance, RelationInput
from relatum.core.stored_judgments import Promoted

FLOOR = 0.7
A_DAY_MAX = 50


def senseless(given: Promoting) -> bool:
    """Whether proposals are refused, all of them; whether their day is one of the calendar is not asked here."""
    return not 1 <= len(given.proposals) <= 256 or any(
        one.source_id == one.target_id or not 0 <= one.confidence <= 1 for one in given.proposals
    )


class Ruling:
    """What becomes of the proposals of one command, the strongest first."""

    def __init__(self, book: Book, given: Promoting) -> None:
        self._book = book
        self._day = given.run.run_date
        self.outcomes: list[PromotionOutcome] = ["nothing"] * len(given.proposals)
        self.promoted: list[int] = []
        """The places of those that become relations, in the order in which they do."""
        self.suspected: list[tuple[str, str]] = []
        """Pairs that contradict each other for the first time on this day."""
        self._joined: set[frozenset[str]] = set()
        for place in sorted(range(len(given.proposals)), key=lambda one: (-given.proposals[one].confidence, one)):
            outcome = self.outcomes[place] = self._outcome(given.proposals[place])
            if outcome == "promoted":
                self.promoted.append(place)
                self._joined.add(_pair(given.proposals[place]))

    def _outcome(self, proposal: Proposal) -> PromotionOutcome:
        book, ends = self._book, (proposal.source_id, proposal.target_id)
        if proposal.kind == "none":
            return "nothing"
        if proposal.confidence < FLOOR:
            return "below_floor"
        if not all(end in book.sheets and book.sheets[end].type == "memory" and book.eligible(end) for end in ends):
            return "unfit_ends"
        if _pair(proposal) in self._joined or book.related(*ends):
            return "related_already"
        if proposal.kind == "contradicts" and not self._found_on_another_day(ends):
            return "awaits_second_date"
        room = A_DAY_MAX - book.promoted[self._day] - len(self.promoted)
        return "promoted" if room > 0 else "over_cap"

    def _found_on_another_day(self, ends: tuple[str, str]) -> bool:
        """A third day tells nothing new."""
        days = self._book.suspected.get(frozenset(ends), [])
        low, high = sorted(ends)
        if self._day not in days and len(days) < 2 and (low, high) not in self.suspected:
            self.suspected.append((low, high))
        return any(day != self._day for day in days)


def hear_promotion(book: Book, given: Promoting, event: JudgmentEvent) -> None:
    """Enters an event that came of proposals. Raises `Violation` where it is not what the rules make of them."""
    told, brought = event.operation, event.consequences or Consequences()
    if senseless(given) or not isinstance(told, Promoted):
        raise Violation(f"event {event.sequence} happened, which must be refused")
    ruling = Ruling(book, given)
    require_same("the run of proposals", given.run, told.run)
    require_same("what becomes of proposals", ruling.outcomes, [one.outcome for one in told.outcomes])
    require_same("what is suspected", ruling.suspected, [*told.suspicions])
    asserted = [_asserted(book, given, given.proposals[place]) for place in ruling.promoted]
    require_same("what proposals assert", asserted, [part.operation for part in brought.relations])
    require(all(part.plain for part in brought.relations), "a relation that was promoted is taken for a verdict")
    named = {place: one.relation_id for place, one in enumerate(told.outcomes) if one.relation_id is not None}
    made = dict(zip(ruling.promoted, (part.relation_id for part in brought.relations), strict=True))
    require_same("the relations of proposals", made, named)
    for place, own in made.items():
        book.edges[own] = _refs(book, given.proposals[place])
    book.promoted[given.run.run_date] += len(made)
    for one, other in ruling.suspected:
        book.suspected.setdefault(frozenset((one, other)), []).append(given.run.run_date)


def _asserted(book: Book, given: Promoting, proposal: Proposal) -> AssertRelation:
    source, target = _refs(book, proposal)
    based_on = f"run:{given.run.run_id}"
    provenance = Provenance(origin="tool_observation", method="promotion", method_revision="1", evidence_ref=based_on)
    assert proposal.kind != "none"
    kind: Kind = proposal.kind
    return AssertRelation(relation=RelationInput(source=source, target=target, kind=kind, provenance=provenance))


def _refs(book: Book, proposal: Proposal) -> tuple[Ref, Ref]:
    return book.sheets[proposal.source_id].ref, book.sheets[proposal.target_id].ref


def _pair(proposal: Proposal) -> frozenset[str]:
    return frozenset((proposal.source_id, proposal.target_id))
