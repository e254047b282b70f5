"""What an overlay promises beyond being a reader: what is dropped is gone, and a scan that holds still."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from relatum.store.memory import MemoryStore
from relatum.store.overlay import Overlay
from tests.store.helpers import EVERYTHING, rows_of


def test_dropping_restores_replaced_added_and_deleted_rows() -> None:
    overlay = Overlay(MemoryStore({b"base": b"0", b"kept": b"0"}))
    overlay.put(b"mine", b"1")
    overlay.keep()
    overlay.put(b"mine", b"2")
    overlay.put(b"mine", b"3")
    overlay.put(b"new", b"1")
    overlay.delete(b"base")
    overlay.delete(b"new")
    overlay.drop()
    assert {b"base": b"0", b"kept": b"0", b"mine": b"1"} == rows_of(overlay)
    assert {b"mine": b"1"} == overlay.rows()


def test_dropping_everything_leaves_nothing_to_write() -> None:
    overlay = Overlay(MemoryStore())
    overlay.put(b"k", b"v")
    assert {b"k": b"v"} == rows_of(overlay)
    overlay.drop()
    assert {} == overlay.rows()
    assert {} == rows_of(overlay)


def test_a_staged_deletion_is_written_even_if_the_base_has_no_such_row() -> None:
    overlay = Overlay(MemoryStore())
    overlay.delete(b"k")
    assert {b"k": None} == overlay.rows()
    assert overlay.get(b"k") is None


def test_a_scan_does_not_see_what_is_staged_while_it_runs() -> None:
    overlay = Overlay(MemoryStore({b"a": b"0", b"c": b"0"}))
    overlay.put(b"b", b"1")
    scan = overlay.scan(*EVERYTHING)
    assert (b"a", b"0") == next(scan)
    overlay.put(b"b", b"2")
    overlay.put(b"bb", b"2")
    overlay.delete(b"d")
    assert [(b"b", b"1"), (b"c", b"0")] == list(scan)
    assert [b"a", b"b", b"bb", b"c"] == list(rows_of(overlay))


def test_many_staged_rows_stay_in_order_when_a_few_are_added_between_scans() -> None:
    overlay = Overlay(MemoryStore())
    expected: set[bytes] = set()
    for number in range(300):
        key = b"%d" % (number * 7919 % 1000)
        overlay.put(key, b"v")
        expected.add(key)
        if number % 3 == 0:
            assert sorted(expected) == [key for key, _ in overlay.scan(*EVERYTHING)]


keys = st.sampled_from([b"", b"\x00", b"a", b"a\x00", b"b", b"\xff"])
puts = st.lists(st.tuples(keys, st.none() | st.binary(max_size=2), st.booleans()), max_size=12)


@given(base=st.dictionaries(keys, st.binary(max_size=2)), commands=st.lists(st.tuples(puts, st.booleans()), max_size=6))
def test_only_commands_that_were_kept_leave_anything_behind(
    base: dict[bytes, bytes], commands: list[tuple[list[tuple[bytes, bytes | None, bool]], bool]]
) -> None:
    overlay = Overlay(MemoryStore(base))
    kept: dict[bytes, bytes | None] = {}
    for command, fails in commands:
        staged = dict(kept)
        for key, value, scans in command:
            overlay.put(key, value)
            staged[key] = value
            if scans:
                assert_shows(overlay, base, staged)
        if fails:
            overlay.drop()
        else:
            overlay.keep()
            kept = staged
        assert_shows(overlay, base, kept)
    assert kept == overlay.rows()


def assert_shows(overlay: Overlay, base: dict[bytes, bytes], staged: dict[bytes, bytes | None]) -> None:
    expected = {key: value for key, value in {**base, **staged}.items() if value is not None}
    assert sorted(expected.items()) == list(overlay.scan(*EVERYTHING))
    assert sorted(expected.items(), reverse=True) == list(overlay.scan(*EVERYTHING, reverse=True))
