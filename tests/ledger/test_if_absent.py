"""Assertions that are to be made only where no equal relation is in force (relations.md, `if_absent`)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from relatum.clock import ManualClock
from relatum.core.ids import Ref
from relatum.core.kinds import REGISTRY, Kind
from relatum.core.receipts import RelationReceipt
from relatum.core.streams import RELATIONS
from relatum.errors import Failure, Refusal
from relatum.ledger import Ledger
from tests.support import builders
from tests.support.builders import BOB, PARTITION
from tests.support.desk import Desk
from tests.support.steps import related


@pytest.fixture
def desk(ledger: Ledger) -> Desk:
    return Desk(ledger)


def ask(desk: Desk, source: Ref, target: Ref, kind: Kind = "supports", key: str | None = None) -> RelationReceipt:
    return related(desk.accept(builders.assertion(source, target, kind, if_absent=True), key))


def rows_of_relations(desk: Desk) -> tuple[int, int]:
    """How many relations the partition has, and how many entries their stream."""
    with desk.view() as view:
        partition = view.partition(PARTITION)
        return sum(1 for _ in partition.relations()), sum(1 for _ in partition.entries(RELATIONS, 0))


def test_an_equal_relation_is_found_at_its_current_revision_and_nothing_changes(
    desk: Desk, ledger: Ledger, clock: ManualClock
) -> None:
    one, two = desk.create("one"), desk.create("two")
    first = ask(desk, one, two)
    clock.advance(5)
    desk.relate(one, two)
    current = desk.judge(first, "approved")
    before = rows_of_relations(desk)
    found = ask(Desk(ledger, author=BOB), one, two, key="again")
    assert ("asserted", "found") == (first.action, found.action)
    assert (current.relation_id, 2, current.relation_digest) == (
        found.relation_id,
        found.revision,
        found.relation_digest,
    )
    assert (BOB, current.commit_sequence + 1) == (found.author, found.commit_sequence)
    assert before == rows_of_relations(desk)
    desk.retire(current)
    assert found == ask(Desk(ledger, author=BOB), one, two, key="again"), "a replay is what it was, whatever came since"


def test_of_several_that_one_millisecond_brought_the_first_is_found(desk: Desk, ledger: Ledger) -> None:
    one, two = desk.create("one"), desk.create("two")
    claims = [desk.command(builders.assertion(one, two, "supports")) for _ in range(16)]
    first, *_ = [
        related(outcome) for outcome in ledger.submit_all(claims) if not isinstance(outcome, Refusal | Failure)
    ]
    assert first.relation_id == ask(desk, one, two).relation_id, "ids of one millisecond are in no order"


def test_whether_it_is_asked_for_is_part_of_what_a_key_stands_for(desk: Desk) -> None:
    one, two = desk.create("one"), desk.create("two")
    ask(desk, one, two, key="k")
    assert (409, "idempotency_conflict") == desk.refuse(builders.assertion(one, two), "k")
    desk.accept(builders.assertion(one, two), "other")
    desk.accept(builders.assertion(one, two, if_absent=False), "other")


Ended = Callable[[Desk, RelationReceipt], object]
ENDINGS: dict[str, Ended] = {
    "retired": lambda desk, at: desk.retire(at),
    "rejected": lambda desk, at: desk.judge(at, "rejected"),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_relation_that_is_not_in_force_is_not_found(desk: Desk, ending: str) -> None:
    one, two = desk.create("one"), desk.create("two")
    first = ask(desk, one, two)
    ENDINGS[ending](desk, first)
    second = ask(desk, one, two)
    assert "asserted" == second.action
    assert second.relation_id == ask(desk, one, two).relation_id


def test_what_was_said_of_another_content_is_not_found(desk: Desk) -> None:
    one, two = desk.create("one"), desk.create("two")
    first = ask(desk, one, two)
    revised = desk.revise(one, "another content")
    second = ask(desk, revised, two)
    assert ("asserted", True) == (second.action, second.relation_id != first.relation_id)
    assert (409, "revision_conflict") == desk.refuse(builders.assertion(one, two, if_absent=True))


def test_an_approval_leaves_a_relation_to_be_found_whichever_revision_is_pinned(desk: Desk) -> None:
    one, two = desk.create("one"), desk.create("two")
    first = ask(desk, one, two)
    approved = desk.review(one, "approved")
    assert [("found", first.relation_id)] * 2 == [
        (found.action, found.relation_id) for found in (ask(desk, one, two), ask(desk, approved, two))
    ]
    rejected = desk.review(approved, "rejected")
    assert (409, "revision_conflict") == desk.refuse(builders.assertion(rejected, two, if_absent=True))
    again = desk.review(rejected, "unreviewed")
    assert ("found", first.relation_id) == (ask(desk, again, two).action, ask(desk, one, two).relation_id)


def test_a_relation_on_evidence_that_is_gone_is_not_found(desk: Desk) -> None:
    one, two, proof = desk.create("one"), desk.create("two"), desk.create("proof")
    first = desk.relate(one, two, evidence_sources=(proof,))
    assert first.relation_id == ask(desk, one, two).relation_id
    desk.revise(proof, "something else")
    assert "asserted" == ask(desk, one, two).action


@pytest.mark.parametrize("kind", [kind for kind, row in REGISTRY.items() if row.source_type == row.target_type])
def test_the_other_direction_counts_for_symmetric_kinds_alone(desk: Desk, kind: Kind) -> None:
    facts = {"type": REGISTRY[kind].source_type}
    one, two = desk.create("one", event_time_millis=1, **facts), desk.create("two", event_time_millis=2, **facts)
    first = ask(desk, one, two, kind)
    if kind == "temporal_before":
        assert (400, "invalid_request") == desk.refuse(builders.assertion(two, one, kind, if_absent=True))
        return
    back = ask(desk, two, one, kind)
    assert ("found" if REGISTRY[kind].symmetric else "asserted") == back.action
    assert REGISTRY[kind].symmetric == (back.relation_id == first.relation_id)


def test_another_kind_between_the_same_ends_is_not_found(desk: Desk) -> None:
    one, two = desk.create("one"), desk.create("two")
    desk.relate(one, two, "supports")
    assert "asserted" == ask(desk, one, two, "part_of").action


def test_a_hub_is_looked_through_from_its_other_end(desk: Desk) -> None:
    hub, spokes = desk.create("hub"), [desk.create(f"spoke {number}") for number in range(30)]
    made = [ask(desk, spoke, hub) for spoke in spokes]
    found = [ask(desk, spoke, hub) for spoke in spokes]
    assert [one.relation_id for one in made] == [one.relation_id for one in found]
    assert {"found"} == {one.action for one in found}
