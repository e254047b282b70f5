"""Static rules of relation commands, each at its limit and one past it."""

from __future__ import annotations

from typing import Any

import pytest

from relatum import limits
from relatum.core.commands import RelationOperation
from relatum.core.decide.relation_rules import broken_rule
from relatum.core.ids import Ref
from relatum.core.relations import Model
from tests.support import builders
from tests.support.builders import MODEL, START_MILLIS, provenance, unknown_id

SOURCE = Ref(record_id=unknown_id(1), revision=1)
TARGET = Ref(record_id=unknown_id(2), revision=1)


def asserted(source: Ref = SOURCE, target: Ref = TARGET, **members: Any) -> RelationOperation:
    return builders.assertion(source, target, **members)


def proofs(number: int, revision: int = 1) -> tuple[Ref, ...]:
    return tuple(Ref(record_id=unknown_id(100 + one), revision=revision) for one in range(number))


def told(**members: Any) -> RelationOperation:
    return asserted(provenance=provenance(**members))


def inferred(**members: str) -> RelationOperation:
    model = {"provider": "maker", "model": "reader", "revision": "7"} | members
    return told(origin="model_inference", model=Model(**model))


ASSERTIONS: list[tuple[RelationOperation, RelationOperation]] = [
    # at the limit, past it
    (asserted(), asserted(target=SOURCE)),
    (asserted(), asserted(target=Ref(record_id=SOURCE.record_id, revision=2))),
    (
        asserted(Ref(record_id=SOURCE.record_id, revision=limits.U64_MAX)),
        asserted(Ref(record_id=SOURCE.record_id, revision=0)),
    ),
    (asserted(), asserted(target=Ref(record_id=TARGET.record_id, revision=0))),
    (
        asserted(valid_from_millis=START_MILLIS, valid_until_millis=START_MILLIS + 1),
        asserted(valid_from_millis=START_MILLIS, valid_until_millis=START_MILLIS),
    ),
    (
        asserted(valid_from_millis=limits.I64_MIN, valid_until_millis=limits.I64_MAX),
        asserted(valid_from_millis=limits.I64_MAX, valid_until_millis=limits.I64_MIN),
    ),
    (told(method="m" * 256), told(method="m" * 257)),
    (told(method="m"), told(method=" ")),
    (told(method_revision="m" * 256), told(method_revision="m" * 257)),
    (told(method_revision="m"), told(method_revision="m\n")),
    (told(evidence_ref="e" * 2048), told(evidence_ref="e" * 2049)),
    (told(evidence_ref="e"), told(evidence_ref="")),
    (told(origin="model_inference", model=MODEL), told(origin="model_inference")),
    (inferred(provider="p" * 256), inferred(provider="p" * 257)),
    (inferred(model="m" * 256), inferred(model="m" * 257)),
    (inferred(revision="r" * 256), inferred(revision="r" * 257)),
    (inferred(provider="p"), inferred(provider="")),
    (inferred(model="m"), inferred(model=" ")),
    (inferred(revision="r"), inferred(revision="\x00")),
    (
        told(origin="human_statement", model=MODEL),
        told(origin="human_statement", model=Model(provider="", model="m", revision="r")),
    ),
    (asserted(evidence_sources=proofs(16)), asserted(evidence_sources=proofs(17))),
    (asserted(evidence_sources=proofs(2)), asserted(evidence_sources=proofs(1) + proofs(1, revision=2))),
    (asserted(evidence_sources=proofs(1)), asserted(evidence_sources=(SOURCE,))),
    (asserted(evidence_sources=proofs(1)), asserted(evidence_sources=(Ref(record_id=TARGET.record_id, revision=9),))),
    (asserted(evidence_sources=proofs(1)), asserted(evidence_sources=proofs(1, revision=0))),
]
FREE: list[RelationOperation] = [
    asserted(valid_from_millis=START_MILLIS),
    asserted(valid_until_millis=limits.I64_MIN),
    asserted(valid_from_millis=limits.I64_MAX),
    told(origin="tool_observation"),
    told(origin="imported_assertion"),
    told(origin="human_statement", model=MODEL),
]


@pytest.mark.parametrize(("kept", "broken"), ASSERTIONS)
def test_an_assertion_is_bounded(kept: RelationOperation, broken: RelationOperation) -> None:
    assert broken_rule(kept, "key") is None
    assert broken_rule(broken, "key") is not None


@pytest.mark.parametrize("operation", FREE)
def test_an_assertion_is_otherwise_free(operation: RelationOperation) -> None:
    assert broken_rule(operation, "key") is None


@pytest.mark.parametrize("build", [builders.retire, builders.restore, builders.judge])
def test_a_change_of_a_relation_is_bounded(build: Any) -> None:
    assert broken_rule(build(unknown_id(), 1), "key") is None
    assert broken_rule(build(unknown_id(), limits.U64_MAX, evidence_ref="e" * 2048), "key") is None
    assert broken_rule(build(unknown_id(), 0), "key") is not None
    assert broken_rule(build(unknown_id(), 1, evidence_ref="e" * 2049), "key") is not None
    assert broken_rule(build(unknown_id(), 1, evidence_ref=" "), "key") is not None


@pytest.mark.parametrize("operation", [asserted(), builders.retire(unknown_id(), 1), builders.judge(unknown_id(), 1)])
def test_the_idempotency_key_is_bounded(operation: RelationOperation) -> None:
    assert broken_rule(operation, "k" * 256) is None
    assert broken_rule(operation, "k" * 257) is not None
    assert broken_rule(operation, "\n") is not None
