"""Names at other doors: each means one kind, and no two at one door mean the same (views.md, kinds and classes)."""

from __future__ import annotations

from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from relatum.core import kind_names, promotions, verdicts
from relatum.core.answers.graphs import TypedGraph
from relatum.core.answers.receipts import LinkKind
from relatum.core.graphs import TypedGraphQuery
from relatum.core.kinds import KINDS_BY_TOKEN, LINK_TOKENS, REGISTRY, Kind
from relatum.core.links import Link
from relatum.ledger import Ledger
from relatum.ledger.reads.graph_typed import typed_graph
from relatum.ledger.reads.health import health
from relatum.ledger.reads.overview import overview
from tests.support import builders
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk

DOORS: dict[str, dict[str, Kind]] = {
    "relations": {str(kind): kind for kind in get_args(Kind)},
    "links": dict(kind_names.LINKS.items()),
    "verdicts": dict(verdicts.KINDS.items()),
    "promotions": dict(promotions.KINDS.items()),
}
SYNONYMS = ({"related", "relates_to", "semantic_related"}, {"conflicts", "conflicts_with", "contradicts"})


def test_every_word_of_a_door_has_a_kind() -> None:
    assert set(get_args(LinkKind)) == kind_names.LINKS.keys()
    assert set(get_args(verdicts.Verdict)) == verdicts.KINDS.keys()
    assert {*get_args(promotions.PromotedKind)} - {"none"} == promotions.KINDS.keys()


@given(st.sampled_from(sorted(DOORS)), st.sampled_from(sorted(DOORS)), st.sampled_from(sorted(kind_names.KINDS)))
def test_a_name_means_the_same_at_every_door_and_a_kind_has_one_name_at_each(one: str, other: str, name: str) -> None:
    at_one, at_other = DOORS[one], DOORS[other]
    meant = {door[name] for door in (at_one, at_other) if name in door} | {kind_names.KINDS[name]}
    assert 1 == len(meant)
    for door in (at_one, at_other):
        assert 1 >= sum(kind in meant for kind in door.values())


@given(st.sampled_from(sorted(REGISTRY)), st.sampled_from(sorted(REGISTRY)))
def test_tokens_of_text_lead_to_kinds_and_back(one: Kind, other: Kind) -> None:
    assert one == KINDS_BY_TOKEN[LINK_TOKENS[one]]
    assert f"memhtml-{one.replace('_', '-')}" == LINK_TOKENS[one]
    assert (one == other) is (LINK_TOKENS[one] == LINK_TOKENS[other])
    assert LINK_TOKENS[one] not in kind_names.KINDS


def test_the_union_of_the_doors_is_all_there_is_with_the_synonyms_of_the_contract() -> None:
    union = {name: kind for door in DOORS.values() for name, kind in door.items()}
    assert union | {"relates_to": "semantic_related"} == kind_names.KINDS
    by_kind: dict[Kind, set[str]] = {kind: set() for kind in REGISTRY}
    for name, kind in kind_names.KINDS.items():
        by_kind[kind].add(name)
    several = [found for found in by_kind.values() if len(found) > 1]
    assert sorted(map(sorted, SYNONYMS)) == sorted(map(sorted, several))


@given(
    st.sampled_from([kind for kind, row in REGISTRY.items() if row.symmetric and row.kind_class == "memory"]),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda ends: ends[0] != ends[1]), max_size=8),
)
def test_symmetric_kinds_are_seen_from_both_ends_and_counted_by_partner(
    kind: Kind, asserted: list[tuple[int, int]]
) -> None:
    with Ledger.in_memory() as ledger:
        desk = Desk(ledger)
        refs = [desk.create(f"record {number}") for number in range(4)]
        for one, other in asserted:
            desk.accept(builders.assertion(refs[one], refs[other], kind))
        with ledger.view() as view:
            partition = view.partition(desk.partition)
            degrees = {node.record_id: node.degree for node in overview(partition, view.now_millis, 200).nodes}
            pairs = {frozenset(ends) for ends in asserted}
            for number, ref in enumerate(refs):
                partners = {other for pair in pairs if number in pair for other in pair - {number}}
                assert len(partners) == degrees[ref.record_id]
                query = TypedGraphQuery(root_record_ids=(ref.record_id,), relation_kinds=(kind,), max_depth=1)
                found = typed_graph(partition, view.now_millis, query)
                assert isinstance(found, TypedGraph)
                ends_of = [(edge.input.source, edge.input.target) for edge in found.edges]
                assert sum(number in ends for ends in asserted) == sum(ref in ends for ends in ends_of)
            conflicts = len(pairs) if kind == "contradicts" else 0
            assert conflicts == health(partition, view.now_millis).conflicts


def test_a_link_a_verdict_and_a_relation_that_say_the_same_are_one_conflict(ledger: Ledger) -> None:
    desk, judging = Desk(ledger), JudgingDesk(ledger)
    one, other = desk.create("one"), desk.create("other")
    desk.accept(builders.assertion(one, other, "contradicts"))
    judging.compare(other, one, "conflicts_with")
    link = Link(source_id=other.record_id, target_id=one.record_id, kind="conflicts")
    ledger.submit(ledger.command(desk.partition, desk.author, "a link", link))
    with ledger.view() as view:
        assert 1 == health(view.partition(desk.partition), view.now_millis).conflicts
