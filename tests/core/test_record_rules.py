"""Static rules of record commands, each at its limit and one past it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from relatum import limits
from relatum.core.commands import RecordOperation
from relatum.core.decide.record_rules import broken_rule
from relatum.core.ids import Ref
from relatum.core.records import RecordProvenance
from tests.support import builders
from tests.support.builders import unknown_id

AT = Ref(record_id=unknown_id(), revision=1)
CONTENT = limits.CONTENT_BYTES_MAX

MEMBERS: list[tuple[str, Any, Any]] = [
    # member of a record, a value at the limit, a value past it
    ("content", "a", ""),
    ("content", "\u200b", "\u3000"),
    ("content", "\x00", " \t\r\n"),
    ("content", "a" * CONTENT, "a" * (CONTENT + 1)),
    ("content", "é" * (CONTENT // 2), "é" * (CONTENT // 2) + "a"),
    ("title", "t" * 200, "t" * 201),
    ("title", "語" * 66 + "ab", "語" * 67),
    ("tags", tuple(map(str, range(32))), tuple(map(str, range(33)))),
    ("tags", ("a", "A"), ("a", "a")),
    ("tags", ("t" * 64,), ("t" * 65,)),
    ("tags", ("t",), ("",)),
    ("category", "c" * 256, "c" * 257),
    ("category", "c", " "),
    ("topic_key", "t" * 256, "t" * 257),
    ("topic_key", "t", "t\x7f"),
    ("fact_key", "f" * 256, "f" * 257),
    ("fact_key", "f", ""),
    ("confidence", 0.0, -5e-324),
    ("confidence", 1.0, 1.0000000000000002),
    ("confidence", 0.5, float("nan")),
    ("provenance", RecordProvenance(source_id="s" * 2048), RecordProvenance(source_id="s" * 2049)),
    ("provenance", RecordProvenance(source_id="s"), RecordProvenance(source_id=" ")),
    (
        "provenance",
        RecordProvenance(source_id="s", source_hash="h" * 2048),
        RecordProvenance(source_id="s", source_hash="h" * 2049),
    ),
    (
        "provenance",
        RecordProvenance(source_id="s", source_revision="r"),
        RecordProvenance(source_id="s", source_revision="\n"),
    ),
]
FREE: list[tuple[str, Any]] = [
    # what no static rule forbids
    ("title", ""),
    ("title", "two\nlines"),
    ("content", "ends with a newline\n"),
    ("event_time_millis", limits.I64_MIN),
    ("valid_until_millis", limits.I64_MIN),
    ("valid_until_millis", limits.I64_MAX),
    ("data", {}),
    ("data", {"": [None, True, limits.U64_MAX, limits.I64_MIN, 1e308]}),
]
BUILDS: dict[str, Callable[..., RecordOperation]] = {
    "create": builders.create,
    "revise": lambda **members: builders.revise(AT, **members),
    "derive": lambda **members: builders.derive(AT, **members),
}


@pytest.mark.parametrize("build", BUILDS)
@pytest.mark.parametrize(("member", "kept", "broken"), MEMBERS)
def test_a_record_is_bounded(build: str, member: str, kept: Any, broken: Any) -> None:
    assert broken_rule(BUILDS[build](**{member: kept}), "key") is None
    assert broken_rule(BUILDS[build](**{member: broken}), "key") is not None


@pytest.mark.parametrize(("member", "value"), FREE)
def test_a_record_is_otherwise_free(member: str, value: Any) -> None:
    assert broken_rule(builders.create(**{member: value}), "key") is None


def sources(number: int, revision: int = 1) -> tuple[Ref, ...]:
    return tuple(Ref(record_id=unknown_id(one), revision=revision) for one in range(number))


def derived(*given: Ref, **members: str) -> RecordOperation:
    operation = builders.derive(content="a summary")
    return type(operation)(record=operation.record, derivation=builders.derivation(*given, **members))


DERIVATIONS: list[tuple[RecordOperation, RecordOperation]] = [
    (derived(*sources(1)), derived()),
    (derived(*sources(16)), derived(*sources(17))),
    (derived(*sources(2)), derived(*sources(1), *sources(1))),
    (derived(*sources(2)), derived(*sources(1), *sources(1, revision=2))),
    (derived(*sources(1, limits.U64_MAX)), derived(*sources(1, 0))),
    (derived(AT, method="m" * 256), derived(AT, method="m" * 257)),
    (derived(AT, method="m"), derived(AT, method=" ")),
    (derived(AT, method_revision="m" * 256), derived(AT, method_revision="m" * 257)),
    (derived(AT, method_revision="m"), derived(AT, method_revision="\x00")),
    (derived(AT, evidence_ref="e" * 2048), derived(AT, evidence_ref="e" * 2049)),
    (derived(AT, evidence_ref="e"), derived(AT, evidence_ref="")),
]


@pytest.mark.parametrize(("kept", "broken"), DERIVATIONS)
def test_a_derivation_is_bounded(kept: RecordOperation, broken: RecordOperation) -> None:
    assert broken_rule(kept, "key") is None
    assert broken_rule(broken, "key") is not None


@pytest.mark.parametrize("build", [builders.revise, builders.delete, builders.review])
def test_expected_revisions_start_at_1(build: Any) -> None:
    assert broken_rule(build(Ref(record_id=unknown_id(), revision=1)), "key") is None
    assert broken_rule(build(Ref(record_id=unknown_id(), revision=0)), "key") is not None


def test_the_evidence_of_a_review_is_bounded() -> None:
    assert broken_rule(builders.review(AT, evidence_ref="e" * 2048), "key") is None
    assert broken_rule(builders.review(AT, evidence_ref="e" * 2049), "key") is not None


@pytest.mark.parametrize(
    "operation",
    [builders.create(), builders.derive(AT), builders.revise(AT), builders.delete(AT), builders.review(AT)],
)
def test_the_idempotency_key_is_bounded(operation: RecordOperation) -> None:
    assert broken_rule(operation, "k" * 256) is None
    assert broken_rule(operation, "k" * 257) is not None
    assert broken_rule(operation, "") is not None
