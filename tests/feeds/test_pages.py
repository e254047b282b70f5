"""Pages: consecutive changes of a stream up to a fence, whatever the size of a page."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum import limits
from relatum.clock import ManualClock
from relatum.core.canonical import encode
from relatum.core.ids import Author, Ref
from relatum.core.streams import RECORDS, RELATIONS, Stream
from relatum.ledger import Ledger
from tests.feeds.following import Consumer, answered
from tests.feeds.history import History
from tests.support import builders
from tests.support.builders import PARTITION, PRIVATE, START_MILLIS
from tests.support.desk import Desk

STREAMS: list[Stream] = [RELATIONS, RECORDS]


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("size", [*range(1, 9), 255, 256])
def test_pages_of_every_size_add_up_to_the_log(desk: Desk, consumer: Consumer, stream: Stream, size: int) -> None:
    history = History(desk)
    history.live()
    told = consumer.of(stream).deliveries(size)
    assert history.log[stream] == [msgspec.to_builtins(one.change) for one in told]
    assert list(range(1, len(told) + 1)) == [one.cursor.sequence for one in told]


@pytest.fixture(scope="module")
def lived() -> Iterator[tuple[Consumer, History]]:
    """One history for every example; nothing is written to it any more."""
    with Ledger.in_memory(clock=ManualClock(START_MILLIS)) as ledger:
        history = History(Desk(ledger))
        history.live()
        yield Consumer(history.desk), history


@given(data=st.data(), stream=st.sampled_from(STREAMS), limit=st.integers(1, 9))
def test_a_page_is_a_slice_of_the_log(
    lived: tuple[Consumer, History], data: st.DataObject, stream: Stream, limit: int
) -> None:
    consumer, history = lived
    follower, log = consumer.of(stream), history.log[stream]
    cursors = follower.cursors()
    first = data.draw(st.none() | st.integers(0, len(log)), label="after")
    last = data.draw(st.none() | st.integers(first or 0, len(log)), label="through")
    page = answered(
        follower.page(
            after=None if first is None else cursors[first],
            through=None if last is None else cursors[last],
            limit=limit,
        )
    )
    fence = len(log) if last is None else last
    reached = min((first or 0) + limit, fence)
    assert log[first or 0 : reached] == [msgspec.to_builtins(one.change) for one in page.changes]
    assert cursors[(first or 0) + 1 : reached + 1] == [one.cursor for one in page.changes]
    assert (True, cursors[0]) == (page.active, page.baseline)
    assert (cursors[reached], cursors[fence]) == (page.next_cursor, page.high_watermark)
    assert (reached == fence) == page.complete


def test_what_comes_after_the_fence_is_not_delivered(desk: Desk, consumer: Consumer) -> None:
    records = consumer.of(RECORDS)
    desk.create()
    fence = records.tip()
    desk.create()
    page = answered(records.page(through=fence))
    assert (1, fence, fence, True) == (len(page.changes), page.next_cursor, page.high_watermark, page.complete)
    assert 2 == len(records.deliveries())


def test_a_page_at_the_tip_is_empty_complete_and_stays_there(desk: Desk, consumer: Consumer) -> None:
    records = consumer.of(RECORDS)
    desk.create()
    tip = records.tip()
    page = answered(records.page(after=tip))
    assert ((), tip, tip, True) == (page.changes, page.next_cursor, page.high_watermark, page.complete)


def test_an_inactive_stream_is_an_empty_and_complete_page_without_cursors(consumer: Consumer) -> None:
    page = answered(consumer.page())
    assert (False, None, (), None, None, True) == (
        page.active,
        page.baseline,
        page.changes,
        page.next_cursor,
        page.high_watermark,
        page.complete,
    )


def test_replays_refusals_activation_and_checkpoints_add_nothing(desk: Desk, consumer: Consumer) -> None:
    first, second = desk.create(), desk.create()
    claim = desk.relate(first, second)
    command = desk.command(builders.retire(claim.relation_id, 1))
    desk.ledger.submit(command)
    before = [consumer.tip(), consumer.of(RECORDS).tip()]
    desk.ledger.submit(command)  # a replay
    desk.refuse(builders.retire(claim.relation_id, 1))
    desk.refuse(builders.delete(Ref(record_id=first.record_id, revision=7)))
    desk.ledger.activate(PARTITION, desk.author, RELATIONS)
    consumer.advance(consumer.tip())
    assert before == [consumer.tip(), consumer.of(RECORDS).tip()]


def test_a_change_tells_no_payload_and_no_evidence(desk: Desk, consumer: Consumer) -> None:
    first = desk.review(desk.create("the plain secret"), evidence_ref="evidence of a review")
    second = desk.create("another secret", title="a secret title")
    claim = desk.relate(first, second, provenance=builders.provenance(evidence_ref="evidence of a claim"))
    desk.accept(builders.judge(claim.relation_id, 1, evidence_ref="evidence of a judgment"))
    told = b"".join(msgspec.json.encode(consumer.of(stream).deliveries()) for stream in STREAMS)
    assert (b"secret" in told, b"evidence" in told) == (False, False)


def test_partitions_have_journals_of_their_own(desk: Desk, consumer: Consumer) -> None:
    private = Desk(desk.ledger, PRIVATE)
    desk.create()
    private.create()
    private.create()
    follower = Consumer(private, RECORDS)
    assert (1, 2) == (len(consumer.of(RECORDS).deliveries()), len(follower.deliveries()))
    assert set(consumer.of(RECORDS).cursors()).isdisjoint(follower.cursors())


def test_the_longest_change_fits_a_stored_entry(desk: Desk, consumer: Consumer) -> None:
    """Every member of a change is bounded but the author's subject, an identifier of at most 256 bytes."""
    longest = "\U0010ffff" * (limits.IDENTIFIER_BYTES_MAX // 4)
    author = Author(credential_id=builders.ADA.credential_id, subject_id=longest)
    eloquent = Desk(desk.ledger, author=author)
    first, second = eloquent.create(), eloquent.create()
    eloquent.relate(first, second, "semantic_related")
    with desk.view() as view:
        partition = view.partition(PARTITION)
        stored = [encode(entry) for stream in STREAMS for _, entry in partition.entries(stream, 0)]
    assert max(map(len, stored)) < limits.JOURNAL_ENTRY_BYTES_MAX // 2
    assert 1 == len(consumer.deliveries())
