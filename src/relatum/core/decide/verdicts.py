"""The rule of verdicts: which relation a verdict makes, which it retires, and what it does to a standing.

Used by verdicts on candidates and by comparison, by a save that takes a topic slot, and by every change of a relation
that came from a verdict (judgments.md, verdicts).
"""

from __future__ import annotations

from typing import NamedTuple

from relatum.core import digests, transitions
from relatum.core.answers.judgments import Marker
from relatum.core.answers.receipts import RelationAction
from relatum.core.candidates import Judged
from relatum.core.canonical import encode
from relatum.core.commands import AssertRelation, RelationOperation, RetireRelation
from relatum.core.consequences import Consequences, RelationPart
from relatum.core.decide.event_envelope import new_id
from relatum.core.events import Stamp
from relatum.core.ids import Ref
from relatum.core.kinds import REGISTRY, Kind
from relatum.core.receipts import RelationReceipt
from relatum.core.records import Proof
from relatum.core.relations import Provenance, RelationInput, StoredRelation
from relatum.core.standings import StandingChange, Supersession
from relatum.core.state import PartitionState, RecordVersion
from relatum.errors import Refusal, invalid, stale


class Given(NamedTuple):
    """A verdict on its way: what was said, by which command."""

    kind: Kind
    source: RecordVersion
    target: RecordVersion
    provenance: Provenance
    idempotency_key: str
    command_digest: str
    marker: Marker = "agent"
    candidate_id: str | None = None
    confidence: float | None = None
    words: Proof | None = None


class Ruled(NamedTuple):
    """What a verdict brings about, and the receipt of the relation that says it."""

    consequences: Consequences
    receipt: RelationReceipt


def default_provenance(evidence_ref: str) -> Provenance:
    """What is said of a verdict that does not say how it came about."""
    return Provenance(origin="tool_observation", method="judgment", method_revision="1", evidence_ref=evidence_ref)


def judged(state: PartitionState, given: Given, stamp: Stamp) -> Ruled | Refusal:
    """What a verdict on two retained records brings about, or why it can't be."""
    row = REGISTRY[given.kind]
    source, target = given.source.meta, given.target.meta
    if (source.facts.type, target.facts.type) != (row.source_type, row.target_type):
        return invalid("the verdict does not go with the types of its ends")
    superseded_by = state.standing(target.record_id).superseded_by
    if given.kind == "supersedes":
        if superseded_by is not None and superseded_by.record_id == source.record_id:
            return _repeated(state, superseded_by.relation_id, given, stamp)
        unfit = _unfit_to_supersede(state, given.source, given.target)
        if unfit is not None:
            return unfit
    parts: list[RelationPart] = []
    standings: list[StandingChange] = []
    for earlier_id in _earlier(state, source.record_id, target.record_id):
        retired = _retired(state, earlier_id, given, stamp)
        if retired is None:
            continue
        parts.append(retired)
        if superseded_by is not None and superseded_by.relation_id == earlier_id:
            if not can_be_reinstated(state, target.record_id):
                return stale("the topic slot of the record that would be current again is held by another")
            standings.append(StandingChange(record_id=target.record_id, action="reinstated"))
    asserted = _asserted(state, given, stamp)
    parts.append(asserted)
    if given.kind == "supersedes":
        by = Supersession(record_id=source.record_id, relation_id=asserted.relation_id)
        standings.append(StandingChange(record_id=target.record_id, action="superseded", by=by))
    consequences = Consequences(
        relations=tuple(parts),
        standings=tuple(standings),
        candidates=_closing(given, asserted.relation_id),
        words=_lasting_words(given),
    )
    return Ruled(consequences, asserted.receipt)


def _earlier(state: PartitionState, source_id: str, target_id: str) -> dict[str, None]:
    """The relations that another verdict on an ordered pair replaces: of the last one, of others that stand again.

    And what supersedes now, which may have come from a topic slot.
    """
    last, by = state.verdict_between(source_id, target_id), state.standing(target_id).superseded_by
    earlier = {} if last is None else dict.fromkeys((last, *state.standing_verdicts(source_id, target_id)))
    return earlier | {by.relation_id: None} if by is not None and by.record_id == source_id else earlier


def is_fit(state: PartitionState, version: RecordVersion) -> bool:
    """Active and current."""
    return version.meta.state == "active" and state.standing(version.meta.record_id).state == "current"


def can_return(state: PartitionState, record_id: str) -> bool:
    """Whether a record may be current again: its topic slot, if it has one, is free or its own."""
    topic = state.topic_of_record(record_id)
    return topic is None or state.topic_holder(topic) in (None, record_id)


def can_be_reinstated(state: PartitionState, record_id: str) -> bool:
    """Whether a superseded record may have its standing back; an archived one asks for its topic slot only later."""
    return state.standing(record_id).archived or can_return(state, record_id)


