"""A history with every kind of event in it, in several partitions: what rebuilds and verifications are tried on."""

from __future__ import annotations

import asyncio

from relatum.clock import ManualClock
from relatum.core.access import Authority, Credential, CredentialSpec
from relatum.core.changes import JournalHead
from relatum.core.cursors import Advance, CheckpointCommand, CheckpointReceipt, Reconcile
from relatum.core.events import JudgmentEvent
from relatum.core.ids import Ref
from relatum.core.receipts import RelationReceipt
from relatum.core.records import RecordProvenance
from relatum.core.stored_judgments import SweepRun
from relatum.core.streams import RECORDS, RELATIONS, Cursor, Stream
from relatum.errors import Refusal
from relatum.ledger import Ledger
from relatum.ledger.company import IssuedCredential
from relatum.limits import DAY_MILLIS
from tests.support import builders
from tests.support.builders import BOB, MODEL, PRIVATE, SCOPE, START_MILLIS, partition, provenance
from tests.support.desk import Desk
from tests.support.judging import JudgingDesk
from tests.support.tending import TendingDesk


def every_kind_of_event(ledger: Ledger, clock: ManualClock) -> None:
    """Gives a ledger every kind of command there is, some of them refused, with records that are later deleted."""
    desk = Desk(ledger)
    _records(desk, clock)
    _relations(desk, clock)
    _records(Desk(ledger, PRIVATE), clock)
    _relations(Desk(ledger, author=BOB), clock)
    asyncio.run(_credentials(ledger))
    _streams(desk)
    tending = TendingDesk(ledger)
    _judgments(tending, clock)
    _tending(tending, clock)


def many_events(ledger: Ledger) -> None:
    """A partition with so many events that its log has tiles, and as few other rows as can be."""
    desk = Desk(ledger, partition(mission_id="many"))
    one, two = desk.create("one"), desk.create("two")
    for _ in range(260):
        desk.accept(builders.assertion(one, two, if_absent=True))


def _records(desk: Desk, clock: ManualClock) -> None:
    full = desk.create(
        "everything",
        title="all members",
        data={"n": [1, 1.0, None]},
        tags=("a", "b"),
        category="project",
        topic_key="tides",
        fact_key="noon",
        provenance=RecordProvenance(source_id="book"),
        confidence=0.25,
        event_time_millis=START_MILLIS,
        valid_until_millis=2 * START_MILLIS,
    )
    clock.advance(7)
    full = desk.review(desk.revise(full, "fewer members", topic_key="currents"), "approved", "note/full")
    derived = desk.derive(full, content="a summary", topic_key="summaries")
    desk.review(derived, "rejected")
    desk.refuse(builders.revise(derived))
    desk.delete(desk.review(desk.revise(desk.create("gone", topic_key="ghosts"), "gone", topic_key="ghosts")))
    kept = desk.create("kept", provenance=RecordProvenance(source_id="book"))
    desk.delete(desk.derive(kept, content="a summary that goes"))
    desk.create("the next holder", topic_key="ghosts", provenance=RecordProvenance(source_id="book"))
    desk.revise(desk.create("plain"), topic_key="tides")


def _relations(desk: Desk, clock: ManualClock) -> None:
    one, two, proof = desk.create("one"), desk.create("two"), desk.create("proof")
    person = desk.create("a person", type="person")
    desk.relate(one, person, "authored_by")
    relation = desk.relate(
        one,
        two,
        "contradicts",
        provenance=provenance(origin="model_inference", model=MODEL),
        valid_from_millis=START_MILLIS,
        valid_until_millis=2 * START_MILLIS,
        evidence_sources=(proof,),
    )
    clock.advance(11)
    relation = desk.restore(desk.retire(relation))
    relation = desk.restore(desk.retire(desk.judge(relation, "rejected")))
    desk.judge(relation, "approved")
    desk.accept(builders.assertion(two, one, "contradicts", if_absent=True))
    desk.judge(desk.relate(two, one), "rejected")
    desk.retire(desk.relate(one, two))
    desk.relate(two, one)
    desk.delete(one)
    desk.refuse(builders.assertion(one, two))


async def _credentials(ledger: Ledger) -> None:
    first = ledger.bootstrap("acme", "root")
    assert isinstance(first, IssuedCredential)
    admin: Credential = first.credential
    spec = CredentialSpec(subject_id="ada", capabilities=("memory_read",), grants=(SCOPE,))
    issued = await ledger.issue_credential(admin, spec)
    assert isinstance(issued, IssuedCredential)
    worker = issued.credential.id
    await ledger.rotate_credential(admin, worker, 1)
    await ledger.change_scope_authority(admin, worker, 2, Authority(grants=()))
    await ledger.revoke_credential(admin, worker, 3)
    assert isinstance(ledger.bootstrap("acme", "second root", recover=True), IssuedCredential)
    assert isinstance(ledger.bootstrap("other company", "root"), IssuedCredential)


def _streams(desk: Desk) -> None:
    for stream in (RECORDS, RELATIONS):
        desk.ledger.activate(desk.partition, desk.author, stream)
    quiet = Desk(desk.ledger, builders.partition(mission_id="quiet"))
    start = desk.ledger.activate(quiet.partition, quiet.author, RECORDS)
    quiet.create("heard")
    end = desk.ledger.activate(quiet.partition, quiet.author, RECORDS)
    first = _checkpoint(quiet, RECORDS, "first", Advance(cursor=_cursor(RECORDS, end)), None)
    _checkpoint(quiet, RECORDS, "back", Reconcile(cursor=_cursor(RECORDS, start), evidence_ref="note/5"), first)


