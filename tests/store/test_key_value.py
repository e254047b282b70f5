"""One suite for the promises of a live store: write, sync, publish, view, close."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event, Thread

import pytest

from relatum.errors import StorageFailure
from relatum.store.memory import MemoryStore
from relatum.store.rocks import RocksStore
from tests.store.conftest import Store
from tests.store.helpers import EVERYTHING, commit, rows_of
from tests.support.polling import WAIT_SECONDS


def test_a_fresh_store_is_published_empty_and_at_no_position(store: Store) -> None:
    with store.view() as view:
        assert {} == rows_of(view)
        assert view.position is None


def test_the_writer_reads_what_it_has_written_at_once(store: Store) -> None:
    store.write({b"a": b"1", b"b": b"1"})
    store.write({b"b": None, b"c": b"2"})
    assert {b"a": b"1", b"c": b"2"} == rows_of(store)
    assert [b"1", None, b"2"] == [store.get(key) for key in (b"a", b"b", b"c")]


def test_a_view_never_shows_what_was_written_after_the_last_publication(store: Store) -> None:
    commit(store, {b"a": b"1", b"b": b"1"}, position=1)
    store.write({b"a": b"2", b"b": None, b"c": b"2"})
    with store.view() as written:
        store.sync()
        with store.view() as synced:
            for view in (written, synced):
                assert {b"a": b"1", b"b": b"1"} == rows_of(view)
                assert [b"1", b"1", None] == [view.get(key) for key in (b"a", b"b", b"c")]
                assert 1 == view.position


def test_a_view_stays_as_it_was_taken_through_later_publications(store: Store) -> None:
    views = []
    for number in range(20):
        commit(store, {b"same": b"%d" % number, b"%02d" % number: b"", b"%02d" % (number - 5): None}, position=number)
        views.append(store.view())
    for number, view in enumerate(views):
        expected = {b"%02d" % n: b"" for n in range(max(0, number - 4), number + 1)} | {b"same": b"%d" % number}
        assert expected == rows_of(view)
        assert b"%d" % number == view.get(b"same")
        assert number == view.position
        view.close()


def test_a_scan_left_half_way_goes_on_in_its_own_state_after_a_commit(store: Store) -> None:
    keys = [b"%04d" % number for number in range(1000)]
    commit(store, dict.fromkeys(keys, b"old"))
    with store.view() as view:
        scan = view.scan(*EVERYTHING)
        first = next(scan)
        commit(store, dict.fromkeys(keys[::2]) | dict.fromkeys(keys[1::2], b"new") | {b"0000x": b"new"})
        assert [(key, b"old") for key in keys] == [first, *scan]


def test_publishing_before_the_sync_is_refused(store: Store) -> None:
    store.write({b"a": b"1"})
    with pytest.raises(RuntimeError, match="after they have been synced"):
        store.publish()
    store.sync()
    store.publish()
    with store.view() as view:
        assert b"1" == view.get(b"a")


def test_an_empty_write_is_a_commit_like_any_other(store: Store) -> None:
    commit(store, {}, position="empty")
    with store.view() as view:
        assert "empty" == view.position


def test_a_closed_view_refuses_reads_and_ends_its_scans(store: Store) -> None:
    commit(store, {b"%04d" % number: b"" for number in range(100)})
    with store.view() as view:
        scan = view.scan(*EVERYTHING)
        next(scan)
    view.close()
    with pytest.raises(StorageFailure, match="view is closed"):
        view.get(b"0000")
    with pytest.raises(StorageFailure, match="view is closed"):
        next(view.scan(*EVERYTHING))
    with pytest.raises(StorageFailure, match="view is closed"):
        list(scan)


def test_a_closed_store_refuses_everything_and_may_be_closed_again(store: Store) -> None:
    store.close()
    store.close()
    uses: list[Callable[[], object]] = [
        lambda: store.get(b"a"),
        lambda: next(store.scan(*EVERYTHING)),
        lambda: store.write({b"a": b"1"}),
        store.sync,
        store.publish,
        store.view,
    ]
    for use in uses:
        with pytest.raises(StorageFailure, match="store is closed"):
            use()


def test_closing_is_refused_while_a_view_is_open_and_works_once_it_is_closed(store: Store) -> None:
    commit(store, {b"a": b"1"})
    view = store.view()
    with pytest.raises(StorageFailure, match="while views are open"):
        store.close(wait_seconds=0)
    assert b"1" == view.get(b"a")
    with pytest.raises(StorageFailure, match="store is closed"):
        store.view()
    view.close()
    store.close(wait_seconds=0)


def test_closing_waits_for_a_view_that_another_thread_still_reads(store: Store) -> None:
    commit(store, {b"a": b"1"})
    view = store.view()
    closing = Event()
    read: list[bytes | None] = []

    def reader() -> None:
        closing.wait(WAIT_SECONDS)
        read.append(view.get(b"a"))
        view.close()

    thread = Thread(target=reader)
    thread.start()
    closing.set()
    store.close(wait_seconds=WAIT_SECONDS)
    thread.join(WAIT_SECONDS)
    assert [b"1"] == read


def test_any_number_of_views_may_be_open_on_one_publication(store: Store) -> None:
    commit(store, {b"%03d" % number: b"" for number in range(100)})
    views = [store.view() for _ in range(200)]
    scans = [view.scan(*EVERYTHING) for view in views]
    for number in range(100):
        assert {b"%03d" % number} == {next(scan)[0] for scan in scans}
    for view in views:
        view.close()
    store.close(wait_seconds=0)


def test_readers_in_other_threads_see_whole_commits_while_the_writer_goes_on(store: Store) -> None:
    keys = [b"%03d" % number for number in range(150)]
    commit(store, dict.fromkeys(keys, b"0"), position=0)
    start = Barrier(4)
    done = Event()

    def read_until_done() -> int:
        start.wait(WAIT_SECONDS)
        views = 0
        while not done.is_set() or views == 0:
            with store.view() as view:
                assert isinstance(view.position, int)
                value = b"%d" % view.position
                assert dict.fromkeys(keys, value) == rows_of(view)
                assert value == view.get(keys[7])
                assert [value] * 150 == [v for _, v in view.scan(*EVERYTHING, reverse=True)]
            views += 1
        return views

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read_until_done) for _ in range(3)]
        start.wait(WAIT_SECONDS)
        try:
            for number in range(1, 150):
                commit(store, dict.fromkeys(keys, b"%d" % number), position=number)
        finally:
            done.set()
        assert all(reader.result(WAIT_SECONDS) > 0 for reader in readers)


def test_several_threads_may_scan_one_view_at_once(store: Store) -> None:
    rows = {b"%05d" % number: b"%d" % number for number in range(3000)}
    commit(store, rows)
    with store.view() as view, ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: rows_of(view), range(8)):
            assert rows == found


def test_synced_rows_are_there_after_reopening(open_rocks: Callable[[], RocksStore]) -> None:
    first = open_rocks()
    commit(first, {b"a": b"1", b"\x00\xff": b"\x00"})
    commit(first, {b"a": b"2"})
    first.close()
    assert {b"a": b"2", b"\x00\xff": b"\x00"} == rows_of(open_rocks())


def test_a_power_cut_takes_the_batch_in_doubt_and_nothing_else() -> None:
    store = MemoryStore()
    commit(store, {b"a": b"1", b"b": b"1"})
    store.write({b"a": b"2", b"b": None, b"c": b"2"})
    assert {b"a": b"1", b"b": b"1"} == rows_of(store.crash())


def test_a_power_cut_may_leave_the_batch_in_doubt_whole() -> None:
    store = MemoryStore()
    commit(store, {b"a": b"1", b"b": b"1"})
    store.write({b"a": b"2", b"b": None, b"c": b"2"})
    assert {b"a": b"2", b"c": b"2"} == rows_of(store.crash(keep_unsynced=True))


def test_at_most_one_batch_is_ever_in_doubt() -> None:
    store = MemoryStore()
    store.write({b"a": b"1"})
    store.write({b"b": b"2"})
    assert {b"a": b"1"} == rows_of(store.crash())


def test_a_store_that_was_cut_off_takes_no_more_writes() -> None:
    store = MemoryStore()
    reopened = store.crash()
    with pytest.raises(StorageFailure):
        store.write({b"a": b"1"})
    commit(reopened, {b"a": b"1"})


def test_memory_forgets_the_values_that_nobody_can_ask_for_any_more() -> None:
    store = MemoryStore()
    with store.view():
        for number in range(100):
            commit(store, {b"same": b"%d" % number, b"%d" % number: b"", b"%d" % (number - 1): None})
        assert 100 < sum(len(values) for _, values in store._rows._history.values())
    commit(store, {})
    commit(store, {})
    assert {b"same": b"99", b"99": b""} == {key: values[-1] for key, (_, values) in store._rows._history.items()}
    assert 2 == sum(len(values) for _, values in store._rows._history.values())


@pytest.mark.parametrize("fails", ["write", "sync"])
def test_after_a_failed_write_or_sync_only_views_go_on(fails: str) -> None:
    store = MemoryStore()
    commit(store, {b"a": b"1"})
    if fails == "sync":
        store.write({b"a": b"2"})
    store.break_disk()
    with pytest.raises(StorageFailure):
        store.sync() if fails == "sync" else store.write({b"a": b"2"})
    uses: list[Callable[[], object]] = [lambda: store.write({b"a": b"3"}), store.sync, store.publish]
    for use in uses:
        with pytest.raises(StorageFailure):
            use()
    with store.view() as view:
        assert {b"a": b"1"} == rows_of(view)
    store.close()
