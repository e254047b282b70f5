"""What comes back: standings, verdicts, reviews, ids, authors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from relatum.clock import ManualClock
from relatum.core.commands import AssertRelation, MarkStale
from relatum.core.eligibility import Evaluator
from relatum.core.ids import Partition, Ref
from relatum.core.judgments import Judgment
from relatum.core.kinds import KINDS_BY_TOKEN, LINK_TOKENS, REGISTRY
from relatum.core.links import Link
from relatum.core.receipts import RelationReceipt
from relatum.core.relation_events import receipt_of
from relatum.core.streams import RECORDS, RELATIONS
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.reads.needs_review import needs_review
from relatum.ledger.reads.standings import Standings
from relatum.limits import DAY_MILLIS
from tests.support import builders
from tests.support.builders import ADA, BOB, PARTITION, PRIVATE, START_MILLIS
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.support.steps import related
from tests.text_export.carrying import carry, events, exported
from tests.views.asking import Asking


def standings(ledger: Ledger, *refs: Ref, partition: Partition = PARTITION) -> list[object]:
    with ledger.view() as view:
        reader = view.partition(partition)
        return [Standings(reader).of(ref.record_id) for ref in refs]


def relation(ledger: Ledger, receipt: RelationReceipt) -> Any:
    with ledger.view() as view:
        found = view.partition(PARTITION).relation(receipt.relation_id)
    assert found is not None
    return found.relation


def verdict_on(ledger: Ledger, receipt: RelationReceipt) -> str:
    """Why a relation counts or not."""
    with ledger.view() as view:
        reader = view.partition(PARTITION)
        return Evaluator(reader, view.now_millis).explain_relation(relation(ledger, receipt)).reason


def test_every_kind_has_one_token_and_every_token_one_kind() -> None:
    assert set(REGISTRY) == set(LINK_TOKENS)
    assert {token: kind for kind, token in LINK_TOKENS.items()} == KINDS_BY_TOKEN
    assert "memhtml-semantic-related" == LINK_TOKENS["semantic_related"]


def test_records_keep_id_author_review_and_derivation(desk: Desk, again: Ledger, tmp_path: Path) -> None:
    source = desk.review(desk.create("kept"), "approved", "note/7")
    bobs = Desk(desk.ledger, author=BOB)
    derived = bobs.derive(source, content="a summary")
    desk.review(desk.create("wrong"), "rejected", "note/8")
    assert {} == carry(desk.ledger, again, tmp_path)
    with again.view() as view:
        reader = view.partition(PARTITION)
        kept, summary = reader.record(source.record_id), reader.record(derived.record_id)
        assert kept is not None
        assert summary is not None
        assert reader.review_evidence(kept.meta) == "note/7"
    assert (ADA, BOB) == (kept.meta.author, summary.meta.author)
    assert kept.meta.disposition == "approved"
    assert summary.meta.derivation is not None
    assert [source.record_id] == [one.record_id for one in summary.meta.derivation.sources]


def test_age_counts_from_the_import_wherever_it_counts(
    judging: JudgingDesk, again: Ledger, clock: ManualClock, tmp_path: Path
) -> None:
    pinned = judging.save("ferry pinned", category="procedural")
    judging.pin(pinned)
    old, new = (judging.save(f"ferry {which}", category="procedural") for which in ("old", "new"))
    judging.compare(new, old, "supersedes")
    judging.save("filling")
    clock.advance(200 * DAY_MILLIS)
    assert 2 == Asking(judging.ledger).context("ferry").needs_review
    assert {} == carry(judging.ledger, again, tmp_path)
    with again.view() as view:
        assert 0 == needs_review(view.partition(PARTITION), view.now_millis, 10).total
    here = JudgingDesk(again)
    new_old, new_new, _ = (here.save(text) for text in ("ferry old", "ferry new", "filling"))
    here.compare(new_new, new_old, "supersedes")
    context = Asking(again).context("ferry")
    assert 0 == context.needs_review
    scores = {one.record_id: one.score for one in context.entries}
    assert 1.1 == scores[pinned.record_id]
    assert [scores[one.record_id] for one in (old, new)] == [scores[one.record_id] for one in (new_old, new_new)]
    first, second = (one.score for one in context.entries if one.tier == "rest")
    assert first == second


def test_relations_keep_id_reporter_provenance_evidence_validity_and_review(
    desk: Desk, again: Ledger, tmp_path: Path
) -> None:
    one, two, proof = desk.create("one"), desk.review(desk.create("two")), desk.create("proof")
    given = builders.relation(
        one,
        two,
        "contradicts",
        provenance=builders.provenance(origin="model_inference", model=builders.MODEL),
        valid_from_millis=-5,
        valid_until_millis=2 * START_MILLIS,
        evidence_sources=(proof,),
    )
    asserted = related(Desk(desk.ledger, author=BOB).accept(AssertRelation(relation=given)))
    rejected = desk.judge(desk.relate(one, two), "rejected")
    assert {} == carry(desk.ledger, again, tmp_path)
    found = relation(again, asserted)
    told = replace(given, target=Ref(record_id=two.record_id, revision=1))  # the review comes last
    assert (told, BOB, "active", None) == (found.input, found.reported_by, found.state, found.review)
    assert "rejected" == relation(again, rejected).disposition
    assert relation(desk.ledger, rejected).review.evidence_ref == relation(again, rejected).review.evidence_ref


def test_commands_of_an_import_leave_receipts_and_journals_like_any_other(
    desk: Desk, again: Ledger, tmp_path: Path
) -> None:
    desk.relate(desk.create("one"), desk.create("two"))
    carry(desk.ledger, again, tmp_path)
    with again.view() as view:
        head = view.partition(PARTITION).head()
    assert (2, 1) == (head.streams[RECORDS].sequence, head.streams[RELATIONS].sequence)
    receipts = [receipt_of(event) for event in events(again) if event is not None]
    keys = {receipt.idempotency_key for receipt in receipts if receipt is not None}
    assert 3 == len(keys)
    assert all(key.startswith("import/") for key in keys)


def test_standings_come_back_however_they_came_about(
    judging: JudgingDesk, desk: Desk, again: Ledger, tmp_path: Path
) -> None:
    first = judging.save("nine", topic_key="ferry")
    second = judging.save("ten", topic_key="ferry")
    third = judging.save("noon", topic_key="ferry")
    plain, newer = judging.save("a boat"), judging.save("a later boat")
    judging.compare(newer, plain, "supersedes", reason="it is later\nby a day", evidence={"seen": [1, 2.5]})
    put_away = judging.save("a raft", topic_key="raft")
    judging.archive(put_away)
    judging.save("another raft", topic_key="raft")
    for pinned in (third, put_away):
        judging.pin(pinned)
    desk.accept(MarkStale(record_id=plain.record_id, because=newer, confidence=0.25))
    records = first, second, third, plain, newer, put_away
    assert {} == carry(judging.ledger, again, tmp_path)
    assert standings(judging.ledger, *records) == standings(again, *records)
    with again.view() as view, judging.ledger.view() as before:
        reader, original = view.partition(PARTITION), before.partition(PARTITION)
        assert [second.record_id] == [original.replaced_for_topic(third.record_id)]
        assert second.record_id == reader.replaced_for_topic(third.record_id)
        assert original.standing(plain.record_id).stale_marks == reader.standing(plain.record_id).stale_marks
        verdict = reader.verdict_between(newer.record_id, plain.record_id)
        assert verdict is not None
        assert verdict == original.verdict_between(newer.record_id, plain.record_id)
        stored = reader.verdict(verdict)
        assert stored is not None
        words = reader.words(stored.words_at)
    assert words is not None
    assert ("it is later\nby a day", {"seen": [1, 2.5]}, 0.75) == (words.reason, words.evidence, stored.confidence)


def test_a_supersession_that_came_back_is_undone_like_any_other(
    judging: JudgingDesk, again: Ledger, tmp_path: Path
) -> None:
    first, second = judging.save("nine"), judging.save("ten")
    judging.compare(second, first, "supersedes")
    carry(judging.ledger, again, tmp_path)
    with again.view() as view:
        relation_id = view.partition(PARTITION).verdict_between(second.record_id, first.record_id)
    assert relation_id is not None
    Desk(again).accept(builders.retire(relation_id, 1))
    [standing] = standings(again, first)
    assert getattr(standing, "state", None) == "current"


def test_who_took_a_slot_and_who_wrote_the_content_since_are_both_kept(
    judging: JudgingDesk, again: Ledger, tmp_path: Path
) -> None:
    judging.save("nine", topic_key="ferry")
    taker = judging.save("ten", topic_key="ferry")
    Desk(judging.ledger, author=BOB).revise(taker, "eleven", topic_key="ferry")
    assert {} == carry(judging.ledger, again, tmp_path)
    with again.view() as view:
        reader = view.partition(PARTITION)
        record = reader.record(taker.record_id)
        [told] = [one.relation for one in reader.relations()]
    assert record is not None
    assert (BOB, ADA) == (record.meta.author, told.reported_by)


def test_relations_to_earlier_revisions_come_back_as_such(
    judging: JudgingDesk, desk: Desk, again: Ledger, tmp_path: Path
) -> None:
    revised, reviewed, rejected, as_it_is = (desk.create(name) for name in ("one", "two", "three", "four"))
    told = [
        desk.relate(revised, as_it_is),
        desk.relate(as_it_is, reviewed),
        desk.relate(as_it_is, rejected, evidence_sources=(revised,)),
        desk.relate(reviewed, as_it_is, evidence_sources=(rejected,)),
    ]
    judging.compare(revised, reviewed, "conflicts_with")
    judging.compare(reviewed, as_it_is, "supersedes")
    desk.review(desk.revise(desk.revise(revised)))
    desk.review(reviewed)
    desk.review(rejected, "rejected")
    last = desk.relate(desk.create("five"), as_it_is)
    assert {} == carry(desk.ledger, again, tmp_path)
    for receipt in (*told, last):
        assert verdict_on(desk.ledger, receipt) == verdict_on(again, receipt)
    assert "endpoint_revision_changed" == verdict_on(again, told[0])
    assert "eligible" == verdict_on(again, last)


def test_what_a_rejection_suspends_comes_back_suspended_and_can_be_given_back(
    desk: Desk, again: Ledger, tmp_path: Path
) -> None:
    source, other = desk.create("a source"), desk.create("another")
    derived = desk.derive(source)
    told = [desk.relate(source, other), desk.relate(derived, other), desk.relate(desk.create("x"), other)]
    rejected = desk.review(source, "rejected")
    assert {} == carry(desk.ledger, again, tmp_path)
    reasons = ["endpoint_unavailable", "endpoint_unavailable", "eligible"]
    assert reasons == [verdict_on(again, receipt) for receipt in told]
    Desk(again).review(rejected)
    assert ["eligible"] * 3 == [verdict_on(again, receipt) for receipt in told]


def test_verdicts_of_every_kind_come_back_as_verdicts(judging: JudgingDesk, again: Ledger, tmp_path: Path) -> None:
    one, other = judging.save("one"), judging.save("another")
    judging.submit((one, other))
    judging.judge_all([Judgment(candidate_id=judging.pending_between(one, other), relation="not_conflict")])
    judging.compare(other, one, "scoped")
    assert {} == carry(judging.ledger, again, tmp_path)
    with again.view() as view, judging.ledger.view() as before:
        for source, target in ((one, other), (other, one)):
            pair = source.record_id, target.record_id
            found = view.partition(PARTITION).verdict_between(*pair)
            assert found is not None
            assert found == before.partition(PARTITION).verdict_between(*pair)


def test_verdicts_that_come_back_as_plain_relations_are_counted(
    judging: JudgingDesk, desk: Desk, tmp_path: Path
) -> None:
    one, other, third = judging.save("one"), judging.save("another"), judging.save("a third")
    relate = [judging.compare(one, other, "conflicts_with"), judging.compare(third, one, "scoped")]
    earlier, rejected = (receipt_of(event) for event in relate if not isinstance(event, Refusal))
    assert isinstance(earlier, RelationReceipt)
    assert isinstance(rejected, RelationReceipt)
    judging.compare(one, other, "related")
    desk.relate(one, third)
    assert 0 == exported(judging.ledger, tmp_path / "sound").history["verdicts_that_do_not_count"]
    desk.accept(builders.restore(earlier.relation_id, 2))
    desk.accept(builders.judge(rejected.relation_id, 1, "rejected"))
    assert 2 == exported(judging.ledger, tmp_path / "counted").history["verdicts_that_do_not_count"]


def test_links_come_back_with_kind_direction_and_author_before_their_ends_are_archived(
    judging: JudgingDesk, again: Ledger, tmp_path: Path
) -> None:
    one, other = judging.save("one"), judging.save("another")
    link = Link(source_id=other.record_id, target_id=one.record_id, kind="supersedes")
    judging.ledger.submit(judging.ledger.command(PARTITION, BOB, "link", link))
    judging.archive(one)
    assert {} == carry(judging.ledger, again, tmp_path)
    with again.view() as view:
        found = view.partition(PARTITION).link_between(one.record_id, other.record_id)
    assert found is not None
    assert (other.record_id, one.record_id, "supersedes", BOB) == (
        found.source_id,
        found.target_id,
        found.kind,
        found.author,
    )


def test_partitions_keep_company_mission_visibility_and_subject(ledger: Ledger, again: Ledger, tmp_path: Path) -> None:
    other = Partition(
        company_id="other company", project_id="a/../b", agent_id="夢", visibility="shared", mission_id="/"
    )
    for partition in (PARTITION, PRIVATE, other):
        Desk(ledger, partition).create("there")
    assert {} == carry(ledger, again, tmp_path)
    with again.view() as view:
        assert {PARTITION, PRIVATE, other} == set(view.partitions())
