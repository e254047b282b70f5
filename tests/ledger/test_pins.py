"""A pin names a content: reviews of it suspend and give back, new content and deletion end it for good."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from relatum.core.answers.records import Disposition
from relatum.core.eligibility import Evaluator
from relatum.core.graphs import EvidenceGraphQuery, TypedGraphQuery
from relatum.core.ids import Ref
from relatum.ledger import Ledger
from relatum.ledger.reads import records
from relatum.ledger.reads.graph_evidence import evidence_graph
from relatum.ledger.reads.graph_typed import typed_graph
from relatum.store import adjacency
from relatum.store.keys import Table, Use
from tests.support import builders
from tests.support.builders import PARTITION
from tests.support.desk import Desk
from tests.support.stores import published_rows

TABLES = (Table.OUTGOING, Table.INCOMING, Table.HEADER, Table.DEPENDENT)


Outcome = tuple[str, str, str | None]


class Scene(NamedTuple):
    """A record that a relation has for source, another for evidence, and that something was derived from."""

    pinned: Ref
    derived: Ref
    as_source: str
    as_evidence: str


@pytest.fixture
def scene(desk: Desk) -> Scene:
    pinned, one, other = desk.create("pinned"), desk.create("one"), desk.create("other")
    as_source = desk.relate(pinned, one).relation_id
    as_evidence = desk.relate(one, other, evidence_sources=(pinned,)).relation_id
    return Scene(pinned, desk.derive(pinned), as_source, as_evidence)


def reasons(ledger: Ledger, scene: Scene) -> Outcome:
    """Why each of the three counts or not."""
    with ledger.view() as view:
        reader, found = view.partition(PARTITION), []
        for relation_id in (scene.as_source, scene.as_evidence):
            version = reader.relation(relation_id)
            assert version is not None
            verdict = Evaluator(reader, view.now_millis).explain_relation(version.relation)
            failure = verdict.evidence_failure
            found.append(failure.reason if failure else verdict.reason)
        inspected = records.inspect(reader, view.now_millis, scene.derived.record_id)
        failed = inspected.eligibility.first_failure  # type: ignore[union-attr]
        return found[0], found[1], failed.reason if failed else None


HOLDS = ("eligible", "eligible", None)
SUSPENDED = ("endpoint_unavailable", "rejected", "rejected")
ENDED = ("endpoint_revision_changed", "source_revision_changed", "source_revision_changed")


def adjacent_rows(ledger: Ledger) -> dict[bytes, bytes]:
    return {key: row for key, row in published_rows(ledger).items() if key[16] in TABLES and any(key[:16])}


def test_reviews_suspend_what_pins_a_record_and_give_it_back_and_move_no_row_of_it(desk: Desk, scene: Scene) -> None:
    before, at = adjacent_rows(desk.ledger), scene.pinned
    reviews: tuple[tuple[Disposition, Outcome], ...] = (
        ("approved", HOLDS),
        ("rejected", SUSPENDED),
        ("unreviewed", HOLDS),
        ("rejected", SUSPENDED),
        ("approved", HOLDS),
    )
    for disposition, expected in reviews:
        at = desk.review(at, disposition)
        assert expected == reasons(desk.ledger, scene)
    assert before == adjacent_rows(desk.ledger)
    assert 6 == at.revision


@pytest.mark.parametrize("deleted", [False, True], ids=["revised", "deleted"])
def test_new_content_and_a_deletion_end_a_pin_for_good(desk: Desk, scene: Scene, deleted: bool) -> None:
    reviewed = desk.review(scene.pinned)
    at = desk.delete(reviewed) if deleted else desk.revise(reviewed)
    assert ENDED == reasons(desk.ledger, scene)
    if not deleted:
        desk.review(at)
        assert ENDED == reasons(desk.ledger, scene)


def test_every_revision_of_one_content_may_be_pinned_and_is_echoed_as_it_was_given(desk: Desk) -> None:
    first = desk.create("one")
    second = desk.review(desk.revise(first))
    third, other = desk.review(second), desk.create("other")
    by_pin = {ref.revision: desk.relate(ref, other).relation_id for ref in (second, third)}
    derived = desk.derive(Ref(record_id=first.record_id, revision=2))
    stale = Ref(record_id=first.record_id, revision=1), Ref(record_id=first.record_id, revision=5)
    for ref in stale:
        assert 409 == desk.refuse(builders.assertion(ref, other))[0]
    with desk.ledger.view() as view:
        reader, now = view.partition(PARTITION), view.now_millis
        query = TypedGraphQuery(root_record_ids=(first.record_id,))
        graph = typed_graph(reader, now, query)
        told_of = {edge.input.source.revision: edge.relation_id for edge in graph.edges}  # type: ignore[union-attr]
        assert by_pin == told_of
        shown = graph.nodes[0].record  # type: ignore[union-attr]
        assert (4, 2) == (shown.revision, shown.content_revision)
        evidence = evidence_graph(reader, now, EvidenceGraphQuery(root_record_ids=(derived.record_id,)))
        assert [2] == [edge.target.revision for edge in evidence.edges]  # type: ignore[union-attr]
        content = Ref(record_id=first.record_id, revision=2)
        uses = [dependent.use for dependent in adjacency.dependents(reader, content)]
        assert [Use.DERIVED, Use.SOURCE, Use.SOURCE] == uses
        told = [records.revision(reader, first.record_id, number) for number in (1, 2, 3, 4)]
        assert [1, 2, 2, 2] == [one.record.content_revision for one in told]  # type: ignore[union-attr]


def test_a_relation_can_be_retired_and_restored_over_reviews_of_its_ends(desk: Desk, scene: Scene) -> None:
    reviewed = desk.review(scene.pinned)
    desk.accept(builders.retire(scene.as_source, 1))
    desk.review(reviewed)
    desk.accept(builders.restore(scene.as_source, 2))
    assert HOLDS == reasons(desk.ledger, scene)


def test_a_deleted_record_has_the_content_revision_of_its_deletion(desk: Desk, scene: Scene) -> None:
    desk.delete(desk.review(scene.pinned))
    with desk.ledger.view() as view:
        told = records.inspect(view.partition(PARTITION), view.now_millis, scene.pinned.record_id)
    assert (3, 3) == (told.record.revision, told.record.content_revision)  # type: ignore[union-attr]
