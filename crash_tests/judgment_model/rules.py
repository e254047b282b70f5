"""Which judgments are refused for what, and what the others do to the book: the contract, written out."""

from __future__ import annotations

from crash_tests.judgment_model.expected_state import BAD, MISSING, STALE, Book, Claim, Pair
from relatum.core.candidates import Opened
from relatum.core.commands import RestoreRelation, RetireRelation, ReviewRelation
from relatum.core.ids import Author, Ref
from relatum.core.judgments import Comparison, Confirming, Judgment, Submitting, Undoing

UNKNOWN = "candidate_not_found"
RelationChange = RetireRelation | RestoreRelation | ReviewRelation


# Verdicts


def senseless(given: Judgment | Comparison) -> bool:
    """What is wrong with a verdict whatever is there."""
    confidence = given.confidence
    return len(given.reason or "") > 2000 or (confidence is not None and not 0 <= confidence <= 1)


def verdict_trouble(book: Book, verdict: str, source: str, target: str) -> str | None:
    """Why a verdict on two records that exist is refused."""
    if {book.sheets[source].type, book.sheets[target].type} != {"memory"}:
        return BAD
    now_by = book.superseder(target)
    if verdict == "supersedes":
        if now_by is not None and now_by.source.record_id == source:
            return None
        return None if book.fit(source) and book.fit(target) else STALE
    revives = now_by is not None and now_by.source.record_id == source
    return _revival_trouble(book, target) if revives else None


def _revival_trouble(book: Book, record_id: str) -> str | None:
    """Why a superseded record can't have its standing back; an archived one is not current even then."""
    return STALE if not book.sheets[record_id].archived and book.finds_its_slot_taken(record_id) else None


def judgment_trouble(book: Book, given: Judgment) -> str | None:
    """Why an item of a batch is refused."""
    if senseless(given):
        return BAD
    pair = book.pairs.get(given.candidate_id)
    if pair is None:
        return UNKNOWN
    return STALE if pair.status != "pending" else verdict_trouble(book, given.relation, *pair.ends)


def comparison_trouble(book: Book, given: Comparison) -> str | None:
    """Why a comparison is refused."""
    ends = given.source_id, given.target_id
    if given.relation == "not_conflict" or ends[0] == ends[1] or senseless(given):
        return BAD
    if not book.sheets.keys() >= {*ends}:
        return MISSING
    return verdict_trouble(book, given.relation, *ends)


def give_verdict(
    book: Book, given: Judgment | Comparison, ends: tuple[str, str], relation_id: str, author: Author, now: int
) -> None:
    """Writes down a verdict that was accepted: the claim, what it retires, and the candidate it closes."""
    pair = book.pairs[given.candidate_id] if isinstance(given, Judgment) else book.pending_between(*ends)
    claim = book.superseder(ends[1])
    repeated = given.relation == "supersedes" and claim is not None and claim.source.record_id == ends[0]
    if repeated:
        assert claim is not None
        assert claim.id == relation_id
    else:
        _assert_claim(book, given, ends, relation_id, pair, now)
    if pair is not None:
        close_pair(book, pair, relation_id, given.relation, "agent", author, now)
        pair.confidence = given.confidence
        pair.reason = given.reason if _lasts(book, ends) else None


def _assert_claim(
    book: Book, given: Judgment | Comparison, ends: tuple[str, str], relation_id: str, pair: Pair | None, now: int
) -> None:
    last, by = book.last_claim(*ends), book.superseder(ends[1])
    standing = [claim for claim in book.claims.values() if claim.ends == ends and claim.holds]
    for earlier in (last, by if by is not None and by.source.record_id == ends[0] else None, *standing):
        if earlier is not None and not earlier.retired:
            retire_claim(earlier)
    assert relation_id not in book.claims
    book.claims[relation_id] = Claim(
        id=relation_id,
        verdict=given.relation,
        source=book.sheets[ends[0]].ref,
        target=book.sheets[ends[1]].ref,
        made=now,
        reason=given.reason if _lasts(book, ends) else None,
        confidence=given.confidence,
        candidate=None if pair is None else pair.id,
    )


def _lasts(book: Book, ends: tuple[str, str]) -> bool:
    return not any(book.sheets[end].deleted for end in ends)


def retire_claim(claim: Claim) -> None:
    """Another verdict has come in the place of a claim."""
    claim.interrupted |= claim.holds
    claim.retired, claim.revision = True, claim.revision + 1


