"""How well a partition's records hang together, and whether anything contradicts (views.md, health and overview)."""

from __future__ import annotations

from heapq import nlargest
from typing import Literal

from relatum import limits
from relatum.core.standings import StandingView
from relatum.core.wire import Closed, Uuid
from relatum.reads.records import payload_of
from relatum.reads.standings import Standings
from relatum.reads.survey import RECORDS_MAX, Survey, SurveyCoverage
from relatum.store.keys import Table
from relatum.store.partition import PartitionReader

HealthState = Literal["empty", "disconnected", "partial", "connected"]
CONFLICTS = frozenset({"contradicts", "conflicts"})


class Health(Closed, frozen=True, kw_only=True):
    """The state of a partition. `conflicts` counts pairs, whichever end says so and by whichever means."""

    state: HealthState
    records: int
    linked: int
    isolated: int
    conflicts: int
    red: bool
    unreviewed_machine_relations: int
    pending_candidates: int
    oldest_pending_age_millis: int | None
    coverage: SurveyCoverage


class OverviewNode(Closed, frozen=True, kw_only=True):
    """One of the most linked records."""

    record_id: Uuid
    revision: int
    title: str | None
    preview: str
    degree: int
    standing: StandingView


class OverviewEdge(Closed, frozen=True, kw_only=True):
    """What joins two of them: a relation, or a curated link."""

    source_id: Uuid
    target_id: Uuid
    kind: str
    layer: Literal["authored", "link"]


class Overview(Closed, frozen=True, kw_only=True):
    """The most linked records and what joins them."""

    nodes: tuple[OverviewNode, ...]
    edges: tuple[OverviewEdge, ...]
    coverage: SurveyCoverage


def health(partition: PartitionReader, now_millis: int) -> Health:
    """How well the records hang together."""
    survey = Survey(partition)
    linked = 0
    conflicts: set[frozenset[str]] = set()
    for record_id in survey.metas:
        ties = list(survey.ties(record_id))
        linked += bool(ties)
        conflicts |= {frozenset((tie.source_id, tie.target_id)) for tie in ties if tie.kind in CONFLICTS}
    records = len(survey.metas)
    pending, oldest = _pending(partition, now_millis)
    return Health(
        state=_state(records, linked),
        records=records,
        linked=linked,
        isolated=records - linked,
        conflicts=len(conflicts),
        red=bool(conflicts),
        unreviewed_machine_relations=_unreviewed(partition),
        pending_candidates=pending,
        oldest_pending_age_millis=oldest,
        coverage=survey.coverage,
    )


def overview(partition: PartitionReader, nodes_max: int) -> Overview:
    """The most linked records, the newest first among equals, and what joins them."""
    survey = Survey(partition)
    degrees = {record_id: survey.degree(record_id) for record_id in survey.metas}
    chosen = nlargest(nodes_max, degrees, key=lambda one: (degrees[one], one))
    inside, standings = set(chosen), Standings(partition)
    edges: dict[tuple[str, str, str, bool], None] = {}
    for record_id in chosen:
        for tie in survey.ties(record_id, (Table.OUTGOING,)):
            if tie.source_id in inside and tie.target_id in inside:
                edges[tie] = None
    return Overview(
        nodes=tuple(
            _node(partition, survey, standings.of(record_id), record_id, degrees[record_id]) for record_id in chosen
        ),
        edges=tuple(
            OverviewEdge(source_id=source, target_id=target, kind=kind, layer="authored" if authored else "link")
            for source, target, kind, authored in edges
        ),
        coverage=survey.coverage,
    )


def _state(records: int, linked: int) -> HealthState:
    if records == 0:
        return "empty"
    if linked == 0:
        return "disconnected"
    return "connected" if linked == records else "partial"


def _pending(partition: PartitionReader, now_millis: int) -> tuple[int, int | None]:
    """How many candidates wait, and how long the oldest has."""
    count, oldest = 0, None
    for candidate in partition.candidates("pending"):
        if oldest is None:
            oldest = now_millis - candidate.since_millis
        count += 1
        if count == RECORDS_MAX:
            break
    return count, oldest


def _unreviewed(partition: PartitionReader) -> int:
    """Active relations that a model inferred and nobody has reviewed, among the newest."""
    count = 0
    for looked_at, version in enumerate(partition.relations(reverse=True)):
        if looked_at == RECORDS_MAX:
            break
        relation = version.relation
        machine = relation.input.provenance.origin == "model_inference"
        count += machine and relation.state == "active" and relation.review is None
    return count


def _node(
    partition: PartitionReader, survey: Survey, standing: StandingView, record_id: str, degree: int
) -> OverviewNode:
    meta = survey.metas[record_id]
    payload = payload_of(partition, meta)
    return OverviewNode(
        record_id=record_id,
        revision=meta.revision,
        title=None if payload is None else payload.title,
        preview="" if payload is None else payload.content[: limits.PREVIEW_CHARACTERS_MAX],
        degree=degree,
        standing=standing,
    )
