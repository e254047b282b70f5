"""Mined edges as answered (views.md, derived edges)."""

from __future__ import annotations

from typing import Literal

from relatum.core.answers.base import Answer, Open
from relatum.core.ids import Scope
from relatum.core.kinds import Kind
from relatum.core.promotions import PromotedKind, PromotionOutcome
from relatum.core.wire import Uuid


class EdgeView(Answer, frozen=True, kw_only=True):
    """A mined edge."""

    source_id: Uuid
    target_id: Uuid
    kind: Open[Kind]
    weight: float


class ReplaceEdgesAnswer(Answer, frozen=True, kw_only=True):
    """How many edges the run has so far; `finished` once they took the place of what was there."""

    contract_version: Literal[1]
    run_id: str
    edges: int
    finished: bool


class DropEdgesAnswer(Answer, frozen=True, kw_only=True):
    """How many mined edges there were."""

    contract_version: Literal[1]
    dropped: int


class ProposalAnswer(Answer, frozen=True, kw_only=True):
    """What became of one proposal."""

    source_id: Uuid
    target_id: Uuid
    kind: Open[PromotedKind]
    outcome: Open[PromotionOutcome]
    relation_id: Uuid | None


class PromoteAnswer(Answer, frozen=True, kw_only=True):
    """What became of each proposal, in the order of the request; the same on every replay."""

    contract_version: Literal[1]
    outcomes: tuple[ProposalAnswer, ...]


class DanglingAnswer(Answer, frozen=True, kw_only=True):
    """Mined edges whose end is missing, deleted or superseded; `complete` where there are no others."""

    contract_version: Literal[1]
    scope: Scope
    edges: tuple[EdgeView, ...]
    complete: bool


class MovedEdge(Answer, frozen=True, kw_only=True):
    """An edge that was led on to the superseder of an end."""

    before: EdgeView
    after: EdgeView


class RepairAnswer(Answer, frozen=True, kw_only=True):
    """What a repair did."""

    contract_version: Literal[1]
    moved: tuple[MovedEdge, ...]
    dropped: tuple[EdgeView, ...]
