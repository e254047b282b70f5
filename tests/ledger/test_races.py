"""Many callers at once: one relation from many identical assertions, one winner among many rivals."""

from __future__ import annotations

from collections import Counter

from relatum.core.receipts import Receipt
from relatum.errors import Refusal
from relatum.ledger import Ledger
from tests.support import builders
from tests.support.desk import Desk
from tests.support.measures import measured
from tests.support.stores import assert_rebuilds
from tests.support.threads import at_once

CALLERS = 24


def told(outcomes: list[Receipt | Refusal]) -> Counter[str]:
    return Counter(one.code if isinstance(one, Refusal) else "accepted" for one in outcomes)


def test_many_identical_assertions_make_one_relation(ledger: Ledger, desk: Desk) -> None:
    operation = builders.assertion(desk.create(), desk.create())
    outcomes = at_once([lambda: desk.submit(operation, "k")] * CALLERS)
    assert Counter(accepted=CALLERS) == told(outcomes)
    assert [outcomes[0]] * CALLERS == outcomes
    with ledger.view() as view:
        assert 1 == len(list(view.partition(desk.partition).relations()))
    assert CALLERS - 1 == measured(ledger, "relatum_replays_total")


def test_of_many_different_commands_under_one_key_one_is_accepted(desk: Desk) -> None:
    outcomes = at_once([lambda text=str(one): desk.submit(builders.create(text), "k") for one in range(CALLERS)])  # type: ignore[misc]  # a default binds the text
    assert Counter(accepted=1, idempotency_conflict=CALLERS - 1) == told(outcomes)


def test_of_many_competing_retirements_one_wins(ledger: Ledger, desk: Desk) -> None:
    relation = desk.relate(desk.create(), desk.create())
    outcomes = at_once([lambda: desk.submit(builders.retire(relation.relation_id, 1))] * CALLERS)
    assert Counter(accepted=1, revision_conflict=CALLERS - 1) == told(outcomes)
    with ledger.view() as view:
        version = view.partition(desk.partition).relation(relation.relation_id)
    assert version is not None
    assert (2, "retired") == (version.relation.revision, version.relation.state)


def test_of_many_competing_revisions_reviews_and_deletions_one_wins(ledger: Ledger, desk: Desk) -> None:
    at = desk.create()
    commands = [builders.revise(at), builders.review(at), builders.delete(at)] * 8
    outcomes = at_once([lambda one=one: desk.submit(one) for one in commands])  # type: ignore[misc]  # a default binds the command
    assert 1 == told(outcomes)["accepted"]
    assert_rebuilds(ledger)


def test_an_end_that_changes_while_it_is_related_is_refused_or_came_later(ledger: Ledger, desk: Desk) -> None:
    one, two = desk.create(), desk.create()
    works = [lambda: desk.submit(builders.assertion(one, two))] * CALLERS + [lambda: desk.submit(builders.revise(one))]
    *asserted, revised = at_once(works)
    assert not isinstance(revised, Refusal)
    before = [one for one in asserted if not isinstance(one, Refusal)]
    assert [] == [one for one in before if one.commit_sequence > revised.commit_sequence]
    assert {"accepted", "revision_conflict"} >= set(told(asserted))
