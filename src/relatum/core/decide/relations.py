"""Decisions on relation commands (relations.md, commands)."""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from relatum import limits
from relatum.core import digests, transitions
from relatum.core.ancestry import BOUNDS
from relatum.core.canonical import encode
from relatum.core.commands import (
    AssertRelation,
    RelationOperation,
    RestoreRelation,
    RetireRelation,
    ReviewRelation,
)
from relatum.core.consequences import Consequences
from relatum.core.decide.event_envelope import journaling, linked, new_id
from relatum.core.decide.relation_rules import broken_rule
from relatum.core.decide.verdicts import standing_effects
from relatum.core.eligibility import Evaluator
from relatum.core.events import RelationEvent, Stamp
from relatum.core.journal import streams_of
from relatum.core.kinds import REGISTRY
from relatum.core.receipts import RelationReceipt
from relatum.core.relations import RelationInput, StoredRelation
from relatum.core.state import PartitionState
from relatum.core.streams import RELATIONS
from relatum.errors import Refusal, Refused, invalid, missing, stale


class RelationDecision(Struct, frozen=True, gc=False):
    """An accepted relation command.

    Its event, the relation before it, and the one it leaves with its canonical bytes.
    """

    event: RelationEvent
    before: StoredRelation | None
    after: StoredRelation
    canonical: bytes


def decide(
    state: PartitionState, operation: RelationOperation, idempotency_key: str, command_digest: str, stamp: Stamp
) -> RelationDecision | Refusal:
    """Accepts or refuses a command whose key is new. Static rules, then unknown, stale, then state rules."""
    problem = broken_rule(operation, idempotency_key)
    if problem is not None:
        return invalid(problem)
    try:
        if isinstance(operation, AssertRelation):
            before = None
            relation_id = new_id(stamp, "relation")
            evidence_ref = operation.relation.provenance.evidence_ref
            refusal = assertable(state, operation.relation, stamp.now_millis)
        else:
            relation_id, evidence_ref = operation.relation_id, operation.evidence_ref
            version = state.relation(relation_id)
            if version is None:
                return missing("no such relation")
            state.verify_relation(version)
            before = version.relation
            refusal = _changeable(state, operation, before, stamp.now_millis)
    except Refused as refused:
        return refused.refusal
    if refusal is not None:
        return refusal
    return _accept(state, operation, before, relation_id, evidence_ref, idempotency_key, command_digest, stamp)


def assertable(state: PartitionState, given: RelationInput, now_millis: int) -> Refusal | None:
    """Why an input can't be asserted now, or None: source, then target, their types, event times, the evidence.

    Raises Refused (400) over a budget.
    """
    evaluator = Evaluator(state, now_millis)
    source, target = evaluator.record(given.source.record_id), evaluator.record(given.target.record_id)
    evaluator.check_endpoint_bytes(source, target)
    if evaluator.endpoint_failure(given.source, source) or evaluator.endpoint_failure(given.target, target):
        return stale("an endpoint is missing, has changed or is not eligible")
    assert source is not None and target is not None
    row, facts, target_facts = REGISTRY[given.kind], source.meta.facts, target.meta.facts
    if facts.type != row.source_type or target_facts.type != row.target_type:
        return invalid("the kind does not go with the types of its endpoints")
    if given.kind == "temporal_before":
        earlier, later = facts.event_time_millis, target_facts.event_time_millis
        if earlier is None or later is None or earlier >= later:
            return invalid("temporal_before needs event times, the source's strictly earlier")
    failure = evaluator.evidence_failure(given.evidence_sources) if given.evidence_sources else None
    if failure is None:
        return None
    if failure.reason in BOUNDS:
        return invalid("the evidence is too deep, too wide or circular")
    return stale("an evidence source is missing, has changed or is not eligible")


def _changeable(
    state: PartitionState,
    operation: RetireRelation | RestoreRelation | ReviewRelation,
    before: StoredRelation,
    now_millis: int,
) -> Refusal | None:
    if before.revision != operation.expected_revision:
        return stale("the relation is at another revision")
    match operation:
        case RetireRelation():
            return invalid("the relation is retired already") if before.state == "retired" else None
        case RestoreRelation():
            if before.state == "active":
                return invalid("the relation is active already")
            return assertable(state, before.input, now_millis)
        case ReviewRelation():
            return None
        case _:
            assert_never(operation)


def _accept(
    state: PartitionState,
    operation: RelationOperation,
    before: StoredRelation | None,
    relation_id: str,
    evidence_ref: str,
    key: str,
    command_digest: str,
    stamp: Stamp,
) -> RelationDecision | Refusal:
    after = transitions.relation_after(before, operation, relation_id, stamp.at_millis, stamp.author)
    canonical = encode(after)
    if len(canonical) > limits.RELATION_BYTES_MAX:
        return invalid("the stored relation would be over 16 KiB")
    effects = () if before is None else standing_effects(state, before, after)
    if isinstance(effects, Refusal):
        return effects
    consequences = Consequences(standings=effects) if effects else None
    head = state.head()
    receipt = RelationReceipt(
        contract_version=1,
        idempotency_key=key,
        relation_id=relation_id,
        revision=after.revision,
        action=transitions.RELATION_ACTIONS[type(operation)],
        author=stamp.author,
        committed_at_millis=stamp.at_millis,
        evidence_ref=evidence_ref,
        relation_digest=digests.relation_digest(canonical).hex(),
        command_digest=command_digest,
        receipt_digest="",
        commit_sequence=head.sequence + 1,
    )
    event = RelationEvent(
        relation_id=relation_id,
        operation=operation,
        receipt=digests.sealed_receipt(state.workspace_id, receipt),
        **linked(head, state.partition, stamp),
        **journaling(head, stamp, RELATIONS, *streams_of(consequences)),
        consequences=consequences,
    )
    return RelationDecision(event, before, after, canonical)
