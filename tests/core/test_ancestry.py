"""The walk over derivation sources: its order, its three bounds, its memory of heights, and the budget of a request."""

from __future__ import annotations

from typing import Any

import pytest

from relatum import limits
from relatum.core.ancestry import DependencyBudgetExhausted
from relatum.core.answers.eligibility import FailureReason, RecordEligibility
from relatum.core.eligibility import Evaluator
from relatum.core.ids import Ref
from tests.core.shelf import Shelf
from tests.support.builders import START_MILLIS, unknown_id

DEPTH, NODES, SOURCES = limits.ANCESTRY_DEPTH_MAX, limits.ANCESTRY_NODES_MAX, limits.DERIVATION_SOURCES_MAX


def verdict(shelf: Shelf, root: Ref) -> RecordEligibility:
    return Evaluator(shelf, START_MILLIS).explain_record(shelf.version(root))


def failure(shelf: Shelf, root: Ref) -> tuple[str, FailureReason] | None:
    """The record that failed first and why."""
    first = verdict(shelf, root).first_failure
    return None if first is None else (first.record_id, first.reason)


def chain(shelf: Shelf, first: int, edges: int, ground: Ref | None = None) -> Ref:
    """A record with a path of so many edges below it, ending at `ground`; its numbers begin at `first`."""
    top = ground or shelf.put(first)
    for number in range(first + 1, first + 1 + edges):
        top = shelf.put(number, top)
    return top


# Depth


def test_a_path_of_8_edges_is_walked_to_its_end() -> None:
    shelf = Shelf()
    found = verdict(shelf, chain(shelf, 0, DEPTH))
    assert found.eligible
    assert (DEPTH, DEPTH, True) == (
        found.max_depth_examined,
        found.dependencies_checked,
        found.all_dependencies_checked,
    )


def test_the_record_behind_a_ninth_edge_trips_the_depth_bound() -> None:
    shelf = Shelf()
    found = verdict(shelf, chain(shelf, 0, DEPTH + 1))
    assert found.first_failure is not None
    assert (unknown_id(0), 1, None, "depth_limit") == tuple(
        getattr(found.first_failure, name) for name in ("record_id", "expected_revision", "actual_revision", "reason")
    )
    assert (DEPTH, DEPTH, False) == (
        found.max_depth_examined,
        found.dependencies_checked,
        found.all_dependencies_checked,
    )


def test_a_record_can_be_derived_where_its_path_has_8_edges_and_not_where_it_has_9() -> None:
    shelf = Shelf()
    evaluator = Evaluator(shelf, START_MILLIS)
    assert evaluator.derivation_failure((chain(shelf, 0, DEPTH - 1),)) is None
    too_deep = evaluator.derivation_failure((chain(shelf, 100, DEPTH),))
    assert too_deep is not None
    assert (unknown_id(100), "depth_limit") == (too_deep.record_id, too_deep.reason)


def test_a_declared_evidence_source_is_at_depth_0() -> None:
    shelf = Shelf()
    evaluator = Evaluator(shelf, START_MILLIS)
    assert evaluator.evidence_failure((chain(shelf, 0, DEPTH),)) is None
    too_deep = evaluator.evidence_failure((chain(shelf, 100, DEPTH + 1),))
    assert too_deep is not None
    assert "depth_limit" == too_deep.reason


def test_a_subtree_reached_again_deeper_remembers_its_height() -> None:
    shelf = Shelf()
    tree = chain(shelf, 0, 5)  # five edges below it
    kept = shelf.put(100, tree, chain(shelf, 200, 2, tree))  # again at depth 3: 3 + 5 = 8
    assert failure(shelf, kept) is None
    broken = shelf.put(101, tree, chain(shelf, 300, 3, tree))  # again at depth 4: 4 + 5 = 9
    assert (tree.record_id, "depth_limit") == failure(shelf, broken)
    assert failure(shelf, shelf.put(102, chain(shelf, 400, 2, tree), tree)) is None


