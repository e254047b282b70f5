"""Whether a record should be looked at again: computed from its age and its confirmations, never stored.

Implements the second axis of judgments.md, needs review.
"""

from __future__ import annotations

from typing import NamedTuple

from relatum.core.standings import Standing
from relatum.limits import DAY_MILLIS

MONTH_MILLIS = 30 * DAY_MILLIS
MONTHS_TO_LIVE = {"procedural": 2, "project": 3, "feedback": 6, "user": 12}
"""By category; the others live for ever."""

ESCALATION = 3
FRESH_REFUTATION_MILLIS = 14 * DAY_MILLIS


class Staleness(NamedTuple):
    """That a record needs review: since when it stands unquestioned, and what makes it urgent."""

    baseline_millis: int
    refuted_at_millis: int | None
    escalated: bool

    def order(self, now_millis: int) -> tuple[bool, int]:
        """Freshly refuted first, then the oldest baseline."""
        refuted = self.refuted_at_millis
        return (refuted is None or now_millis - refuted > FRESH_REFUTATION_MILLIS, self.baseline_millis)


def staleness(created_at_millis: int, category: str | None, standing: Standing, now_millis: int) -> Staleness | None:
    """Why a record needs review, or None."""
    baseline = max(created_at_millis, standing.affirmed_at_millis or created_at_millis)
    refuted = standing.refuted_at_millis
    if refuted is not None and refuted < baseline:
        refuted = None
    months = MONTHS_TO_LIVE.get(category or "")
    age = now_millis - baseline
    due = months is not None and age >= months * MONTH_MILLIS
    if not due and refuted is None:
        return None
    escalated = months is not None and age >= ESCALATION * months * MONTH_MILLIS
    return Staleness(baseline, refuted, escalated)
