"""The registry of relation kinds against the table of the contract, and endpoint types against the registry."""

from __future__ import annotations

from typing import get_args

import pytest

from relatum.core.ids import Ref
from relatum.core.kinds import REGISTRY, Kind, KindClass, RecordType, kinds_of
from tests.core.world import World
from tests.support import builders

MEMORY = """
    semantic_related same_entity temporal_before causal_claim supports contradicts supersedes laterally_related
    caused_by leads_to part_of example_of fixes_issue
"""
# views.md, kinds and classes: class, kinds, source type, target type
TABLE: list[tuple[KindClass, str, RecordType, RecordType]] = [
    (
        "memory",
        MEMORY,
        "memory",
        "memory",
    ),
    ("verdict", "compatible scoped not_conflict", "memory", "memory"),
    ("person", "about_person authored_by", "memory", "person"),
    ("provenance", "from_session", "memory", "session"),
    ("task", "blocks subtask_of", "task", "task"),
]
SYMMETRIC = "semantic_related same_entity contradicts laterally_related compatible scoped not_conflict"
TYPES: tuple[RecordType, ...] = get_args(RecordType)


def test_the_registry_is_the_table_of_the_contract() -> None:
    expected = {kind: (cls, source, target) for cls, kinds, source, target in TABLE for kind in kinds.split()}
    found = {kind: (row.kind_class, row.source_type, row.target_type) for kind, row in REGISTRY.items()}
    assert expected == found


def test_the_symmetric_kinds_are_those_of_the_contract() -> None:
    assert set(SYMMETRIC.split()) == {kind for kind, row in REGISTRY.items() if row.symmetric}


@pytest.mark.parametrize(("kind_class", "kinds", "source", "target"), TABLE)
def test_the_kinds_of_a_class_are_listed_in_the_order_of_the_registry(
    kind_class: KindClass, kinds: str, source: RecordType, target: RecordType
) -> None:
    assert tuple(kinds.split()) == kinds_of(kind_class)


@pytest.mark.parametrize("kind", REGISTRY)
def test_a_kind_goes_with_the_types_of_its_row_and_no_others(kind: Kind) -> None:
    world = World()
    ends: dict[RecordType, tuple[Ref, Ref]] = {
        each: (world.create(type=each, event_time_millis=1), world.create(type=each, event_time_millis=2))
        for each in TYPES
    }
    row = REGISTRY[kind]
    for source_type in TYPES:
        for target_type in TYPES:
            operation = builders.assertion(ends[source_type][0], ends[target_type][1], kind)
            if (source_type, target_type) == (row.source_type, row.target_type):
                world.accept(operation)
            else:
                refused = world.refuse(operation)
                assert (400, "the kind does not go with the types of its endpoints") == (
                    refused.status,
                    refused.message,
                )