def test_the_depth_of_a_remembered_subtree_counts_as_examined() -> None:
    shelf = Shelf()
    tree = chain(shelf, 0, 3)
    assert 2 + 3 == verdict(shelf, shelf.put(100, tree, chain(shelf, 200, 1, tree))).max_depth_examined


# Width


def wide(shelf: Shelf, nodes: int) -> Ref:
    """A record with exactly so many distinct ancestors: a few sources that are derived from the rest."""
    middle, numbers = [], iter(range(1, nodes + 1))
    left = nodes
    while left > 0:
        below = min(SOURCES, left - 1)
        grounds = tuple(shelf.put(next(numbers)) for _ in range(below))
        middle.append(shelf.put(next(numbers), *grounds))
        left -= below + 1
    return shelf.put(1_000, *middle)


def test_64_ancestors_are_walked_and_the_65th_trips_the_bound() -> None:
    shelf = Shelf()
    found = verdict(shelf, wide(shelf, NODES))
    assert found.eligible
    assert NODES == found.dependencies_checked == found.dependency_work.records_examined
    shelf = Shelf()
    found = verdict(shelf, wide(shelf, NODES + 1))
    assert found.first_failure is not None
    assert ("node_limit", None) == (found.first_failure.reason, found.first_failure.actual_revision)
    assert NODES == found.dependencies_checked == found.dependency_work.records_examined


def test_shared_ancestors_count_once_and_the_root_not_at_all() -> None:
    shelf = Shelf()
    grounds = shelf.put_many(0, SOURCES)
    middle = tuple(shelf.put(number, *grounds) for number in range(100, 100 + SOURCES))
    found = verdict(shelf, shelf.put(1_000, *middle))
    assert found.eligible
    assert 2 * SOURCES == found.dependencies_checked
    assert {"records_examined": 2 * SOURCES, "bytes_examined": 2 * SOURCES * 100} == {
        name: getattr(found.dependency_work, name) for name in ("records_examined", "bytes_examined")
    }


def test_declared_evidence_counts_among_its_own_64() -> None:
    shelf = Shelf()
    evaluator = Evaluator(shelf, START_MILLIS)
    towers = [shelf.put(1_000 + 100 * one, *shelf.put_many(1_001 + 100 * one, 15)) for one in range(4)]
    assert 64 == sum(1 + 15 for _ in towers)
    assert evaluator.evidence_failure(tuple(towers)) is None
    one_more = evaluator.evidence_failure((*towers, shelf.put(9)))
    assert one_more is not None
    assert (unknown_id(9), "node_limit") == (one_more.record_id, one_more.reason)


# Cycles, which no command can make: a derivation names what exists already, and never changes


def knot(shelf: Shelf, edges: int) -> Ref:
    """A record that is its own ancestor over so many edges."""
    root = Ref(record_id=unknown_id(1_000), revision=1)
    return shelf.put(1_000, chain(shelf, 0, edges - 2, shelf.put(0, root)))


def test_a_cycle_is_noticed_where_it_closes() -> None:
    shelf = Shelf()
    assert (unknown_id(1_000), "cycle") == failure(shelf, knot(shelf, 2))
    shelf = Shelf()
    assert (unknown_id(1_000), "cycle") == failure(shelf, knot(shelf, DEPTH))


def test_a_cycle_among_ancestors_is_noticed_too() -> None:
    shelf = Shelf()
    closing = Ref(record_id=unknown_id(2), revision=1)
    one = shelf.put(1, closing)
    two = shelf.put(2, one)
    assert (unknown_id(2), "cycle") == failure(shelf, shelf.put(3, two))
    evidence = Evaluator(shelf, START_MILLIS).evidence_failure((two,))
    assert evidence is not None
    assert "cycle" == evidence.reason


# What is checked before what


def test_depth_is_checked_before_the_cycle() -> None:
    shelf = Shelf()
    assert (unknown_id(1_000), "depth_limit") == failure(shelf, knot(shelf, DEPTH + 1))


