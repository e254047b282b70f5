"""The work that comes with a context block: pairs that wait for a verdict, and records that are due (views.md).

What always holds: both lists are of the view that the block is made of. The content of a record is shown only while the
record is eligible; the number of rows looked at is bounded, and whoever calls is told where a bound was met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import asdict

from relatum import limits
from relatum.core.ancestry import DependencyBudgetExhausted
from relatum.core.answers.context import DueRecord, PendingJudgment
from relatum.core.candidates import Candidate
from relatum.core.eligibility import Evaluator
from relatum.core.records import Payload
from relatum.core.staleness import Staleness
from relatum.core.state import RecordVersion
from relatum.ledger.reads.judgments import Fitness, view_of
from relatum.ledger.reads.needs_review import needs_review_view
from relatum.ledger.reads.records import payload_of
from relatum.ledger.reads.standings import Standings
from relatum.store.partition import PartitionReader

CANDIDATES_SCANNED_MAX: Final = 10_000
DUE_LOOKS_MAX: Final = 1_000
"""How many records that are due are looked at; some turn out not to be eligible."""


class Wanted(NamedTuple):
    """How much work is asked for, and from which age on, and up to which, a pending candidate is offered again."""

    judgments_max: int = limits.CONTEXT_JUDGMENTS_DEFAULT
    records_max: int = limits.CONTEXT_REVIEW_DEFAULT
    resurfacing_millis: int = limits.RESURFACING_MILLIS_DEFAULT
    deadline_millis: int = limits.SWEEP_DEADLINE_MILLIS_DEFAULT


WANTED_DEFAULT: Final = Wanted()


class Due(NamedTuple):
    """A record that should be looked at again, and why."""

    record_id: str
    staleness: Staleness


class Work:
    """What awaits whoever starts to work. `stopped` is called where not everything could be looked at."""

    def __init__(
        self, partition: PartitionReader, evaluator: Evaluator, wanted: Wanted, stopped: Callable[[], None]
    ) -> None:
        self._partition = partition
        self._evaluator = evaluator
        self._wanted = wanted
        self._stopped = stopped

    def pending_judgments(self) -> tuple[PendingJudgment, ...]:
        """Pairs of the resurfacing age, the oldest first, both ends active and current."""
        found: list[PendingJudgment] = []
        if self._wanted.judgments_max == 0:
            return ()
        fit, now_millis = Fitness(self._partition), self._evaluator.now_millis
        candidates = self._partition.candidates("pending")
        for candidate in islice(candidates, CANDIDATES_SCANNED_MAX):
            waited = now_millis - candidate.since_millis
            if waited < self._wanted.resurfacing_millis:
                return tuple(found)
            if waited <= self._wanted.deadline_millis and fit.both(candidate):
                found.append(self._pending(candidate))
                if len(found) == self._wanted.judgments_max:
                    return tuple(found)
        if next(candidates, None) is not None:
            self._stopped()
        return tuple(found)

    def due_records(self, due: Iterable[Due]) -> tuple[DueRecord, ...]:
        """The first of what is due that are eligible."""
        found: list[DueRecord] = []
        standings = Standings(self._partition)
        for looks, one in enumerate(due):
            if len(found) == self._wanted.records_max:
                break
            if looks == DUE_LOOKS_MAX:
                self._stopped()
                break
            version = self._evaluator.record(one.record_id)
            payload = None if version is None else self._shown(version)
            if version is None or payload is None:
                continue
            found.append(
                DueRecord(
                    record_id=one.record_id,
                    revision=version.meta.revision,
                    title=payload.title,
                    snippet=payload.content[: limits.SNIPPET_CHARACTERS_MAX],
                    standing=standings.of(one.record_id),
                    needs_review=needs_review_view(one.staleness),
                )
            )
        return tuple(found)

    def _pending(self, candidate: Candidate) -> PendingJudgment:
        source, target = self._end(candidate.source.record_id), self._end(candidate.target.record_id)
        return PendingJudgment(
            **asdict(view_of(self._partition, candidate)),
            source_title=None if source is None else source.title,
            source_snippet=None if source is None else source.content[: limits.END_SNIPPET_CHARACTERS_MAX],
            target_title=None if target is None else target.title,
            target_snippet=None if target is None else target.content[: limits.END_SNIPPET_CHARACTERS_MAX],
        )

    def _end(self, record_id: str) -> Payload | None:
        version = self._evaluator.record(record_id)
        return None if version is None else self._shown(version)

    def _shown(self, version: RecordVersion) -> Payload | None:
        """What a record says; None where it is not eligible, or that can't be told any more."""
        try:
            return payload_of(self._partition, version.meta) if self._evaluator.is_eligible(version) else None
        except DependencyBudgetExhausted:
            self._stopped()
            return None
