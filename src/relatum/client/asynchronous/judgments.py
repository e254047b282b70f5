"""Candidates and verdicts (judgments.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Unpack

from relatum.client.asynchronous.group import AsyncGroup
from relatum.client.asynchronous.pages import AsyncPages
from relatum.client.chunks import chunks, key_of_chunk
from relatum.client.requests import MEMORY, VERSION, CallOptions, CommandOptions, fresh_key
from relatum.client.results import RecordAt, id_of
from relatum.core.answers.commands import SurfacedCandidate
from relatum.core.answers.judgments import (
    CandidatesAnswer,
    CandidateView,
    CompareAnswer,
    JudgmentBatchAnswer,
    JudgmentResult,
    JudgmentsQueryAnswer,
    Status,
    SweepAnswer,
    UndoAnswer,
)
from relatum.core.ids import Scope
from relatum.core.judgment_queries import JudgmentsQuery
from relatum.core.judgments import (
    CandidatesCommand,
    CompareCommand,
    Judgment,
    JudgmentBatchCommand,
    Pair,
    SweepCommand,
    UndoCommand,
)
from relatum.core.verdicts import Verdict
from relatum.limits import JUDGMENTS_MAX, SUBMITTED_PAIRS_MAX

_PATH: Final = f"{MEMORY}/judgments"

Candidate = CandidateView | SurfacedCandidate | str


class AsyncJudgments(AsyncGroup):
    """Pairs of records that somebody with the context should judge."""

    def pending(
        self,
        *,
        status: Status | None = None,
        min_age_millis: int | None = None,
        limit: int | None = None,
        **options: Unpack[CallOptions],
    ) -> AsyncPages[CandidateView]:
        """Candidates, oldest first: one page, whose `total` counts all there are. Pending ones by default."""

        async def fetch(_: object) -> JudgmentsQueryAnswer:
            return await self._read(
                f"{_PATH}/query",
                lambda scope: JudgmentsQuery(
                    contract_version=VERSION,
                    scope=scope,
                    status=status,
                    min_age_millis=min_age_millis,
                    limit=limit,
                ),
                JudgmentsQueryAnswer,
                options,
            )

        return AsyncPages(fetch, lambda page: page.candidates, lambda _: None)

    async def judge(
        self, judgments: Iterable[Judgment | tuple[Candidate, Verdict]], **options: Unpack[CommandOptions]
    ) -> tuple[JudgmentResult, ...]:
        """Verdicts on candidates, each on its own: a result each, in order, of refused ones too.

        More than 20 go out as several commands, of which all but the first have keys made of the first one's.
        """
        given = [one if isinstance(one, Judgment) else _judgment(*one) for one in judgments]
        key = options.get("idempotency_key") or fresh_key()
        results: list[JudgmentResult] = []
        for number, chunk in enumerate(chunks(given, JUDGMENTS_MAX)):
            results += await self._judge(chunk, {**options, "idempotency_key": key_of_chunk(key, number)})
        return tuple(results)

    async def _judge(self, chunk: Sequence[Judgment], options: CommandOptions) -> tuple[JudgmentResult, ...]:
        def body(scope: Scope, key: str) -> JudgmentBatchCommand:
            return JudgmentBatchCommand(
                contract_version=VERSION, scope=scope, idempotency_key=key, judgments=tuple(chunk)
            )

        return (await self._command(f"{_PATH}/batch", "judgment", body, JudgmentBatchAnswer, options)).results

    async def compare(
        self,
        source_id: RecordAt | str,
        target_id: RecordAt | str,
        relation: Verdict,
        *,
        confidence: float,
        reason: str | None = None,
        evidence: Any = None,
        **options: Unpack[CommandOptions],
    ) -> CompareAnswer:
        """A verdict on two records without a candidate, with the receipt of the relation that says it."""

        def body(scope: Scope, key: str) -> CompareCommand:
            return CompareCommand(
                contract_version=VERSION,
                scope=scope,
                idempotency_key=key,
                source_id=id_of(source_id),
                target_id=id_of(target_id),
                relation=relation,
                confidence=confidence,
                reason=reason,
                evidence=evidence,
            )

        return await self._command(f"{_PATH}/compare", "judgment", body, CompareAnswer, options)

    async def submit(
        self, candidates: Iterable[Pair | tuple[RecordAt | str, RecordAt | str]], **options: Unpack[CommandOptions]
    ) -> tuple[CandidateView, ...]:
        """Pairs that an outside detector wants judged: the candidate of each, new or known. Split by 20."""
        given = [one if isinstance(one, Pair) else _pair(*one) for one in candidates]
        key = options.get("idempotency_key") or fresh_key()
        found: list[CandidateView] = []
        for number, chunk in enumerate(chunks(given, SUBMITTED_PAIRS_MAX)):
            found += await self._submit(chunk, {**options, "idempotency_key": key_of_chunk(key, number)})
        return tuple(found)

    async def _submit(self, chunk: Sequence[Pair], options: CommandOptions) -> tuple[CandidateView, ...]:
        def body(scope: Scope, key: str) -> CandidatesCommand:
            return CandidatesCommand(
                contract_version=VERSION, scope=scope, idempotency_key=key, candidates=tuple(chunk)
            )

        return (await self._command(f"{_PATH}/candidates", "judgment", body, CandidatesAnswer, options)).candidates

    async def sweep(self, **options: Unpack[CommandOptions]) -> SweepAnswer:
        """Orphan candidates that have waited too long, at most 50."""

        def body(scope: Scope, key: str) -> SweepCommand:
            return SweepCommand(contract_version=VERSION, scope=scope, idempotency_key=key)

        return await self._command(f"{_PATH}/sweep", "judgment", body, SweepAnswer, options)

    async def undo(
        self, *, run_id: str | None = None, operation_id: str | None = None, **options: Unpack[CommandOptions]
    ) -> tuple[str, ...]:
        """Undo a run of the sweep, or one operation of it: the ids of the candidates that are pending again."""

        def body(scope: Scope, key: str) -> UndoCommand:
            return UndoCommand(
                contract_version=VERSION, scope=scope, idempotency_key=key, run_id=run_id, operation_id=operation_id
            )

        return (await self._command(f"{_PATH}/undo", "judgment", body, UndoAnswer, options)).candidate_ids


def _pair(source: RecordAt | str, target: RecordAt | str) -> Pair:
    return Pair(source=id_of(source), target=id_of(target))


def _judgment(candidate: Candidate, verdict: Verdict) -> Judgment:
    candidate_id = candidate if isinstance(candidate, str) else candidate.candidate_id
    return Judgment(candidate_id=candidate_id, relation=verdict)
