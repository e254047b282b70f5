"""Reads of single relations: read, inspect, revision (relations.md, reads).

What always holds: a relation is answered only after its rows have been checked against each other. Payloads of its
endpoints are never answered.
"""

from __future__ import annotations

from relatum.core.answers.relations import Relation, RelationHistory, RelationInspection
from relatum.core.eligibility import Evaluator
from relatum.core.relations import relation_view
from relatum.errors import Refusal, Refused, StorageInconsistency, invalid, missing
from relatum.store import integrity
from relatum.store.partition import PartitionReader


def read(partition: PartitionReader, now_millis: int, relation_id: str) -> Relation | Refusal:
    """An eligible relation. 404 `record_not_found` for every other id; 400 over a budget."""
    version = partition.relation(relation_id)
    if version is None:
        return missing()
    integrity.verify_relation(partition, version)
    try:
        eligible = Evaluator(partition, now_millis).relation_is_eligible(version.relation)
    except Refused as refused:
        return refused.refusal
    return relation_view(version.relation) if eligible else missing()


def inspect(partition: PartitionReader, now_millis: int, relation_id: str) -> RelationInspection | Refusal:
    """A retained relation in whatever state and the verdict on it. 404 if absent; 400 over a budget."""
    version = partition.relation(relation_id)
    if version is None:
        return missing()
    integrity.verify_relation(partition, version)
    try:
        eligibility = Evaluator(partition, now_millis).explain_relation(version.relation)
    except Refused as refused:
        return refused.refusal
    return RelationInspection(relation=relation_view(version.relation), eligibility=eligibility)


def revision(partition: PartitionReader, relation_id: str, number: int) -> RelationHistory | Refusal:
    """A relation as of revision `number`, eligible or not, and its receipt. 404 if there never was one; 400 below 1."""
    if number < 1:
        return invalid("revisions start at 1")
    current = partition.relation(relation_id)
    version = None if current is None else partition.relation_revision(relation_id, number, current)
    if current is None or (version is None and number > current.relation.revision):
        return missing()
    if version is None or number > current.relation.revision:
        raise StorageInconsistency("a relation and its revisions don't agree")
    return RelationHistory(
        relation=relation_view(version.relation), receipt=integrity.relation_receipt(partition, version)
    )
