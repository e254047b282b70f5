"""Judgment commands as they come over the wire (judgments.md). Each has its members side by side at the top."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from relatum import limits
from relatum.core.answers.standings import Outcome
from relatum.core.canonical import normal_json
from relatum.core.ids import Scope
from relatum.core.promotions import Promoting
from relatum.core.relations import Provenance
from relatum.core.verdicts import Verdict
from relatum.core.wire import Closed, Sparse, Uuid, canonical_uuid


def _canonical(value: Struct, *names: str) -> None:
    for name in names:
        force_setattr(value, name, canonical_uuid(getattr(value, name)))


class Judgment(Sparse, frozen=True, kw_only=True):
    """One verdict on a candidate."""

    candidate_id: Uuid
    relation: Verdict
    reason: str | None = None
    confidence: float | None = None
    evidence: Any = None
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        _canonical(self, "candidate_id")
        _normalise(self)


class Comparison(Sparse, frozen=True, kw_only=True):
    """A verdict on two records without a candidate.

    Only an import brings one without confidence, or says how it came about.
    """

    source_id: Uuid
    target_id: Uuid
    relation: Verdict
    confidence: float | None
    reason: str | None = None
    evidence: Any = None
    provenance: Provenance | None = None

    def __post_init__(self) -> None:
        _canonical(self, "source_id", "target_id")
        _normalise(self)


class Pair(Sparse, frozen=True, kw_only=True):
    """Two records that an outside detector wants judged."""

    source: Uuid
    target: Uuid
    similarity: float | None = None

    def __post_init__(self) -> None:
        _canonical(self, "source", "target")
        if self.similarity is not None:
            force_setattr(self, "similarity", self.similarity + 0.0)


class ConfirmationInput(Sparse, frozen=True, kw_only=True):
    """What somebody found a record to be."""

    record_id: Uuid
    outcome: Outcome
    evidence_ref: str

    def __post_init__(self) -> None:
        _canonical(self, "record_id")


class Judging(Sparse, tag="batch", frozen=True, kw_only=True):
    """Verdicts on candidates, each on its own."""

    judgments: tuple[Judgment, ...]


class Comparing(Sparse, tag="compare", frozen=True, kw_only=True):
    """One verdict on two records."""

    comparison: Comparison


class Submitting(Sparse, tag="candidates", frozen=True, kw_only=True):
    """Pairs to be judged."""

    candidates: tuple[Pair, ...]


class Sweeping(Sparse, tag="sweep", frozen=True, kw_only=True):
    """Orphan what has waited too long."""


class Undoing(Sparse, tag="undo", frozen=True, kw_only=True):
    """Undo a run of the sweep, or one operation of it."""

    run_id: Uuid | None = None
    operation_id: Uuid | None = None

    def __post_init__(self) -> None:
        for name in ("run_id", "operation_id"):
            if getattr(self, name) is not None:
                _canonical(self, name)


class Confirming(Sparse, tag="confirm", frozen=True, kw_only=True):
    """Confirmations, all or nothing."""

    confirmations: tuple[ConfirmationInput, ...]


JudgmentOperation = Judging | Comparing | Submitting | Sweeping | Undoing | Confirming | Promoting


class JudgmentBatchCommand(Closed, frozen=True, kw_only=True):
    """Body of `judgments/batch`."""

    contract_version: int
    scope: Scope
    idempotency_key: str
    judgments: tuple[Judgment, ...]

    @property
    def operation(self) -> JudgmentOperation:
        """The command without its envelope."""
        return Judging(judgments=self.judgments)


class CompareCommand(Closed, frozen=True, kw_only=True):
    """Body of `judgments/compare`."""

    contract_version: int
    scope: Scope
    idempotency_key: str
    source_id: Uuid
    target_id: Uuid
    relation: Verdict
    confidence: float
    reason: str | None = None
    evidence: Any = None

    def __post_init__(self) -> None:
        self.operation  # noqa: B018 - ids and free JSON are checked while the body is decoded

    @property
    def operation(self) -> JudgmentOperation:
        """The command without its envelope."""
        return Comparing(
            comparison=Comparison(
                source_id=self.source_id,
                target_id=self.target_id,
                relation=self.relation,
                confidence=self.confidence,
                reason=self.reason,
                evidence=self.evidence,
            )
        )


class CandidatesCommand(Closed, frozen=True, kw_only=True):
    """Body of `judgments/candidates`."""

    contract_version: int
    scope: Scope
    idempotency_key: str
    candidates: Annotated[
        tuple[Pair, ...], Meta(extra_json_schema={"minItems": 1, "maxItems": limits.SUBMITTED_PAIRS_MAX})
    ]

    @property
    def operation(self) -> JudgmentOperation:
        """The command without its envelope."""
        return Submitting(candidates=self.candidates)


class SweepCommand(Closed, frozen=True, kw_only=True):
    """Body of `judgments/sweep`."""

    contract_version: int
    scope: Scope
    idempotency_key: str

    @property
    def operation(self) -> JudgmentOperation:
        """The command without its envelope."""
        return Sweeping()


class UndoCommand(Closed, frozen=True, kw_only=True):
    """Body of `judgments/undo`: a run or an operation."""

    contract_version: int
    scope: Scope
    idempotency_key: str
    run_id: Uuid | None = None
    operation_id: Uuid | None = None

    def __post_init__(self) -> None:
        for name in ("run_id", "operation_id"):
            if getattr(self, name) is not None:
                _canonical(self, name)

    @property
    def operation(self) -> JudgmentOperation:
        """The command without its envelope."""
        return Undoing(run_id=self.run_id, operation_id=self.operation_id)


class ConfirmCommand(Closed, frozen=True, kw_only=True):
    """Body of `records/confirm`."""

    contract_version: int
    scope: Scope
    idempotency_key: str
    confirmations: tuple[ConfirmationInput, ...]

    @property
    def operation(self) -> JudgmentOperation:
        """The command without its envelope."""
        return Confirming(confirmations=self.confirmations)


def _normalise(verdict: Judgment | Comparison) -> None:
    if verdict.confidence is not None:
        force_setattr(verdict, "confidence", verdict.confidence + 0.0)
    if verdict.evidence is not None:
        force_setattr(verdict, "evidence", normal_json(verdict.evidence))
