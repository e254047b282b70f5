"""Which refusal a relation command meets when one or two things are wrong with it (relations.md, processing)."""

from __future__ import annotations

from typing import Any

import pytest

from relatum import limits
from relatum.core.ids import Ref
from relatum.core.receipts import RelationReceipt
from tests.core.faults import Draft, Fault, alone_and_in_pairs, conflict, static, unknown
from tests.core.world import World
from tests.support import builders
from tests.support.builders import START_MILLIS, provenance, unknown_id
from tests.support.steps import Operation

PROOF = "the evidence source at 1 is missing, at another revision or not eligible"

KEY = static(
    "blank key", {"key": " "}, "the idempotency key must be 1 to 256 bytes, not blank, without control characters"
)
LOOP = static("one record twice", {"ends": "loop"}, "source and target must be different records")
END_ZERO = static("end at revision 0", {"ends": "zero"}, "revisions start at 1")
INTERVAL = static("empty interval", {"until": START_MILLIS}, "valid_from_millis must lie before valid_until_millis")
METHOD = static(
    "blank method",
    {"provenance": {"method": ""}},
    "method and method_revision must be 1 to 256 bytes, not blank, without control characters",
)
MODEL = static("model missing", {"provenance": {"origin": "model_inference"}}, "model_inference needs a model")
EVIDENCE_TWICE = static("evidence twice", {"evidence": "twice"}, "evidence sources must be distinct")
SOURCE_GONE = conflict("source missing", {"ends": "source missing"}, "the source is missing or not eligible")
SOURCE_REVISED = conflict("source changed", {"ends": "source changed"}, "the source is at another revision")
TARGET_EXPIRED = conflict("target expired", {"ends": "target expired"}, "the target is missing or not eligible")
TYPES = static("types disagree", {"kind": "authored_by"}, "the kind does not go with the types of its endpoints")
TIMES = static(
    "not earlier", {"kind": "temporal_before"}, "temporal_before needs event times, the source's strictly earlier"
)
EVIDENCE_GONE = conflict("evidence missing", {"evidence": "missing"}, PROOF)
EVIDENCE_REVISED = conflict("evidence changed", {"evidence": "changed"}, PROOF)
EVIDENCE_WIDE = static("evidence too wide", {"evidence": "too wide"}, "the evidence is too deep, too wide or circular")

ZERO = static("revision 0", {"revision": "zero"}, "expected_revision starts at 1")
NOTE = static(
    "blank evidence",
    {"note": "\t"},
    "evidence_ref must be 1 to 2048 bytes, not blank, without control characters",
)
UNKNOWN = unknown("unknown relation", {"target": "unknown"}, "no such relation")
STALE = conflict("stale revision", {"revision": "stale"}, "the relation is at another revision")
RETIRED = static("retired already", {"target": "retired"}, "the relation is retired already")
ACTIVE = static("active already", {"target": "active"}, "the relation is active already")
HIDDEN_END = conflict("an end has changed", {"target": "end changed"}, "the source is at another revision")
HIDDEN_PROOF = conflict("evidence has changed", {"target": "evidence changed"}, PROOF.replace("at 1", "at 0"))

ASSERTION = [KEY, LOOP, END_ZERO, INTERVAL, METHOD, MODEL, EVIDENCE_TWICE]
ASSERTION += [SOURCE_GONE, SOURCE_REVISED, TARGET_EXPIRED, TYPES, TIMES, EVIDENCE_GONE, EVIDENCE_REVISED, EVIDENCE_WIDE]
FAULTS: dict[str, list[Fault]] = {
    "assert": ASSERTION,
    "retire": [KEY, ZERO, NOTE, UNKNOWN, STALE, RETIRED],
    "restore": [KEY, ZERO, NOTE, UNKNOWN, STALE, ACTIVE, HIDDEN_END, HIDDEN_PROOF],
    "review": [KEY, ZERO, NOTE, UNKNOWN, STALE],
}
SOUND: Draft = {
    "key": "key",
    "ends": "sound",
    "until": START_MILLIS + 1,
    "provenance": {},
    "kind": "supports",
    "evidence": "sound",
    "revision": "current",
    "note": "note/2",
}
TARGETS = {"retire": "active", "restore": "retired", "review": "retired"}


