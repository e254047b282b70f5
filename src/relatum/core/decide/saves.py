"""The decision on a save: a new record, its topic slot, and the pairs that somebody should judge (judgments.md)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from relatum import limits
from relatum.core import digests, transitions
from relatum.core.ancestry import DependencyBudgetExhausted
from relatum.core.candidates import CandidateChange, Opened
from relatum.core.canonical import encode
from relatum.core.commands import SaveRecord
from relatum.core.consequences import Consequences
from relatum.core.decide.event_envelope import Asked, new_id
from relatum.core.decide.record_events import RecordDecision, accept, sealed, stored_length
from relatum.core.decide.verdicts import Given, default_provenance, is_fit, judged
from relatum.core.eligibility import Evaluator
from relatum.core.events import RecordSaved, Stamp
from relatum.core.ids import Ref
from relatum.core.records import split
from relatum.core.state import PartitionState, RecordVersion
from relatum.errors import Refusal, stale

TOPIC_SIMILARITY = 1.0


class Hit(NamedTuple):
    """A record that resembles the one that is saved; `similarity` from 0 to 1."""

    record_id: str
    similarity: float


class Detected(NamedTuple):
    """What the search index found, the most similar first. It may lag behind, and lie: every hit is checked."""

    hits: tuple[Hit, ...] = ()


NOTHING_DETECTED = Detected()


def save(
    state: PartitionState,
    operation: SaveRecord,
    detected: Detected,
    asked: Asked,
) -> RecordDecision | Refusal:
    """Accepts a sound save, or refuses it."""
    stamp = asked.stamp
    facts, payload = split(operation.record)
    row, proof = sealed(stamp, payload=payload)
    record_id = new_id(stamp, "record")
    occupant = _occupant(state, operation.record.topic_key)
    if occupant is not None and not facts.type == occupant.meta.facts.type == "memory":
        return stale("the topic key is held by another record")
    wanted = facts.type == "memory"
    found = list(_pairs(state, detected, occupant, stamp.now_millis)) if wanted else []
    saved = RecordSaved(facts=facts, payload=proof, detected=len(found))
    meta = transitions.record_after(None, saved, record_id, stamp.at_millis, stamp.author)
    canonical = encode(meta)
    own = RecordVersion(meta, digests.record_digest(canonical), 0, stored_length(meta, len(canonical)))
    consequences = Consequences()
    if occupant is not None:
        replaced = _replacing(state, own, occupant, asked)
        if isinstance(replaced, Refusal):
            return replaced
        consequences = replaced
    opened = _opened(own, found[: operation.candidates_max], stamp)
    if occupant is not None or opened:
        consequences = Consequences(
            relations=consequences.relations,
            standings=consequences.standings,
            candidates=(*opened, *consequences.candidates),
        )
    brings = consequences if consequences.candidates else None
    return accept(state, saved, None, record_id, row, asked, brings)


def _occupant(state: PartitionState, topic: str | None) -> RecordVersion | None:
    holder = None if topic is None else state.topic_holder(topic)
    return None if holder is None else state.record(holder)


def _replacing(
    state: PartitionState, own: RecordVersion, occupant: RecordVersion, asked: Asked
) -> Consequences | Refusal:
    """The occupant of the slot is superseded: the judged candidate says that its topic key did it."""
    stamp = asked.stamp
    candidate_id = new_id(stamp, "candidate")
    given = Given(
        kind="supersedes",
        source=own,
        target=occupant,
        provenance=default_provenance(f"candidate:{candidate_id}"),
        idempotency_key=asked.idempotency_key,
        command_digest=asked.command_digest,
        marker="agent_topic_key",
        candidate_id=candidate_id,
    )
    verdict = judged(state, given, stamp)
    if isinstance(verdict, Refusal):
        return verdict
    pair = Opened(
        candidate_id=candidate_id,
        source=_ref(own),
        target=_ref(occupant),
        channel="topic_key",
        similarity=TOPIC_SIMILARITY,
    )
    ruled = verdict.consequences
    return Consequences(relations=ruled.relations, standings=ruled.standings, candidates=(pair, *ruled.candidates))


def _pairs(
    state: PartitionState, detected: Detected, occupant: RecordVersion | None, now_millis: int
) -> Iterator[tuple[RecordVersion, float]]:
    """The hits that are worth judging: active and current memories, but for what is replaced and what is settled.

    What is not eligible is not among them: the answer to a save shows titles and contents to whoever may read, and a
    reader is not given those.
    """
    evaluator = Evaluator(state, now_millis)
    replaced = set() if occupant is None else set(_ancestors(state, occupant.meta.record_id))
    seen: set[str] = set()
    for hit in detected.hits[: limits.DETECTED_MAX]:
        version = state.record(hit.record_id)
        if version is None or version.meta.facts.type != "memory" or not is_fit(state, version):
            continue
        if hit.record_id in replaced or hit.record_id in seen or _settled(state, replaced, hit.record_id):
            continue
        seen.add(hit.record_id)
        try:
            if not evaluator.is_eligible(version):
                continue
        except DependencyBudgetExhausted:
            return
        yield version, hit.similarity


def _ancestors(state: PartitionState, record_id: str) -> Iterator[str]:
    """A record and what it superseded for its topic, up to 10 back."""
    found: str | None = record_id
    for _ in range(limits.TOPIC_ANCESTORS_MAX):
        if found is None:
            return
        yield found
        found = state.replaced_for_topic(found)


def _settled(state: PartitionState, ancestors: set[str], target_id: str) -> bool:
    """Whether an earlier version of the topic was found not to conflict with a record."""
    return any(
        _no_conflict(state, one, other)
        for ancestor in ancestors
        for one, other in ((ancestor, target_id), (target_id, ancestor))
    )


def _no_conflict(state: PartitionState, source_id: str, target_id: str) -> bool:
    """Whether any verdict on an ordered pair says so and stands."""
    if state.verdict_between(source_id, target_id) is None:
        return False  # mostly nobody has judged them, and there is nothing to scan
    found = map(state.relation, state.standing_verdicts(source_id, target_id))
    return any(version is not None and version.relation.input.kind == "not_conflict" for version in found)


def _opened(own: RecordVersion, found: list[tuple[RecordVersion, float]], stamp: Stamp) -> tuple[CandidateChange, ...]:
    return tuple(
        Opened(
            candidate_id=new_id(stamp, f"candidate/{place}"),
            source=_ref(own),
            target=_ref(target),
            channel="lexical",
            similarity=similarity,
        )
        for place, (target, similarity) in enumerate(found)
    )


def _ref(version: RecordVersion) -> Ref:
    return Ref(record_id=version.meta.record_id, revision=version.meta.revision)
