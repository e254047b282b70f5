"""Judgment commands as their events keep them: without the words, which lie apart and can be erased."""

from __future__ import annotations

from relatum.core.promotions import MiningRun, ProposalOutcome
from relatum.core.verdicts import Verdict
from relatum.core.wire import Sparse, Uuid
from relatum.errors import Code


class JudgmentRefused(Sparse, frozen=True, kw_only=True):
    """Why an item of a batch was refused: kept, so that a replay says the same."""

    code: Code
    message: str


class SweepRun(Sparse, tag="sweep", frozen=True, kw_only=True):
    """A run of the sweep; the timer's has no author to show."""

    run_id: Uuid
    by_timer: bool = False


class Undone(Sparse, tag="undo", frozen=True, kw_only=True):
    """A run, or an operation of one, was undone."""

    target_id: Uuid


class VerdictGiven(Sparse, tag="verdict", frozen=True, kw_only=True):
    """A verdict: on a candidate as item `index` of a batch, or on two records by comparison."""

    relation: Verdict
    index: int | None = None
    candidate_id: Uuid | None = None
    confidence: float | None = None
    refused: JudgmentRefused | None = None


class PairsSubmitted(Sparse, tag="candidates", frozen=True, kw_only=True):
    """Pairs were submitted; the candidate of each, new or known, in the order of the command."""

    candidate_ids: tuple[Uuid, ...]


class Confirmed(Sparse, tag="confirm", frozen=True, kw_only=True):
    """Records were confirmed; with the evidence that was named, in the order of the command."""

    evidence_refs: tuple[str, ...]


class Promoted(Sparse, tag="promote", frozen=True, kw_only=True):
    """Mined edges were proposed; what became of each, and the pairs that were found to contradict on a new day."""

    run: MiningRun
    outcomes: tuple[ProposalOutcome, ...]
    suspicions: tuple[tuple[Uuid, Uuid], ...] = ()


StoredJudgment = VerdictGiven | PairsSubmitted | SweepRun | Undone | Confirmed | Promoted
