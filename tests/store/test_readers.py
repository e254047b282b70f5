"""One suite for everything rows can be read from: live stores, views, and overlays over them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.store.kv import KeyValue, Reader
from relatum.store.memory import MemoryStore
from relatum.store.overlay import Overlay
from relatum.store.publication import CHUNK_ROWS_FIRST, CHUNK_ROWS_MAX
from tests.store.conftest import Store
from tests.store.helpers import EVERYTHING, commit, rows_of

ROWS = {
    b"": b"the empty key",
    b"\x00": b"zero",
    b"\x00\x00": b"zero zero",
    b"a": b"1",
    b"a\x00": b"2",
    b"a\x00\xff": b"3",
    b"a\xff": b"4",
    b"b": b"",
    b"b\x80": b"\x00\xff" * 50,
    b"\xff": b"5",
    b"\xff\xff": b"6",
}
ORDER = sorted(ROWS)


def committed(store: Store) -> None:
    """Reach ROWS by a detour, so that replaced and deleted rows lie about everywhere."""
    commit(store, dict.fromkeys(ORDER, b"older") | {b"a\x01": b"gone", b"zz": b"gone"})
    commit(store, {b"a\x01": None, b"zz": None, b"never there": None, **ROWS})


@pytest.fixture(
    params=["live", "view", "overlay of nothing", "overlay of some", "overlay of all", "overlay on overlay"]
)
def reader(request: pytest.FixtureRequest, store: Store) -> Iterator[Reader]:
    """A reader that shows exactly ROWS, however it comes by them."""
    kind = request.param
    if kind == "overlay of all":
        commit(store, {b"a\x01": b"deleted above"})
        yield staged(store, {b"a\x01": None, **ROWS})
        return
    if kind == "overlay of some":
        below = {key: value for index, (key, value) in enumerate(ROWS.items()) if index % 2}
        commit(store, {**below, b"a": b"replaced above", b"zz": b"deleted above"})
        yield staged(store, {key: value for key, value in ROWS.items() if key not in below} | {b"a": b"1", b"zz": None})
        return
    committed(store)
    with store.view() as view:
        yield {
            "live": store,
            "view": view,
            "overlay of nothing": Overlay(view),
            "overlay on overlay": staged(staged(view, {b"a": b"x", b"b": None, b"c": b"y"}), {**ROWS, b"c": None}),
        }[kind]


def staged(base: Reader, rows: dict[bytes, bytes | None] | dict[bytes, bytes]) -> Overlay:
    overlay = Overlay(base)
    for key, value in rows.items():
        overlay.put(key, value)
    return overlay


def test_get_finds_every_row_and_nothing_else(reader: Reader) -> None:
    assert {key: reader.get(key) for key in ROWS} == ROWS
    assert all(reader.get(key) is None for key in (b"a\x01", b"zz", b"never there", b"\x00" * 3, b"\xff" * 3))


def test_scan_yields_rows_in_the_order_of_unsigned_bytes(reader: Reader) -> None:
    assert [(key, ROWS[key]) for key in ORDER] == list(reader.scan(*EVERYTHING))


def test_reverse_scan_yields_the_same_rows_backwards(reader: Reader) -> None:
    assert [(key, ROWS[key]) for key in reversed(ORDER)] == list(reader.scan(*EVERYTHING, reverse=True))


@pytest.mark.parametrize("reverse", [False, True])
def test_start_is_included_and_stop_is_not_whether_or_not_a_row_lies_there(reader: Reader, reverse: bool) -> None:
    bounds = [*ORDER, b"\x00\x01", b"a\x01", b"a\xfe", b"c", b"\xff\xff\xff"]
    for start in bounds:
        for stop in bounds:
            expected = sorted((key for key in ORDER if start <= key < stop), reverse=reverse)
            assert expected == [key for key, _ in reader.scan(start, stop, reverse=reverse)]


@pytest.mark.parametrize("reverse", [False, True])
def test_an_empty_or_upside_down_range_yields_nothing(reader: Reader, reverse: bool) -> None:
    assert [] == list(reader.scan(b"a", b"a", reverse=reverse))
    assert [] == list(reader.scan(b"b", b"a", reverse=reverse))
    assert [] == list(reader.scan(b"c", b"d", reverse=reverse))


def test_a_scan_may_be_left_early_and_others_may_run_meanwhile(reader: Reader) -> None:
    forwards, backwards = reader.scan(*EVERYTHING), reader.scan(*EVERYTHING, reverse=True)
    for index in range(4):
        assert ORDER[index] == next(forwards)[0]
        assert ORDER[-1 - index] == next(backwards)[0]
        assert b"1" == reader.get(b"a")
        assert ORDER == [key for key, _ in reader.scan(*EVERYTHING)]


@pytest.mark.parametrize("reverse", [False, True])
def test_no_key_is_lost_between_chunks_though_each_is_the_next_one_there_can_be(store: Store, reverse: bool) -> None:
    keys = [b"k" + bytes(length) for length in range(3 * CHUNK_ROWS_FIRST)]
    commit(store, dict.fromkeys(keys, b"v"))
    assert sorted(keys, reverse=reverse) == [key for key, _ in store.scan(*EVERYTHING, reverse=reverse)]


@pytest.mark.parametrize(
    "count", [CHUNK_ROWS_FIRST, CHUNK_ROWS_FIRST + 1, 5 * CHUNK_ROWS_FIRST, 2 * CHUNK_ROWS_MAX + 1]
)
@pytest.mark.parametrize("reverse", [False, True])
def test_a_long_scan_is_whole_however_it_falls_into_chunks(store: Store, count: int, reverse: bool) -> None:
    keys = [b"%06d" % number for number in range(count)]
    commit(store, dict.fromkeys(keys, b"v"))
    with store.view() as view:
        assert sorted(keys, reverse=reverse) == [key for key, _ in view.scan(keys[0], b"9", reverse=reverse)]
        assert sorted(keys[1:-1], reverse=reverse) == [key for key, _ in view.scan(keys[1], keys[-1], reverse=reverse)]


def test_large_values_come_in_full(store: Store) -> None:
    rows = {b"%02d" % number: bytes([number]) * 100_000 for number in range(10)}
    commit(store, rows)
    with store.view() as view:
        assert rows == rows_of(view)
        assert list(rows.items())[::-1] == list(view.scan(*EVERYTHING, reverse=True))


# A narrow alphabet makes prefixes, neighbours and collisions likely.
keys = st.binary(max_size=4) | st.text("\x00a\x7f\xff", max_size=4).map(lambda text: text.encode("latin-1"))
changes = st.dictionaries(keys, st.none() | st.binary(max_size=3), max_size=20)


@given(below=changes, above=st.lists(st.tuples(keys, st.none() | st.binary(max_size=3))), start=keys, stop=keys)
def test_an_overlay_reads_like_its_base_after_the_write(
    below: dict[bytes, bytes | None], above: list[tuple[bytes, bytes | None]], start: bytes, stop: bytes
) -> None:
    base = MemoryStore({key: value for key, value in below.items() if value is not None})
    overlay = Overlay(base)
    model = rows_of(base)
    for key, value in above:
        overlay.put(key, value)
        model = {k: v for k, v in {**model, key: value}.items() if v is not None}
        assert sorted(model) == [key for key, _ in overlay.scan(*EVERYTHING)]
    expected = sorted((k, v) for k, v in model.items() if start <= k < stop)
    assert expected == list(overlay.scan(start, stop))
    assert expected[::-1] == list(overlay.scan(start, stop, reverse=True))
    assert all(overlay.get(key) == model.get(key) for key in [*below, start, stop])
    commit(base, overlay.rows())
    assert model == rows_of(base)


def type_checks(rocks_or_memory: Store) -> KeyValue:
    """Nothing to run: the type checker proves here that both stores keep to the protocol."""
    return rocks_or_memory