def test_the_cycle_is_checked_before_the_node_bound() -> None:
    shelf = Shelf()
    full = wide(shelf, NODES - 1)
    sources = shelf.version(full).meta.derivation
    assert sources is not None
    closing = shelf.put(2_000, Ref(record_id=unknown_id(3_000), revision=1))
    assert (unknown_id(3_000), "cycle") == failure(shelf, shelf.put(3_000, *sources.sources, closing))


def test_the_node_bound_is_checked_before_the_look_up() -> None:
    shelf = Shelf()
    full = wide(shelf, NODES)
    sources = shelf.version(full).meta.derivation
    assert sources is not None
    lost = Ref(record_id=unknown_id(5_000), revision=1)
    found = verdict(shelf, shelf.put(3_000, *sources.sources, lost))
    assert found.first_failure is not None
    assert (lost.record_id, "node_limit") == (found.first_failure.record_id, found.first_failure.reason)
    assert NODES == found.dependency_work.records_examined


FAILING: list[tuple[dict[str, Any], FailureReason]] = [
    # the source as it is now, although revision 1 was recorded, and what the walk says of it
    ({"revision": 2}, "source_revision_changed"),
    ({"revision": 2, "state": "deleted"}, "source_revision_changed"),
    ({"revision": 2, "disposition": "rejected"}, "source_revision_changed"),
    ({"state": "deleted", "disposition": "rejected", "until": START_MILLIS}, "deleted"),
    ({"disposition": "rejected", "until": START_MILLIS}, "rejected"),
    ({"until": START_MILLIS}, "expired"),
]
SOUND: list[dict[str, Any]] = [
    {},
    {"until": START_MILLIS + 1},
    {"disposition": "approved"},
    {"disposition": "unreviewed"},
]


@pytest.mark.parametrize(("now", "reason"), FAILING)
def test_the_revision_of_a_source_is_tested_before_its_own_state(now: dict[str, Any], reason: FailureReason) -> None:
    shelf = Shelf()
    root = shelf.put(2, Ref(record_id=unknown_id(1), revision=1))
    source = shelf.put(1, **now)
    first = verdict(shelf, root).first_failure
    assert first is not None
    assert (source.record_id, 1, source.revision, reason) == (
        first.record_id,
        first.expected_revision,
        first.actual_revision,
        first.reason,
    )


@pytest.mark.parametrize("now", SOUND)
def test_a_sound_source_carries_its_record(now: dict[str, Any]) -> None:
    shelf = Shelf()
    assert failure(shelf, shelf.put(2, shelf.put(1, **now))) is None


def test_a_missing_source_is_one_look_up_and_no_bytes() -> None:
    shelf = Shelf()
    found = verdict(shelf, shelf.put(1, Ref(record_id=unknown_id(7), revision=3)))
    assert found.first_failure is not None
    assert ("source_missing", 3, None) == (
        found.first_failure.reason,
        found.first_failure.expected_revision,
        found.first_failure.actual_revision,
    )
    assert (1, 0) == (found.dependency_work.records_examined, found.dependency_work.bytes_examined)


def test_sources_are_walked_depth_first_in_stored_order() -> None:
    shelf = Shelf()
    lost, spoiled = Ref(record_id=unknown_id(7), revision=1), shelf.put(8, disposition="rejected")
    deep_first = shelf.put(1, shelf.put(2, lost), spoiled)
    assert (lost.record_id, "source_missing") == failure(shelf, deep_first)
    shallow_first = shelf.put(3, spoiled, shelf.put(4, lost))
    assert (spoiled.record_id, "rejected") == failure(shelf, shallow_first)


def test_one_ancestor_under_two_revisions_fails_at_the_second() -> None:
    shelf = Shelf()
    shared = shelf.put(1)
    older = Ref(record_id=shared.record_id, revision=2)
    assert (shared.record_id, "source_revision_changed") == failure(shelf, shelf.put(3, shared, shelf.put(2, older)))


