"""How well a partition's records hang together, and whether anything contradicts (views.md, health)."""

from __future__ import annotations

from relatum.core.answers.survey import Health, HealthState
from relatum.core.kind_names import KINDS
from relatum.core.relations import StoredRelation
from relatum.ledger.reads.partition_statistics import Survey
from relatum.store.partition import PartitionReader


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
