"""The health of a partition and the overview of its graph as answered (views.md)."""

from __future__ import annotations

from typing import Literal

from relatum.core.answers.base import Answer, Open
from relatum.core.answers.standings import StandingView
from relatum.core.ids import Scope
from relatum.core.wire import Uuid

SurveyStop = Literal["record_limit", "scan_limit", "dependency_limit"]

HealthState = Literal["empty", "disconnected", "partial", "connected"]

OverviewStop = Literal["record_limit", "scan_limit", "dependency_limit", "node_limit", "edge_limit"]


class SurveyCoverage(Answer, frozen=True, kw_only=True):
    """How much was looked at. `record_limit`: there are more records than 10,000; `scan_limit`: more of something else.

    `dependency_limit`: not every ancestry could be judged, and what was not judged was left out.
    """

    scanned_records: int
    scanned_relations: int
    scanned_links: int
    complete: bool
    stop_reasons: tuple[Open[SurveyStop], ...]


class Health(Answer, frozen=True, kw_only=True):
    """The state of a partition. `conflicts` counts pairs, whichever end says so and by whichever means."""

    state: Open[HealthState]
    records: int
    linked: int
    isolated: int
    conflicts: int
    red: bool
    unreviewed_machine_relations: int
    pending_candidates: int
    oldest_pending_age_millis: int | None
    coverage: SurveyCoverage


class HealthAnswer(Health, frozen=True, kw_only=True):
    """How well the records hang together."""

    contract_version: Literal[1]
    scope: Scope


class OverviewCoverage(Answer, frozen=True, kw_only=True):
    """How much was looked at, as for health. `node_limit`: there are more records; `edge_limit`: over 1,024 edges."""

    scanned_records: int
    scanned_relations: int
    scanned_links: int
    complete: bool
    stop_reasons: tuple[Open[OverviewStop], ...]


class OverviewNode(Answer, frozen=True, kw_only=True):
    """One of the most linked records. `degree`: with how many others it is joined."""

    record_id: Uuid
    revision: int
    title: str | None
    preview: str
    degree: int
    standing: StandingView


class OverviewEdge(Answer, frozen=True, kw_only=True):
    """What joins two of them: a relation, or a curated link. Several that say the same are one edge."""

    source_id: Uuid
    target_id: Uuid
    kind: str
    layer: Open[Literal["authored", "link"]]


class Overview(Answer, frozen=True, kw_only=True):
    """The most linked records and what joins them."""

    nodes: tuple[OverviewNode, ...]
    edges: tuple[OverviewEdge, ...]
    coverage: OverviewCoverage


class OverviewAnswer(Answer, frozen=True, kw_only=True):
    """The most linked records and what joins them."""

    contract_version: Literal[1]
    scope: Scope
    graph: Overview