class Stage:
    """A partition in which every choice of a draft leads somewhere."""

    def __init__(self) -> None:
        self.world = world = World()
        one, two = world.create("one", event_time_millis=2), world.create("two", event_time_millis=2)
        self.one, self.two = one, two
        changed, expiring = world.create("changed"), world.create("expiring", valid_until_millis=START_MILLIS + 10)
        gone = Ref(record_id=unknown_id(), revision=1)
        self.ends = {
            "sound": (one, two),
            "loop": (one, Ref(record_id=one.record_id, revision=2)),
            "zero": (one, Ref(record_id=two.record_id, revision=0)),
            "source missing": (gone, expiring),
            "source changed": (changed, gone),
            "target expired": (one, expiring),
        }
        proof, wide = world.create("proof"), self._wide()
        lost, rewritten = Ref(record_id=unknown_id(1), revision=1), world.create("rewritten")
        self.evidence = {
            "sound": (proof,),
            "twice": (proof, Ref(record_id=proof.record_id, revision=2)),
            "missing": (proof, lost, *wide),
            "changed": (proof, rewritten, *wide),
            "too wide": (proof, *wide, rewritten),
        }
        self.targets: dict[str, RelationReceipt | None] = {
            "active": world.relate(one, two),
            "retired": world.retire(world.relate(one, two)),
            "end changed": world.retire(world.relate(changed, two)),
            "evidence changed": world.retire(world.relate(one, two, evidence_sources=(rewritten,))),
            "unknown": None,
        }
        world.revise(changed)
        world.revise(rewritten)
        world.now_millis += 10

    def _wide(self) -> tuple[Ref, ...]:
        """Records that together have one ancestor more than one walk may visit."""
        per_record = limits.DERIVATION_SOURCES_MAX
        records = limits.ANCESTRY_NODES_MAX // (per_record + 1) + 1
        return tuple(
            self.world.derive(*(self.world.create("a source") for _ in range(per_record))) for _ in range(records)
        )

    def operation(self, kind: str, draft: Draft) -> Operation:
        if kind == "assert":
            return self._assertion(draft)
        target = self.targets[draft.get("target", TARGETS[kind])]
        current = target.revision if target else 3
        revision = {"current": current, "stale": current + 1, "zero": 0}[draft["revision"]]
        relation_id = target.relation_id if target else unknown_id()
        build: Any = {"retire": builders.retire, "restore": builders.restore, "review": builders.judge}[kind]
        operation: Operation = build(relation_id, revision, evidence_ref=draft["note"])
        return operation

    def _assertion(self, draft: Draft) -> Operation:
        source, target = self.ends[draft["ends"]]
        return builders.assertion(
            source,
            target,
            draft["kind"],
            provenance=provenance(**draft["provenance"]),
            valid_from_millis=START_MILLIS,
            valid_until_millis=draft["until"],
            evidence_sources=self.evidence[draft["evidence"]],
        )


@pytest.mark.parametrize("kind", FAULTS)
def test_a_sound_draft_is_accepted(kind: str) -> None:
    stage = Stage()
    stage.world.accept(stage.operation(kind, SOUND))


def check(kind: str, changes: Draft, told: Fault) -> None:
    stage = Stage()
    draft = SOUND | changes
    refused = stage.world.refuse(stage.operation(kind, draft), draft["key"])
    assert (told.status, told.code, told.message) == (refused.status, refused.code, refused.message)


@pytest.mark.parametrize(("changes", "told"), alone_and_in_pairs(FAULTS["assert"]))
def test_asserting_tells_the_first_fault(changes: Draft, told: Fault) -> None:
    check("assert", changes, told)


@pytest.mark.parametrize(("changes", "told"), alone_and_in_pairs(FAULTS["retire"]))
def test_retiring_tells_the_first_fault(changes: Draft, told: Fault) -> None:
    check("retire", changes, told)


@pytest.mark.parametrize(("changes", "told"), alone_and_in_pairs(FAULTS["restore"]))
def test_restoring_tells_the_first_fault(changes: Draft, told: Fault) -> None:
    check("restore", changes, told)


@pytest.mark.parametrize(("changes", "told"), alone_and_in_pairs(FAULTS["review"]))
def test_reviewing_tells_the_first_fault(changes: Draft, told: Fault) -> None:
    check("review", changes, told)


@pytest.mark.parametrize("target", ["active", "retired", "end changed", "evidence changed"])
def test_a_review_needs_no_eligibility_and_works_in_every_state(target: str) -> None:
    stage = Stage()
    stage.world.accept(stage.operation("review", SOUND | {"target": target}))
