"""Decisions on judgment commands (judgments.md)."""

from __future__ import annotations

from typing import NamedTuple, assert_never

from msgspec.structs import replace

from relatum import limits
from relatum.core import digests
from relatum.core.answers.receipts import JudgmentAction
from relatum.core.candidates import Candidate, CandidateChange, Opened, Orphaned, Resumed, Words
from relatum.core.canonical import encode
from relatum.core.consequences import Consequences
from relatum.core.decide.event_envelope import Asked, journaling, linked
from relatum.core.decide.judgment_rules import judgment_problem
from relatum.core.decide.promotions import promote
from relatum.core.decide.verdicts import Given, Ruled, default_provenance, judged
from relatum.core.events import JudgmentEvent, Stamp
from relatum.core.ids import Ref, uuid7
from relatum.core.journal import streams_of
from relatum.core.judgments import (
    Comparing,
    Comparison,
    Confirming,
    Judging,
    Judgment,
    JudgmentOperation,
    Pair,
    Submitting,
    Sweeping,
    Undoing,
)
from relatum.core.promotions import Promoting
from relatum.core.receipts import JudgmentReceipt
from relatum.core.records import Proof
from relatum.core.standings import Confirmation
from relatum.core.state import PartitionState, RecordVersion
from relatum.core.stored_judgments import (
    Confirmed,
    JudgmentRefused,
    PairsSubmitted,
    StoredJudgment,
    SweepRun,
    Undone,
    VerdictGiven,
)
from relatum.core.verdicts import KINDS
from relatum.errors import Refusal, StorageInconsistency, invalid, missing, refusal, stale


class JudgmentDecision(NamedTuple):
    """An accepted judgment command, or an outcome of one item of a batch: its event and the erasable row it brings."""

    event: JudgmentEvent
    words: Words | None


class AskedJudgment(NamedTuple):
    """A judgment command on its way. `item` goes with an item of a batch, the deadline with a sweep."""

    idempotency_key: str
    command_digest: str
    stamp: Stamp
    item: int | None = None
    deadline_millis: int = limits.SWEEP_DEADLINE_MILLIS_DEFAULT
    by_timer: bool = False


def decide(state: PartitionState, operation: JudgmentOperation, asked: AskedJudgment) -> JudgmentDecision | Refusal:
    """Accepts or refuses a sound command whose key is new. An item of a batch is never refused: its event says so."""
    match operation:
        case Judging(judgments=judgments):
            assert asked.item is not None, "a batch is decided item by item"
            return _item(state, judgments[asked.item], asked)
        case Comparing(comparison=comparison):
            return _compare(state, comparison, asked)
        case Submitting():
            return _submit(state, operation, asked)
        case Sweeping():
            return _sweep(state, asked)
        case Undoing():
            return _undo(state, operation, asked)
        case Promoting():
            promotion = promote(state, operation, Asked(asked.idempotency_key, asked.command_digest, asked.stamp))
            return _accept(state, promotion.operation, asked, promotion.consequences, "promoted")
        case Confirming():
            return _confirm(state, operation, asked)
        case _:
            assert_never(operation)


def _item(state: PartitionState, judgment: Judgment, asked: AskedJudgment) -> JudgmentDecision:
    """One verdict of a batch, on its own."""
    problem = judgment_problem(judgment)
    words, proof = _words(asked.stamp, judgment)
    found = invalid(problem) if problem is not None else _on_candidate(state, judgment, proof, asked)
    given = VerdictGiven(
        relation=judgment.relation,
        index=asked.item,
        candidate_id=judgment.candidate_id,
        confidence=judgment.confidence,
        refused=JudgmentRefused(code=found.code, message=found.message) if isinstance(found, Refusal) else None,
    )
    return _verdict(state, given, asked, found, words)


