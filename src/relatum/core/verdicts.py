"""Verdicts: how a judgment names a relation of two records, and which kind of the registry that is (judgments.md)."""

from __future__ import annotations

from typing import Literal, get_args

from relatum.core.ids import Ref
from relatum.core.kinds import Kind
from relatum.core.wire import Sparse, Uuid

Verdict = Literal["supersedes", "conflicts_with", "related", "compatible", "scoped", "not_conflict"]

KINDS: dict[Verdict, Kind] = {
    "supersedes": "supersedes",
    "conflicts_with": "contradicts",
    "related": "semantic_related",
    "compatible": "compatible",
    "scoped": "scoped",
    "not_conflict": "not_conflict",
}
VERDICTS: dict[Kind, Verdict] = {kind: verdict for verdict, kind in KINDS.items()}

assert set(KINDS) == set(get_args(Verdict)), "every verdict has a kind"
assert len(VERDICTS) == len(KINDS), "no two verdicts have one kind"


class StoredVerdict(Sparse, frozen=True, kw_only=True):
    """That a relation came from a judgment, and what goes with it. `words_at`: see `Candidate`."""

    relation_id: Uuid
    kind: Kind
    source: Ref
    target: Ref
    candidate_id: Uuid | None = None
    confidence: float | None = None
    words_at: int | None = None
