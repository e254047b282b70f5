"""Decisions on relation commands (relations.md, commands)."""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct

from relatum import limits
from relatum.core import digests, transitions
from relatum.core.ancestry import BOUNDS
from relatum.core.answers.eligibility import EndpointReason
from relatum.core.answers.receipts import RelationAction
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
from relatum.core.events import FoundEvent, RelationEvent, Stamp
from relatum.core.journal import streams_of
from relatum.core.kinds import REGISTRY
from relatum.core.receipts import RelationReceipt
from relatum.core.relations import RelationInput, StoredRelation
from relatum.core.state import PartitionState, RelationVersion
from relatum.core.streams import RELATIONS
from relatum.errors import Refusal, Refused, invalid, missing, stale

_UNFIT: dict[EndpointReason, str] = {
    "endpoint_unavailable": "is missing or not eligible",
    "endpoint_revision_changed": "is at another revision",
}


class RelationDecision(Struct, frozen=True, gc=False):
    """An accepted relation command.

    Its event, the relation before it, and the one it leaves with its canonical bytes.
    """

    event: RelationEvent
    before: StoredRelation | None
    after: StoredRelation
    canonical: bytes


class FoundDecision(Struct, frozen=True, gc=False):
    """An accepted assertion that changes nothing, since an equal relation is in force."""

    event: FoundEvent


def decide(
    state: PartitionState, operation: RelationOperation, idempotency_key: str, command_digest: str, stamp: Stamp
) -> RelationDecision | FoundDecision | Refusal:
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
            if refusal is None and operation.if_absent:
                equal = _in_force(state, operation.relation)
                if equal is not None:
                    return _found(state, operation, equal, idempotency_key, command_digest, stamp)
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
    for name, pin, version in (("source", given.source, source), ("target", given.target, target)):
        unfit = evaluator.endpoint_failure(pin, version)
        if unfit is not None:
            return stale(f"the {name} {_UNFIT[unfit]}")
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
    place = evaluator.failing_pin(given.evidence_sources, depth=0)
    return stale(f"the evidence source at {place} is missing, at another revision or not eligible")


def _in_force(state: PartitionState, given: RelationInput) -> RelationVersion | None:
    """The oldest relation that says what is to be asserted, all of its pins holding."""
    for version in state.equal_relations(given):
        sources = ((state.record(pin.record_id), pin) for pin in version.relation.input.evidence_sources)
        if all(source is not None and source.meta.holds(pin.revision) for source, pin in sources):
            state.verify_relation(version)
            return version
    return None


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
    action, digest = transitions.RELATION_ACTIONS[type(operation)], digests.relation_digest(canonical)
    event = RelationEvent(
        relation_id=relation_id,
        operation=operation,
        receipt=_receipt(state, after, digest, action, evidence_ref, key, command_digest, stamp),
        **linked(head, state.partition, stamp),
        **journaling(head, stamp, RELATIONS, *streams_of(consequences)),
        consequences=consequences,
    )
    return RelationDecision(event, before, after, canonical)


def _found(
    state: PartitionState,
    operation: AssertRelation,
    equal: RelationVersion,
    key: str,
    command_digest: str,
    stamp: Stamp,
) -> FoundDecision:
    evidence_ref = operation.relation.provenance.evidence_ref
    event = FoundEvent(
        operation=operation,
        receipt=_receipt(state, equal.relation, equal.digest, "found", evidence_ref, key, command_digest, stamp),
        **linked(state.head(), state.partition, stamp),
    )
    return FoundDecision(event)


def _receipt(
    state: PartitionState,
    relation: StoredRelation,
    digest: bytes,
    action: RelationAction,
    evidence_ref: str,
    key: str,
    command_digest: str,
    stamp: Stamp,
) -> RelationReceipt:
    """The receipt of a command that made a relation what it is, or found it so."""
    receipt = RelationReceipt(
        contract_version=1,
        idempotency_key=key,
        relation_id=relation.relation_id,
        revision=relation.revision,
        action=action,
        author=stamp.author,
        committed_at_millis=stamp.at_millis,
        evidence_ref=evidence_ref,
        relation_digest=digest.hex(),
        command_digest=command_digest,
        receipt_digest="",
        commit_sequence=state.head().sequence + 1,
    )
    return digests.sealed_receipt(state.workspace_id, receipt)