def _on_candidate(
    state: PartitionState, judgment: Judgment, proof: Proof | None, asked: AskedJudgment
) -> Ruled | Refusal:
    candidate = state.candidate(judgment.candidate_id)
    if candidate is None:
        return refusal("candidate_not_found", "no such candidate")
    if candidate.status != "pending":
        return stale("the candidate is closed")
    source, target = _ends(state, candidate)
    given = Given(
        kind=KINDS[judgment.relation],
        source=source,
        target=target,
        provenance=judgment.provenance or default_provenance(f"candidate:{candidate.candidate_id}"),
        idempotency_key=asked.idempotency_key,
        command_digest=asked.command_digest,
        candidate_id=candidate.candidate_id,
        confidence=judgment.confidence,
        words=proof,
    )
    return judged(state, given, asked.stamp)


def _ends(state: PartitionState, candidate: Candidate) -> tuple[RecordVersion, RecordVersion]:
    """Both ends as they are now; a record that was there once is there for ever, if only as a tombstone."""
    source, target = state.record(candidate.source.record_id), state.record(candidate.target.record_id)
    assert source is not None and target is not None
    return source, target


def _compare(state: PartitionState, comparison: Comparison, asked: AskedJudgment) -> JudgmentDecision | Refusal:
    source, target = state.record(comparison.source_id), state.record(comparison.target_id)
    if source is None or target is None:
        return missing(f"the {'source' if source is None else 'target'} does not exist")
    words, proof = _words(asked.stamp, comparison)
    pending = state.pending_between(comparison.source_id, comparison.target_id)
    given = Given(
        kind=KINDS[comparison.relation],
        source=source,
        target=target,
        provenance=comparison.provenance or default_provenance("comparison"),
        idempotency_key=asked.idempotency_key,
        command_digest=asked.command_digest,
        candidate_id=pending,
        confidence=comparison.confidence,
        words=proof,
    )
    found = judged(state, given, asked.stamp)
    if isinstance(found, Refusal):
        return found
    said = VerdictGiven(relation=comparison.relation, candidate_id=pending, confidence=comparison.confidence)
    return _verdict(state, said, asked, found, words)


def _submit(state: PartitionState, operation: Submitting, asked: AskedJudgment) -> JudgmentDecision | Refusal:
    changes: list[CandidateChange] = []
    ids: list[str] = []
    made: dict[frozenset[str], str] = {}
    for place, pair in enumerate(operation.candidates):
        between = frozenset((pair.source, pair.target))
        known = state.pending_between(pair.source, pair.target) or made.get(between)
        if known is None:
            opened = _opened(state, pair, place, asked.stamp)
            if isinstance(opened, Refusal):
                return opened
            changes.append(opened)
            known = made[between] = opened.candidate_id
        ids.append(known)
    submitted = PairsSubmitted(candidate_ids=tuple(ids))
    return _accept(state, submitted, asked, Consequences(candidates=tuple(changes)), "submitted")


def _opened(state: PartitionState, pair: Pair, place: int, stamp: Stamp) -> Opened | Refusal:
    source, target = state.record(pair.source), state.record(pair.target)
    if source is None or target is None or "deleted" in (source.meta.state, target.meta.state):
        return missing()
    if not source.meta.facts.type == target.meta.facts.type == "memory":
        return invalid("only memories can be judged")
    return Opened(
        candidate_id=uuid7(stamp.at_millis, digests.draw(stamp.entropy, f"candidate/{place}", 10)),
        source=Ref(record_id=source.meta.record_id, revision=source.meta.revision),
        target=Ref(record_id=target.meta.record_id, revision=target.meta.revision),
        channel="submitted",
        similarity=0.0 if pair.similarity is None else pair.similarity,
    )


def _sweep(state: PartitionState, asked: AskedJudgment) -> JudgmentDecision | Refusal:
    """Orphans what is strictly older than the deadline, oldest first, whatever the standing of its ends."""
    stamp = asked.stamp
    orphaned: list[CandidateChange] = []
    for candidate in state.pending_since(stamp.now_millis - asked.deadline_millis):
        if len(orphaned) == limits.SWEEP_MAX:
            break
        operation_id = uuid7(stamp.at_millis, digests.draw(stamp.entropy, f"operation/{len(orphaned)}", 10))
        orphaned.append(Orphaned(candidate_id=candidate.candidate_id, operation_id=operation_id))
    run_id = uuid7(stamp.at_millis, digests.draw(stamp.entropy, "run", 10))
    run = SweepRun(run_id=run_id, by_timer=asked.by_timer)
    return _accept(state, run, asked, Consequences(candidates=tuple(orphaned)), "swept")