def test_a_spoiled_record_is_not_walked_below() -> None:
    shelf = Shelf()
    found = verdict(shelf, shelf.put(2, shelf.put(1, shelf.put(0)), disposition="rejected"))
    assert found.first_failure is not None
    assert (unknown_id(2), 1, 1, "rejected") == (
        found.first_failure.record_id,
        found.first_failure.expected_revision,
        found.first_failure.actual_revision,
        found.first_failure.reason,
    )
    assert (0, 0, False) == (found.dependencies_checked, found.max_depth_examined, found.all_dependencies_checked)


def test_a_plain_record_has_no_dependencies_to_check() -> None:
    shelf = Shelf()
    found = verdict(shelf, shelf.put(1))
    assert (True, 0, 0, True) == (
        found.eligible,
        found.dependencies_checked,
        found.max_depth_examined,
        found.all_dependencies_checked,
    )


# The budget of a request


def test_a_request_looks_up_4096_dependencies_and_no_more() -> None:
    shelf = Shelf()
    evaluator = Evaluator(shelf, START_MILLIS)
    roots = [shelf.put(10_000 + 100 * one, *shelf.put_many(10_001 + 100 * one, SOURCES)) for one in range(256)]
    for root in roots:
        assert evaluator.is_eligible(shelf.version(root))
    assert limits.DEPENDENCY_LOOKUPS_MAX == evaluator.work.records_examined
    one_more = shelf.put(1, shelf.put(0))
    with pytest.raises(DependencyBudgetExhausted) as caught:
        evaluator.is_eligible(shelf.version(one_more))
    assert (400, "invalid_request") == (caught.value.refusal.status, caught.value.refusal.code)
    assert limits.DEPENDENCY_LOOKUPS_MAX == evaluator.work.records_examined


def test_a_dependency_looked_up_before_costs_nothing_again() -> None:
    shelf = Shelf()
    evaluator = Evaluator(shelf, START_MILLIS)
    ground = shelf.put(0)
    for number in range(1, 50):
        assert evaluator.explain_record(shelf.version(shelf.put(number, ground))).eligible
    assert 1 == evaluator.work.records_examined == shelf.look_ups


def test_a_request_looks_at_16_mib_of_dependencies_and_no_more() -> None:
    shelf = Shelf()
    half = limits.DEPENDENCY_BYTES_MAX // 2
    fitting = shelf.put(9, shelf.put(1, size=half), shelf.put(2, size=half))
    evaluator = Evaluator(shelf, START_MILLIS)
    assert evaluator.is_eligible(shelf.version(fitting))
    assert limits.DEPENDENCY_BYTES_MAX == evaluator.work.bytes_examined
    bursting = shelf.put(9, shelf.put(1, size=half), shelf.put(2, size=half + 1))
    with pytest.raises(DependencyBudgetExhausted):
        Evaluator(shelf, START_MILLIS).is_eligible(shelf.version(bursting))


def test_a_record_read_for_its_own_sake_is_no_dependency_until_it_is_used_as_one() -> None:
    shelf = Shelf()
    evaluator = Evaluator(shelf, START_MILLIS)
    ground = shelf.put(0)
    assert evaluator.record(ground.record_id) is not None
    assert 0 == evaluator.work.records_examined
    assert evaluator.is_eligible(shelf.version(shelf.put(1, ground)))
    assert (1, 100) == (evaluator.work.records_examined, evaluator.work.bytes_examined)


def test_each_verdict_tells_the_work_that_it_added() -> None:
    shelf = Shelf()
    evaluator = Evaluator(shelf, START_MILLIS)
    ground, other = shelf.put(0), shelf.put(1)
    first = evaluator.explain_record(shelf.version(shelf.put(2, ground)))
    second = evaluator.explain_record(shelf.version(shelf.put(3, ground, other)))
    assert [1, 1] == [one.dependency_work.records_examined for one in (first, second)]
    assert 2 == evaluator.work.records_examined
