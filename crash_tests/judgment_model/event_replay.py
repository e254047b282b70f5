"""Events of a ledger, held against the rules and entered into the book.

What always holds: an event is one that the rules allow in the state before it, and brings about what they say and
nothing else; only ids are its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, assert_never

from crash_tests.judgment_model import record_rules, rules
from crash_tests.judgment_model.expected_state import Book, Pair
from crash_tests.judgment_model.promotion_rules import hear_promotion
from crash_tests.violation import Violation, require, require_same
from relatum.core.candidates import Judged, Opened, Orphaned, Resumed
from relatum.core.commands import (
    AssertRelation,
    RecordOperation,
    RelationOperation,
    RestoreRelation,
    RetireRelation,
    ReviewRelation,
    SaveRecord,
)
from relatum.core.consequences import Consequences
from relatum.core.events import Event, FoundEvent, JudgmentEvent, LinkEvent, RecordEvent, RecordSaved, RelationEvent
from relatum.core.judgments import (
    Comparing,
    Comparison,
    Confirming,
    Judging,
    Judgment,
    JudgmentOperation,
    Submitting,
    Sweeping,
    Undoing,
)
from relatum.core.links import LinkOperation
from relatum.core.promotions import Promoting
from relatum.core.relations import Provenance, RelationInput
from relatum.core.standings import Confirmation
from relatum.core.stored_judgments import Confirmed, PairsSubmitted, SweepRun, VerdictGiven
from relatum.core.verdicts import KINDS, Verdict

CommandOperation = RecordOperation | RelationOperation | LinkOperation | JudgmentOperation
NOTHING = Consequences()


class _Shape(NamedTuple):
    """What consequences can change."""

    retired: dict[str, bool]
    """Of each claim, and of each relation that was promoted."""
    superseded: dict[str, tuple[str, str]]
    """By record: who supersedes it, and the claim that says so."""
    pairs: dict[str, tuple[str, str | None, str | None]]
    """Status, operation and claim of each candidate."""


def hear(book: Book, operation: CommandOperation, event: Event, hits: Sequence[str] = ()) -> None:
    """Enters an event that came of a command. Raises `Violation` where it makes no sense."""
    before = _shape(book)
    match event:
        case RecordEvent():
            assert isinstance(operation, RecordOperation)
            _record(book, operation, event, hits)
        case RelationEvent():
            assert isinstance(operation, RelationOperation)
            _relation(book, operation, event)
        case FoundEvent():
            pass  # changes nothing; that it was there, the model of relations knows
        case LinkEvent():
            assert isinstance(operation, LinkOperation)
            _require_no(record_rules.link_trouble(book, operation), event)
            record_rules.change_link(book, operation)
        case JudgmentEvent():
            assert isinstance(operation, JudgmentOperation)
            _judgment(book, operation, event)
        case _:
            raise Violation(f"event {event.sequence} is of a family that no book knows")
    book.latest = event.committed_at_millis
    _check_consequences(before, _shape(book), event)


# What is decided


def _record(book: Book, operation: RecordOperation, event: RecordEvent, hits: Sequence[str]) -> None:
    now, brought = event.committed_at_millis, event.consequences or NOTHING
    _require_no(record_rules.record_trouble(book, operation), event)
    if not isinstance(operation, SaveRecord):
        record_rules.change_record(book, operation, event.record_id, now)
        return
    found = record_rules.surfaced(book, hits, operation.record.topic_key)
    occupant = book.holder(operation.record.topic_key)
    record_rules.change_record(book, operation, event.record_id, now)
    sheet = book.sheets[event.record_id]
    opened = [one for one in brought.candidates if isinstance(one, Opened)]
    expected = [("lexical", name) for name in found[: operation.candidates_max]]
    expected += [("topic_key", occupant.id)] if occupant else []
    require_same("the pairs of a save", expected, [(one.channel, one.target.record_id) for one in opened])
    require_same("the source of its pairs", {sheet.ref} if opened else set(), {one.source for one in opened})
    assert isinstance(event.operation, RecordSaved)
    require_same("how many records a save resembles", len(found), event.operation.detected)
    pairs = [_opened(book, one, now) for one in opened]
    if occupant is not None:
        relation_id = _asserted(brought)
        record_rules.take_slot(book, sheet, occupant, pairs[-1], relation_id, event.author)


def _relation(book: Book, operation: RelationOperation, event: RelationEvent) -> None:
    """Of relations that no verdict has made the book knows only which records they join."""
    if isinstance(operation, AssertRelation):
        book.asserted[event.relation_id] = operation.relation.source, operation.relation.target
    if event.relation_id not in book.claims:
        return
    assert isinstance(operation, RetireRelation | RestoreRelation | ReviewRelation)
    trouble = rules.relation_trouble(book, operation)
    _require_no(trouble, event)
    rules.change_relation(book, operation)


def _judgment(book: Book, operation: JudgmentOperation, event: JudgmentEvent) -> None:
    now, brought = event.committed_at_millis, event.consequences or NOTHING
    match operation:
        case Judging(judgments=judgments):
            assert isinstance(event.operation, VerdictGiven)
            assert event.operation.index is not None
            _item(book, judgments[event.operation.index], event.operation, event)
        case Comparing(comparison=comparison):
            _require_no(rules.comparison_trouble(book, comparison), event)
            _give(book, comparison, (comparison.source_id, comparison.target_id), event)
        case Submitting():
            _require_no(rules.submission_trouble(book, operation), event)
            _submitted(book, operation, event)
        case Sweeping():
            assert isinstance(event.operation, SweepRun)
            due = book.overdue(book.judged_at(now))
            orphaned = [one for one in brought.candidates if isinstance(one, Orphaned)]
            require_same("what a sweep orphans", [one.id for one in due], [one.candidate_id for one in orphaned])
            book.runs[event.operation.run_id] = [(one.operation_id, one.candidate_id) for one in orphaned]
            for pair, one in zip(due, orphaned, strict=True):
                rules.orphan(pair, one.operation_id, event.author)
        case Undoing():
            _undone(book, operation, event)
        case Confirming():
            _require_no(rules.confirmation_trouble(book, operation), event)
            _confirmed(book, operation, event)
        case Promoting():
            hear_promotion(book, operation, event)
        case _:
            assert_never(operation)


def _item(book: Book, judgment: Judgment, given: VerdictGiven, event: JudgmentEvent) -> None:
    """An item of a batch, which is stored whether or not it was refused."""
    trouble = rules.judgment_trouble(book, judgment)
    require_same("why a judgment is refused", trouble, None if given.refused is None else given.refused.code)
    if trouble is None:
        _give(book, judgment, book.pairs[judgment.candidate_id].ends, event)
    else:
        require(event.receipt is None, "a judgment that is refused has a receipt")


def _give(book: Book, given: Judgment | Comparison, ends: tuple[str, str], event: JudgmentEvent) -> None:
    if event.receipt is None:
        raise Violation("a verdict has no receipt")
    known, brought = set(book.claims), event.consequences or NOTHING
    rules.give_verdict(book, given, ends, event.receipt.relation_id, event.author, event.committed_at_millis)
    if event.receipt.relation_id in known:
        return
    require_same("the relation of a verdict", event.receipt.relation_id, _asserted(brought))
    based_on = f"candidate:{given.candidate_id}" if isinstance(given, Judgment) else "comparison"
    _check_assertion(book, brought, given.relation, ends, based_on)
    [receipt] = (part.receipt for part in brought.relations if part.relation_id == event.receipt.relation_id)
    require_same("the receipt of a verdict", receipt, event.receipt)


def _submitted(book: Book, operation: Submitting, event: JudgmentEvent) -> None:
    assert isinstance(event.operation, PairsSubmitted)
    fresh = iter([one for one in (event.consequences or NOTHING).candidates if isinstance(one, Opened)])
    found: list[str] = []
    for given in operation.candidates:
        known = book.pending_between(given.source, given.target)
        if known is None:
            opened = next(fresh, None)
            if opened is None:
                raise Violation("a pair that was submitted is not opened")
            ends = book.sheets[given.source].ref, book.sheets[given.target].ref
            told = opened.source, opened.target, opened.channel, opened.similarity
            require_same("a pair that was submitted", (*ends, "submitted", given.similarity or 0.0), told)
            known = _opened(book, opened, event.committed_at_millis)
        found.append(known.id)
    require_same("the candidates of pairs", found, list(event.operation.candidate_ids))


def _undone(book: Book, operation: Undoing, event: JudgmentEvent) -> None:
    resumed = rules.resumable(book, operation)
    if isinstance(resumed, str):
        _require_no(resumed, event)
        return
    for pair in resumed:
        rules.resume(pair, event.committed_at_millis)


def _confirmed(book: Book, operation: Confirming, event: JudgmentEvent) -> None:
    given = operation.confirmations
    expected = tuple(Confirmation(record_id=one.record_id, outcome=one.outcome) for one in given)
    require_same("what is confirmed", expected, (event.consequences or NOTHING).confirmations)
    refs = Confirmed(evidence_refs=tuple(one.evidence_ref for one in given))
    require_same("on what evidence", refs, event.operation)
    rules.confirm(book, operation, event.committed_at_millis)


# What is brought about


def _check_consequences(before: _Shape, after: _Shape, event: Event) -> None:
    """What has changed in the book is what the event says has changed."""
    brought = event.consequences or NOTHING
    own = event.relation_id if isinstance(event, RelationEvent) else None
    relations = {
        name: "retired" if retired else "asserted"
        for name, retired in after.retired.items()
        if before.retired.get(name) != retired and name != own
    }
    found = {part.relation_id: part.receipt.action for part in brought.relations}
    require_same("the relations that come with a command", relations, found)
    require_same("the standings that come with a command", _standings(before, after), _told_standings(brought))
    changed = {name: pair[0] for name, pair in after.pairs.items() if before.pairs.get(name) != pair}
    require_same("the candidates that come with a command", changed, _told_candidates(brought))


def _standings(before: _Shape, after: _Shape) -> dict[str, tuple[str, str] | None]:
    """By record: who supersedes it now, None where nobody does any more."""
    names = before.superseded.keys() | after.superseded.keys()
    changed = (name for name in names if before.superseded.get(name) != after.superseded.get(name))
    return {name: after.superseded.get(name) for name in changed}


def _told_standings(brought: Consequences) -> dict[str, tuple[str, str] | None]:
    return {
        one.record_id: None if one.by is None else (one.by.record_id, one.by.relation_id) for one in brought.standings
    }


def _told_candidates(brought: Consequences) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in brought.candidates:
        match one:
            case Opened() | Resumed():
                found[one.candidate_id] = "pending"
            case Judged():
                found[one.candidate_id] = "judged"
            case Orphaned():
                found[one.candidate_id] = "orphaned"
            case _:
                assert_never(one)
    return found


def _asserted(brought: Consequences) -> str:
    """The relation that comes with a verdict."""
    found = [part.relation_id for part in brought.relations if isinstance(part.operation, AssertRelation)]
    require(len(found) == 1, f"{len(found)} relations come with one verdict")
    return found[0]


def _check_assertion(book: Book, brought: Consequences, verdict: Verdict, ends: tuple[str, str], based_on: str) -> None:
    source, target = (book.sheets[end].ref for end in ends)
    provenance = Provenance(origin="tool_observation", method="judgment", method_revision="1", evidence_ref=based_on)
    expected = RelationInput(source=source, target=target, kind=KINDS[verdict], provenance=provenance)
    found = [part.operation.relation for part in brought.relations if isinstance(part.operation, AssertRelation)]
    require_same("what a verdict asserts", [expected], found)


def _shape(book: Book) -> _Shape:
    superseding = [claim for claim in book.claims.values() if claim.holds and claim.verdict == "supersedes"]
    superseded = {claim.target.record_id: (claim.source.record_id, claim.id) for claim in superseding}
    require(len(superseded) == len(superseding), "a record has two superseders")
    return _Shape(
        {claim.id: claim.retired for claim in book.claims.values()} | dict.fromkeys(book.edges, False),
        superseded,
        {pair.id: (pair.status, pair.operation, pair.claim) for pair in book.pairs.values()},
    )


def _opened(book: Book, opened: Opened, now: int) -> Pair:
    require(opened.candidate_id not in book.pairs, "a candidate is opened twice")
    return rules.open_pair(book, opened, now)


def _require_no(trouble: str | None, event: Event) -> None:
    require(trouble is None, f"event {event.sequence} happened, which must be refused: {trouble}")
