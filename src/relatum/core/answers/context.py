"""A block for a prompt, and what goes with it, as answered (views.md)."""

from __future__ import annotations

from typing import Literal

from relatum.core.answers.annotated import NeedsReview
from relatum.core.answers.base import Answer, Open
from relatum.core.answers.judgments import CandidateView
from relatum.core.answers.standings import StandingView
from relatum.core.ids import Scope
from relatum.core.wire import Uuid

Tier = Literal["pinned", "matched", "rest"]

ContextStop = Literal["record_limit", "match_limit", "scan_limit", "dependency_limit", "entry_limit", "index_behind"]


class ContextCoverage(Answer, frozen=True, kw_only=True):
    """How much was looked at: records in outline, the newest first; links; index entries of the best 64 matches.

    `record_limit`: there are more records than 10,000; `match_limit`: more matches, whose relations were not looked at;
    `scan_limit`: more entries, links, standings or candidates; `dependency_limit`: not every ancestry could be judged;
    `entry_limit`: the block has 500 entries, or 1,000 records were read for it; `index_behind`: the search index had
    not come to the newest records yet.
    """

    scanned_records: int
    adjacency_entries_examined: int
    links_examined: int
    complete: bool
    stop_reasons: tuple[Open[ContextStop], ...]


class ContextEntry(Answer, frozen=True, kw_only=True):
    """A record of the block."""

    record_id: Uuid
    revision: int
    tier: Open[Tier]
    score: float
    standing: StandingView


class PendingJudgment(CandidateView, frozen=True, kw_only=True):
    """A pair that waits for a verdict, with what its ends say; null of an end that a reader may not see."""

    source_title: str | None
    source_snippet: str | None
    target_title: str | None
    target_snippet: str | None


class DueRecord(Answer, frozen=True, kw_only=True):
    """A record that should be looked at again, and the beginning of what it says."""

    record_id: Uuid
    revision: int
    title: str | None
    snippet: str
    standing: StandingView
    needs_review: NeedsReview


class Context(Answer, frozen=True, kw_only=True):
    """The block, what it is made of, and what awaits whoever starts to work."""

    block: str
    entries: tuple[ContextEntry, ...]
    left_out: int
    pending_candidates: int
    needs_review: int
    pending_judgments: tuple[PendingJudgment, ...]
    due_records: tuple[DueRecord, ...]
    coverage: ContextCoverage


class ContextAnswer(Context, frozen=True, kw_only=True):
    """A block for a prompt, what it is made of, and what awaits whoever starts to work."""

    contract_version: Literal[1]
    scope: Scope
