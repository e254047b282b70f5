"""How well a partition's records hang together, and whether anything contradicts (views.md, health)."""

from __future__ import annotations

from typing import Literal

from relatum.core.kind_names import KINDS
from relatum.core.relations import StoredRelation
from relatum.core.wire import Closed
from relatum.ledger.reads.partition_statistics import Survey, SurveyCoverage
from relatum.store.partition import PartitionReader

HealthState = Literal["empty", "disconnected", "partial", "connected"]


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


def health(partition: PartitionReader, now_millis: int) -> Health:
    """How well the records hang together."""
    survey = Survey(partition, now_millis)
    records, linked = len(survey.records), sum(map(bool, survey.partners().values()))
    conflicts = {frozenset((tie.source_id, tie.target_id)) for tie in survey.ties if KINDS[tie.kind] == "contradicts"}
    pending, since_millis = survey.pending()
    return Health(
        state=_state(records, linked),
        records=records,
        linked=linked,
        isolated=records - linked,
        conflicts=len(conflicts),
        red=bool(conflicts),
        unreviewed_machine_relations=sum(map(_awaits_review, survey.relations)),
        pending_candidates=pending,
        oldest_pending_age_millis=None if since_millis is None else max(0, now_millis - since_millis),
        coverage=survey.coverage,
    )


def _state(records: int, linked: int) -> HealthState:
    if records == 0:
        return "empty"
    if linked == 0:
        return "disconnected"
    return "connected" if linked == records else "partial"


def _awaits_review(relation: StoredRelation) -> bool:
    """Whether a model inferred a relation, and nobody has approved it."""
    return relation.input.provenance.origin == "model_inference" and relation.disposition in (None, "unreviewed")
