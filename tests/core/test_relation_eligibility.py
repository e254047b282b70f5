"""Eligibility of relations: eight reasons in their order, half-open times, ends before evidence (relations.md)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

from relatum import limits
from relatum.core.ancestry import DependencyBudgetExhausted
from relatum.core.answers.eligibility import DependencyWork, RelationEligibility
from relatum.core.eligibility import Evaluator
from relatum.core.ids import Ref
from relatum.core.records import Review
from relatum.core.relations import StoredRelation
from relatum.errors import Refused
from tests.core.faults import Draft, Fault, alone_and_in_pairs
from tests.core.shelf import Shelf
from tests.support.builders import ADA, START_MILLIS, relation, unknown_id

SOURCE, TARGET, PROOF = 1, 2, 3
NOW = START_MILLIS


def hidden(name: str, reason: str, changes: Draft) -> Fault:
    return Fault(name, changes, 0, reason, "")


def at(number: int, revision: int = 1) -> Ref:
    return Ref(record_id=unknown_id(number), revision=revision)


RETIRED = hidden("retired", "retired", {"state": "retired"})
REJECTED = hidden("rejected", "rejected", {"disposition": "rejected"})
NOT_YET = hidden("not yet valid", "not_yet_valid", {"begins": NOW + 1})
EXPIRED = hidden("expired", "expired", {"ends": NOW})
SOURCE_MISSING = hidden("source missing", "endpoint_unavailable", {"source": None})
SOURCE_CHANGED = hidden("source changed", "endpoint_revision_changed", {"source": {"revision": 2}})
SOURCE_EXPIRED = hidden("source expired", "endpoint_unavailable", {"source": {"until": NOW}})
TARGET_MISSING = hidden("target missing", "endpoint_unavailable", {"target": None})
TARGET_CHANGED = hidden("target changed", "endpoint_revision_changed", {"target": {"revision": 2}})
EVIDENCE_MISSING = hidden("evidence missing", "evidence_unavailable", {"evidence": (at(9),)})

ORDER = [RETIRED, REJECTED, NOT_YET, EXPIRED, SOURCE_MISSING, SOURCE_CHANGED, SOURCE_EXPIRED]
ORDER += [TARGET_MISSING, TARGET_CHANGED, EVIDENCE_MISSING]
SOUND: Draft = {
    "state": "active",
    "disposition": None,
    "begins": None,
    "ends": None,
    "source": {},
    "target": {},
    "evidence": (),
}


def relation_of(draft: Draft) -> StoredRelation:
    review = None
    if draft["disposition"]:
        review = Review(disposition=draft["disposition"], evidence_ref="e", author=ADA, reviewed_at_millis=NOW)
    return StoredRelation(
        schema_version=1,
        relation_id=unknown_id(100),
        revision=1,
        input=relation(
            at(SOURCE),
            at(TARGET),
            valid_from_millis=draft["begins"],
            valid_until_millis=draft["ends"],
            evidence_sources=draft["evidence"],
        ),
        reported_by=ADA,
        created_at_millis=NOW,
        modified_at_millis=NOW,
        state=draft["state"],
        review=review,
    )


def shelf_of(draft: Draft) -> Shelf:
    shelf = Shelf()
    for number, member in ((SOURCE, "source"), (TARGET, "target")):
        if draft[member] is not None:
            shelf.put(number, **draft[member])
    shelf.put(PROOF)
    return shelf


def verdict(now_millis: int = NOW, shelf: Shelf | None = None, **changes: Any) -> RelationEligibility:
    draft = SOUND | changes
    return Evaluator(shelf or shelf_of(draft), now_millis).explain_relation(relation_of(draft))


@pytest.mark.parametrize(("changes", "told"), alone_and_in_pairs(ORDER))
def test_the_first_reason_that_applies_is_told(changes: Draft, told: Fault) -> None:
    found = verdict(**changes)
    assert (False, told.code) == (found.eligible, found.reason)
    assert NOW == found.evaluated_at_millis
    ends = {"source": at(SOURCE), "target": at(TARGET)}
    expected = next((end for member, end in ends.items() if member in told.changes), None)
    assert expected == found.endpoint
    assert (found.reason == "evidence_unavailable") == (found.evidence_failure is not UNSET)


def test_a_sound_relation_is_eligible_and_two_plain_ends_are_no_dependency_work() -> None:
    found = verdict()
    assert (True, "eligible", None, UNSET) == (found.eligible, found.reason, found.endpoint, found.evidence_failure)
    assert DependencyWork(records_examined=0, bytes_examined=0) == found.dependency_work


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"begins": NOW + 1}, "not_yet_valid"),
        ({"begins": NOW}, "eligible"),
        ({"ends": NOW + 1}, "eligible"),
        ({"ends": NOW}, "expired"),
        ({"begins": NOW, "ends": NOW + 1}, "eligible"),
        ({"begins": limits.I64_MIN, "ends": limits.I64_MAX}, "eligible"),
        ({"source": {"until": NOW + 1}}, "eligible"),
        ({"source": {"until": NOW}}, "endpoint_unavailable"),
        ({"disposition": "approved"}, "eligible"),
        ({"disposition": "unreviewed"}, "eligible"),
    ],
)
def test_intervals_are_half_open_and_only_a_rejection_hides(changes: Draft, reason: str) -> None:
    assert reason == verdict(**changes).reason


ENDS: list[tuple[dict[str, Any] | None, str]] = [
    (None, "endpoint_unavailable"),
    ({"revision": 2}, "endpoint_revision_changed"),
    ({"revision": 2, "state": "deleted"}, "endpoint_revision_changed"),
    ({"revision": 2, "disposition": "rejected"}, "endpoint_revision_changed"),
    ({"revision": 2, "disposition": "approved"}, "endpoint_revision_changed"),
    ({"state": "deleted"}, "endpoint_unavailable"),
    ({"disposition": "rejected"}, "endpoint_unavailable"),
    ({"until": NOW}, "endpoint_unavailable"),
]


@pytest.mark.parametrize("member", ["source", "target"])
@pytest.mark.parametrize(("record", "reason"), ENDS)
def test_another_revision_of_an_end_is_told_before_the_state_of_the_end(
    member: str, record: dict[str, Any] | None, reason: str
) -> None:
    changes: Draft = {member: record}
    assert reason == verdict(**changes).reason


def test_an_end_whose_ancestry_fails_is_unavailable() -> None:
    shelf = shelf_of(SOUND)
    shelf.put(SOURCE, at(50))
    found = verdict(shelf=shelf)
    assert ("endpoint_unavailable", at(SOURCE)) == (found.reason, found.endpoint)
    assert 1 == found.dependency_work.records_examined


def test_each_end_has_bounds_of_its_own_and_the_relation_adds_no_depth() -> None:
    shelf = shelf_of(SOUND)
    for number in (SOURCE, TARGET):
        top = shelf.put(1_000 * number)
        for step in range(1, limits.ANCESTRY_DEPTH_MAX):
            top = shelf.put(1_000 * number + step, top)
        shelf.put(number, top)
    found = verdict(shelf=shelf)
    assert found.eligible
    assert 2 * limits.ANCESTRY_DEPTH_MAX == found.dependency_work.records_examined


EVIDENCE: list[tuple[dict[str, Any] | None, str, int | None]] = [
    # the evidence as it is now, the reason that is told, its actual revision
    (None, "source_missing", None),
    ({"revision": 2}, "source_revision_changed", 2),
    ({"revision": 2, "state": "deleted"}, "source_revision_changed", 2),
    ({"state": "deleted"}, "deleted", 1),
    ({"disposition": "rejected"}, "rejected", 1),
    ({"until": NOW}, "expired", 1),
]


@pytest.mark.parametrize(("record", "reason", "actual"), EVIDENCE)
def test_failing_evidence_is_named_with_both_revisions(
    record: dict[str, Any] | None, reason: str, actual: int | None
) -> None:
    shelf = shelf_of(SOUND)
    if record is not None:
        shelf.put(9, **record)
    found = verdict(shelf=shelf, evidence=(at(PROOF), at(9)))
    assert ("evidence_unavailable", None) == (found.reason, found.endpoint)
    assert found.evidence_failure is not UNSET
    told = found.evidence_failure
    assert (unknown_id(9), 1, actual, reason) == (
        told.record_id,
        told.expected_revision,
        told.actual_revision,
        told.reason,
    )


def test_evidence_is_walked_with_its_ancestry_in_list_order() -> None:
    shelf = shelf_of(SOUND)
    shelf.put(10, at(11))
    found = verdict(shelf=shelf, evidence=(at(10), at(9)))
    assert found.evidence_failure is not UNSET
    assert unknown_id(11) == found.evidence_failure.record_id


def test_looking_at_evidence_is_dependency_work() -> None:
    found = verdict(evidence=(at(PROOF),))
    assert DependencyWork(records_examined=1, bytes_examined=100) == found.dependency_work


def test_evidence_and_ends_share_one_budget() -> None:
    shelf = shelf_of(SOUND)
    half = limits.DEPENDENCY_BYTES_MAX // 2
    shelf.put(SOURCE, shelf.put(20, size=half))
    shelf.put(21, size=half)
    assert verdict(shelf=shelf, evidence=(at(21),)).eligible
    shelf.put(21, size=half + 1)
    with pytest.raises(DependencyBudgetExhausted):
        verdict(shelf=shelf, evidence=(at(21),))


def test_a_hidden_relation_costs_no_look_up() -> None:
    shelf = shelf_of(SOUND)
    verdict(shelf=shelf, state="retired")
    assert 0 == shelf.look_ups


def test_both_ends_together_are_bounded_in_bytes() -> None:
    fitting: Draft = {"source": {"size": limits.ENDPOINT_BYTES_MAX - 100}}
    assert verdict(**fitting).eligible
    with pytest.raises(Refused) as caught:
        verdict(**fitting | {"target": {"size": 101}})
    assert (400, "invalid_request") == (caught.value.refusal.status, caught.value.refusal.code)


def test_indexed_means_active_and_not_rejected() -> None:
    plain = relation_of(SOUND)
    assert plain.indexed
    assert not relation_of(SOUND | {"state": "retired"}).indexed
    assert not relation_of(SOUND | {"disposition": "rejected"}).indexed
    assert relation_of(SOUND | {"disposition": "approved"}).indexed
    assert not replace(relation_of(SOUND | {"disposition": "approved"}), state="retired").indexed