def _judgments(desk: JudgingDesk, clock: ManualClock) -> None:
    first = desk.save("the ferry leaves at nine", topic_key="ferry")
    second = desk.save("the ferry leaves at ten", like=(first,))
    third = desk.save("the ferry leaves at noon", like=(second,), topic_key="ferry")
    waiting = desk.save("a boat leaves at noon", like=(second, third))
    desk.judge(
        desk.pending_between(second, third), "conflicts_with", reason="nine or noon", evidence={"seen": [1, 2.5]}
    )
    desk.compare(third, second, "supersedes", reason="the later one")
    desk.compare(third, second, "supersedes")
    desk.compare(third, second, "scoped")
    desk.compare(waiting, second, "supersedes", reason="goes with its end")
    desk.submit((first, waiting), (waiting, first))
    clock.advance(20 * DAY_MILLIS)
    swept = desk.sweep()
    assert isinstance(swept, JudgmentEvent)
    assert isinstance(swept.operation, SweepRun)
    desk.undo(run_id=swept.operation.run_id)
    desk.sweep()
    desk.confirm(third, "refuted")
    desk.confirm(third)
    for change in (desk.archive, desk.pin, desk.unarchive, desk.unpin, desk.pin):
        assert not isinstance(change(third), Refusal)
    desk.archive(first)
    gone = desk.save("it goes", like=(third,), topic_key="goes")
    desk.compare(gone, third, "related", reason="erased")
    desk.pin(gone)
    Desk(desk.ledger, desk.partition, desk.author).delete(gone)


def _tending(desk: TendingDesk, clock: ManualClock) -> None:
    plain = Desk(desk.ledger, desk.partition, desk.author)
    book, other_book = RecordProvenance(source_id="book", source_hash="1"), RecordProvenance(source_id="book")
    one = desk.save("the bridge is open", fact_key="bridge", provenance=book)
    two = desk.save("the bridge is shut", fact_key="bridge")
    plain.revise(desk.save("it says another thing", fact_key="bridge"), fact_key="lantern", provenance=other_book)
    gone = plain.create("it says nothing any more", fact_key="bridge")
    for pair in ((one, two), (two, gone), (gone, one)):
        assert not isinstance(desk.link(*pair), Refusal)
    assert not isinstance(desk.link(two, one, "conflicts"), Refusal)
    assert not isinstance(desk.unlink(one, gone), Refusal)
    assert not isinstance(desk.mark_stale(one, two), Refusal)
    assert not isinstance(desk.mark_stale(one, gone, 0.5), Refusal)
    lifted = plain.create("it made something stale")
    assert not isinstance(desk.mark_stale(one, lifted), Refusal)
    plain.delete(lifted)
    assert not isinstance(desk.mark_stale(one, two, 0.25), Refusal)
    assert not isinstance(desk.mark_stale(gone, two), Refusal)
    _promotions(desk, plain, one, two)
    _returns(desk, plain, clock)
    plain.delete(gone)


def _promotions(desk: TendingDesk, plain: Desk, one: Ref, two: Ref) -> None:
    three = plain.create("a ferry goes instead")
    desk.promote("2023-11-14", (one, two, "contradicts"), (two, three, "leads_to"), (one, three, "none"))
    desk.promote("2023-11-15", (two, one, "contradicts"), (three, one, "part_of"))
    desk.promote("2023-11-15", (plain.create("four"), three, "contradicts"), (plain.create("five"), one, "supports"))


def _returns(desk: TendingDesk, plain: Desk, clock: ManualClock) -> None:
    """A verdict that is retired, restored, rejected and replaced, and standings that go with it."""
    old, new = desk.save("the toll is one", topic_key="toll"), desk.save("the toll is two")
    given = desk.compare(new, old, "supersedes", reason="it was raised")
    assert isinstance(given, JudgmentEvent)
    assert isinstance(given.receipt, RelationReceipt)
    receipt = plain.restore(plain.retire(given.receipt))
    clock.advance(13)
    plain.judge(plain.judge(receipt, "rejected"))
    newest = desk.save("the toll is three", like=(new,), topic_key="toll fee")
    desk.save("the toll is four", like=(new, newest), topic_key="toll fee")
    desk.compare(new, old, "not_conflict")


def _cursor(stream: Stream, tip: JournalHead) -> Cursor:
    return Cursor(
        version=1,
        stream=stream,
        journal_id=tip.journal_id,
        sequence=tip.sequence,
        prefix_digest=tip.prefix_digest.hex(),
    )


def _checkpoint(
    desk: Desk, stream: Stream, key: str, operation: Advance | Reconcile, after: CheckpointReceipt | None
) -> CheckpointReceipt:
    saved = None if after is None else after.checkpoint
    command = CheckpointCommand(
        contract_version=1,
        idempotency_key=key,
        consumer_id="indexer",
        expected_revision=0 if saved is None else saved.revision,
        expected_checkpoint_digest=None if saved is None else saved.checkpoint_digest,
        operation=operation,
    )
    receipt = desk.ledger.save_checkpoint(desk.partition, desk.author, stream, command)
    assert isinstance(receipt, CheckpointReceipt), receipt
    return receipt