def _undo(state: PartitionState, operation: Undoing, asked: AskedJudgment) -> JudgmentDecision | Refusal:
    target_id = operation.run_id or operation.operation_id
    assert target_id is not None
    swept = state.swept(target_id)
    if swept is None:
        return refusal("candidate_not_found", "no such run or operation")
    resumed: list[CandidateChange] = []
    for candidate_id, operation_id in swept:
        candidate = state.candidate(candidate_id)
        if candidate is None:
            raise StorageInconsistency("a candidate that was swept is missing")
        if (candidate.status, candidate.operation_id) != ("orphaned", operation_id):
            continue
        if state.pending_between(candidate.source.record_id, candidate.target.record_id) is None:
            resumed.append(Resumed(candidate_id=candidate_id))
    if not resumed:
        return stale("there is nothing left to undo")
    return _accept(state, Undone(target_id=target_id), asked, Consequences(candidates=tuple(resumed)), "undone")


def _confirm(state: PartitionState, operation: Confirming, asked: AskedJudgment) -> JudgmentDecision | Refusal:
    given = operation.confirmations
    for one in given:
        version = state.record(one.record_id)
        if version is None or version.meta.state == "deleted":
            return missing()
    confirmations = tuple(Confirmation(record_id=one.record_id, outcome=one.outcome) for one in given)
    said = Confirmed(evidence_refs=tuple(one.evidence_ref for one in given))
    return _accept(state, said, asked, Consequences(confirmations=confirmations), "confirmed")


def _words(stamp: Stamp, verdict: Judgment | Comparison) -> tuple[Words | None, Proof | None]:
    """The erasable row of what a verdict says, and what stays of it when it goes."""
    if verdict.reason is None and verdict.evidence is None:
        return None, None
    words = Words(salt=digests.draw(stamp.entropy, "salt", 16), reason=verdict.reason, evidence=verdict.evidence)
    return words, Proof(digest=digests.words_digest(words), length=len(encode(words)))


def _verdict(
    state: PartitionState, said: VerdictGiven, asked: AskedJudgment, found: Ruled | Refusal, words: Words | None
) -> JudgmentDecision:
    if isinstance(found, Refusal):
        return JudgmentDecision(_event(state, said, asked, None), None)
    event = _event(state, said, asked, found.consequences)
    kept = words if found.consequences.words is not None else None
    return JudgmentDecision(replace(event, receipt=found.receipt), kept)


def _accept(
    state: PartitionState,
    operation: StoredJudgment,
    asked: AskedJudgment,
    consequences: Consequences,
    action: JudgmentAction,
) -> JudgmentDecision:
    event, stamp = _event(state, operation, asked, consequences), asked.stamp
    receipt = JudgmentReceipt(
        contract_version=1,
        idempotency_key=asked.idempotency_key,
        action=action,
        author=stamp.author,
        committed_at_millis=stamp.at_millis,
        command_digest=asked.command_digest,
        receipt_digest="",
        commit_sequence=event.sequence,
    )
    sealed = digests.sealed_receipt(state.workspace_id, receipt)
    return JudgmentDecision(replace(event, judgment_receipt=sealed), None)


def _event(
    state: PartitionState, operation: StoredJudgment, asked: AskedJudgment, consequences: Consequences | None
) -> JudgmentEvent:
    head, stamp = state.head(), asked.stamp
    return JudgmentEvent(
        idempotency_key=asked.idempotency_key,
        operation=operation,
        command_digest=asked.command_digest,
        consequences=consequences,
        **linked(head, state.partition, stamp),
        **journaling(head, stamp, *streams_of(consequences)),
    )
