"""Static rules of judgment commands: what is wrong with one whatever the state (judgments.md)."""

from __future__ import annotations

from typing import assert_never

from relatum import limits
from relatum.core import text
from relatum.core.canonical import encode
from relatum.core.decide import promotions
from relatum.core.decide.relation_rules import provenance_problem
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
from relatum.core.promotions import Promoting


def broken_rule(operation: JudgmentOperation, idempotency_key: str) -> str | None:
    """The first static rule that a command as a whole breaks, in words; None for a sound command.

    What is wrong with one verdict of a batch is that item's own affair: `judgment_problem`.
    """
    if not text.is_idempotency_key(idempotency_key):
        return "the idempotency key must be 1 to 256 bytes, not blank, without control characters"
    match operation:
        case Judging(judgments=judgments):
            if not 1 <= len(judgments) <= limits.JUDGMENTS_MAX:
                return "a batch has 1 to 20 judgments"
        case Comparing(comparison=comparison):
            return _comparison_problem(comparison)
        case Submitting():
            return _pairs_problem(operation)
        case Sweeping():
            return None
        case Undoing(run_id=run_id, operation_id=operation_id):
            return "name either a run or an operation" if (run_id is None) == (operation_id is None) else None
        case Promoting():
            return promotions.broken_rule(operation)
        case Confirming():
            return _confirmations_problem(operation)
        case _:
            assert_never(operation)
    return None


def judgment_problem(judgment: Judgment) -> str | None:
    """The first static rule that a verdict on a candidate breaks."""
    problem = _verdict_problem(judgment)
    if problem is None and judgment.provenance is not None:
        return provenance_problem(judgment.provenance)
    return problem


def _verdict_problem(verdict: Judgment | Comparison) -> str | None:
    if verdict.reason is not None and len(verdict.reason) > limits.REASON_CHARACTERS_MAX:
        return "reason must be at most 2000 characters"
    if verdict.confidence is not None and not 0.0 <= verdict.confidence <= 1.0:
        return "confidence must lie between 0 and 1"
    if verdict.evidence is not None and len(encode(verdict.evidence)) > limits.VERDICT_EVIDENCE_BYTES_MAX:
        return "evidence must be at most 64 KiB"
    return None


def _comparison_problem(comparison: Comparison) -> str | None:
    if comparison.relation == "not_conflict":
        return "a comparison can't say that there is no conflict"
    if comparison.source_id == comparison.target_id:
        return "source and target must be different records"
    return _verdict_problem(comparison)


def _pairs_problem(operation: Submitting) -> str | None:
    if not 1 <= len(operation.candidates) <= limits.SUBMITTED_PAIRS_MAX:
        return "1 to 20 candidates can be submitted at once"
    for pair in operation.candidates:
        if pair.source == pair.target:
            return "source and target must be different records"
        if pair.similarity is not None and not 0.0 <= pair.similarity <= 1.0:
            return "similarity must lie between 0 and 1"
    return None


def _confirmations_problem(operation: Confirming) -> str | None:
    given = operation.confirmations
    if not 1 <= len(given) <= limits.CONFIRMATIONS_MAX:
        return "1 to 20 records can be confirmed at once"
    if len({one.record_id for one in given}) != len(given):
        return "a record can be confirmed once in a command"
    if not all(text.is_evidence_ref(one.evidence_ref) for one in given):
        return "evidence_ref must be 1 to 2048 bytes, not blank, without control characters"
    return None