def close_pair(book: Book, pair: Pair, relation_id: str, verdict: str, marker: str, author: Author, now: int) -> None:
    """A candidate is judged."""
    assert relation_id in book.claims
    pair.status, pair.claim, pair.verdict = "judged", relation_id, verdict
    pair.marker, pair.author, pair.judged = marker, author, now


# Relations that verdicts have made


def relation_trouble(book: Book, operation: RelationChange) -> str | None:
    """Why a change of a verdict's relation is refused."""
    claim = book.claims.get(operation.relation_id)
    if claim is None:
        return MISSING
    if claim.revision != operation.expected_revision:
        return STALE
    match operation:
        case RetireRelation():
            return BAD if claim.retired else _standing_trouble(book, claim, False)
        case RestoreRelation():
            if not claim.retired:
                return BAD
            sound = all(_is_as_it_was(book, end) for end in (claim.source, claim.target))
            return _standing_trouble(book, claim, not claim.rejected) if sound else STALE
        case ReviewRelation(disposition=disposition):
            return _standing_trouble(book, claim, not claim.retired and disposition != "rejected")


def _is_as_it_was(book: Book, end: Ref) -> bool:
    return book.sheets[end.record_id].holds(end.revision) and book.eligible(end.record_id)


def _standing_trouble(book: Book, claim: Claim, holds: bool) -> str | None:
    """Why a claim can't begin or cease to hold."""
    if claim.verdict != "supersedes" or holds == claim.holds:
        return None
    if holds:
        return None if all(book.fit(end) for end in claim.ends) else STALE
    return _revival_trouble(book, claim.target.record_id)


def change_relation(book: Book, operation: RelationChange) -> None:
    """Writes down an accepted change of a verdict's relation."""
    claim = book.claims[operation.relation_id]
    held = claim.holds
    claim.revision += 1
    match operation:
        case RetireRelation() | RestoreRelation():
            claim.retired = isinstance(operation, RetireRelation)
        case ReviewRelation(disposition=disposition):
            claim.rejected = disposition == "rejected"
    claim.interrupted |= held and not claim.holds


# Pairs, sweeps, confirmations


def open_pair(book: Book, opened: Opened, now: int) -> Pair:
    """A candidate that somebody has surfaced, with the id that it was given."""
    made = Pair(opened.candidate_id, opened.source, opened.target, opened.channel, opened.similarity, now, now)
    book.pairs[made.id] = made
    return made


def submission_trouble(book: Book, given: Submitting) -> str | None:
    """Why pairs are refused, all of them."""
    if any(one.source == one.target for one in given.candidates):
        return BAD
    for one in given.candidates:
        ends = one.source, one.target
        if book.sheets.keys() >= {*ends} and book.pending_between(*ends):
            continue
        if not book.sheets.keys() >= {*ends} or any(book.sheets[end].deleted for end in ends):
            return MISSING
        if {book.sheets[end].type for end in ends} != {"memory"}:
            return BAD
    return None


def orphan(pair: Pair, operation_id: str, author: Author | None) -> None:
    """A sweep meets a candidate."""
    pair.status, pair.marker, pair.author, pair.operation = "orphaned", "sweep", author, operation_id


def resumable(book: Book, given: Undoing) -> list[Pair] | str:
    """What an undo puts back to pending, in the order of the run; or why it is refused."""
    if (given.run_id is None) == (given.operation_id is None):
        return BAD
    run = book.runs.get(given.run_id or "")
    one = [
        (operation, pair) for ran in book.runs.values() for operation, pair in ran if operation == given.operation_id
    ]
    if run is None and not one:
        return UNKNOWN
    found = [
        book.pairs[pair]
        for operation, pair in run or one
        if (book.pairs[pair].status, book.pairs[pair].operation) == ("orphaned", operation)
        and book.pending_between(*book.pairs[pair].ends) is None
    ]
    return found or STALE


def resume(pair: Pair, now: int) -> None:
    """A candidate is pending again, its age counted from now."""
    pair.status, pair.since = "pending", now
    pair.marker = pair.author = pair.operation = None


def confirmation_trouble(book: Book, given: Confirming) -> str | None:
    """Why confirmations are refused, all of them."""
    names = [one.record_id for one in given.confirmations]
    if len({*names}) < len(names):
        return BAD
    return MISSING if any(name not in book.sheets or book.sheets[name].deleted for name in names) else None


def confirm(book: Book, given: Confirming, now: int) -> None:
    """Writes down accepted confirmations."""
    for one in given.confirmations:
        sheet = book.sheets[one.record_id]
        if one.outcome == "affirmed":
            sheet.affirmed, sheet.refuted = now, None
        else:
            sheet.refuted = now