def standing_effects(
    state: PartitionState, before: StoredRelation, after: StoredRelation
) -> tuple[StandingChange, ...] | Refusal:
    """What a change of a relation does to the standing of its target: nothing, unless a verdict made it one.

    A verdict that loses its place gives the target its standing back; one that gets it again must pass its rule again.
    """
    if before.indexed == after.indexed or after.input.kind != "supersedes":
        return ()
    if state.verdict(after.relation_id) is None:
        return ()
    source_id, target_id = after.input.source.record_id, after.input.target.record_id
    if before.indexed:
        by = state.standing(target_id).superseded_by
        if by is None or by.relation_id != after.relation_id:
            return ()
        if not can_be_reinstated(state, target_id):
            return stale("the topic slot of the record that would be current again is held by another")
        return (StandingChange(record_id=target_id, action="reinstated"),)
    unfit = _unfit_to_supersede(state, state.record(source_id), state.record(target_id))
    if unfit is not None:
        return unfit
    by = Supersession(record_id=source_id, relation_id=after.relation_id)
    return (StandingChange(record_id=target_id, action="superseded", by=by),)


def _repeated(state: PartitionState, relation_id: str, given: Given, stamp: Stamp) -> Ruled:
    """A verdict that was given before closes its candidate and does nothing else."""
    version = state.relation(relation_id)
    assert version is not None, "a superseded record names the relation that says so"
    closing = _closing(given, relation_id)
    consequences = Consequences(candidates=closing, words=_lasting_words(given) if closing else None)
    return Ruled(consequences, _receipt(state, version.relation, "asserted", given, stamp))


def _lasting_words(given: Given) -> Proof | None:
    """What is said in words goes with either end: of one that is gone already nothing is kept."""
    both_active = given.source.meta.state == given.target.meta.state == "active"
    return given.words if both_active else None


def _closing(given: Given, relation_id: str) -> tuple[Judged, ...]:
    if given.candidate_id is None:
        return ()
    closed = Judged(
        candidate_id=given.candidate_id,
        kind=given.kind,
        relation_id=relation_id,
        marker=given.marker,
        confidence=given.confidence,
    )
    return (closed,)


def _asserted(state: PartitionState, given: Given, stamp: Stamp) -> RelationPart:
    source, target = given.source.meta, given.target.meta
    relation = RelationInput(
        source=Ref(record_id=source.record_id, revision=source.revision),
        target=Ref(record_id=target.record_id, revision=target.revision),
        kind=given.kind,
        provenance=given.provenance,
    )
    return _part(state, AssertRelation(relation=relation), None, new_id(stamp, "relation"), given, stamp)


def _retired(state: PartitionState, relation_id: str, given: Given, stamp: Stamp) -> RelationPart | None:
    version = state.relation(relation_id)
    if version is None or version.relation.state == "retired":
        return None
    state.verify_relation(version)
    operation = RetireRelation(
        relation_id=relation_id,
        expected_revision=version.relation.revision,
        evidence_ref=given.provenance.evidence_ref,
    )
    return _part(state, operation, version.relation, relation_id, given, stamp)


def _part(
    state: PartitionState,
    operation: RelationOperation,
    before: StoredRelation | None,
    relation_id: str,
    given: Given,
    stamp: Stamp,
) -> RelationPart:
    after = transitions.relation_after(before, operation, relation_id, stamp.at_millis, stamp.author)
    asserts = before is None
    return RelationPart(
        relation_id=relation_id,
        operation=operation,
        receipt=_receipt(state, after, transitions.RELATION_ACTIONS[type(operation)], given, stamp),
        candidate_id=given.candidate_id if asserts else None,
        confidence=given.confidence if asserts else None,
    )


def _receipt(
    state: PartitionState, relation: StoredRelation, action: RelationAction, given: Given, stamp: Stamp
) -> RelationReceipt:
    receipt = RelationReceipt(
        contract_version=1,
        idempotency_key=given.idempotency_key,
        relation_id=relation.relation_id,
        revision=relation.revision,
        action=action,
        author=stamp.author,
        committed_at_millis=stamp.at_millis,
        evidence_ref=given.provenance.evidence_ref,
        relation_digest=digests.relation_digest(encode(relation)).hex(),
        command_digest=given.command_digest,
        receipt_digest="",
        commit_sequence=state.head().sequence + 1,
    )
    return digests.sealed_receipt(state.workspace_id, receipt)


def _unfit_to_supersede(
    state: PartitionState, source: RecordVersion | None, target: RecordVersion | None
) -> Refusal | None:
    """The first end that stands against a supersession."""
    for name, end in (("source", source), ("target", target)):
        if end is None or not is_fit(state, end):
            return stale(f"the {name} is not active and current: a record supersedes another only while both are")
    return None
