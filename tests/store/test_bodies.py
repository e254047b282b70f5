"""What an overlay of bodies promises besides: rows are sealed, stored bodies are checked, and read once."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.core.events import Head
from relatum.errors import StorageInconsistency
from relatum.store import rows, staged_rows
from relatum.store.memory import MemoryStore
from relatum.store.overlay import Packable
from relatum.store.staged_rows import Bodies
from tests.store.helpers import EVERYTHING

KEYS = [b"a", b"b", b"c"]


class Counting(MemoryStore):
    """Tells how often each key was asked for."""

    def __init__(self, found: dict[bytes, bytes]) -> None:
        super().__init__({key: rows.seal(key, body) for key, body in found.items()})
        self.gets: Counter[bytes] = Counter()

    def get(self, key: bytes) -> bytes | None:
        self.gets[key] += 1
        return super().get(key)


def test_whatever_is_staged_is_written_as_the_row_of_its_body() -> None:
    overlay = Bodies(MemoryStore())
    head, header = Head(sequence=7), rows.Completeness(1, 2, 3, 4)
    overlay.put(b"body", b"1")
    overlay.put(b"head", rows.StagedHead(head))
    overlay.put(b"header", header)
    overlay.delete(b"gone")
    expected = {
        b"body": rows.seal(b"body", b"1"),
        b"head": rows.seal(b"head", rows.HEAD.encode(head)),
        b"header": rows.seal(b"header", header.pack()),
    }
    assert {**expected, b"gone": None} == overlay.rows()
    assert sorted(expected.items()) == list(overlay.scan(*EVERYTHING))
    assert {key: rows.unseal(key, row) for key, row in expected.items()} == {key: overlay.body(key) for key in expected}
    assert expected == {key: overlay.get(key) for key in expected}
    assert overlay.body(b"gone") is None is overlay.get(b"gone")


def test_a_stored_body_is_read_once_and_so_is_that_there_is_none() -> None:
    store = Counting({b"a": b"1"})
    overlay = Bodies(store)
    assert [b"1", b"1", None, None] == [overlay.body(key) for key in (b"a", b"a", b"b", b"b")]
    assert {b"a": 1, b"b": 1} == store.gets


def test_a_damaged_row_is_found_at_every_look() -> None:
    overlay = Bodies(MemoryStore({b"a": rows.seal(b"b", b"1")}))
    for _ in range(2):
        with pytest.raises(StorageInconsistency):
            overlay.body(b"a")


def test_no_more_is_remembered_than_a_group_may_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staged_rows, "REMEMBERED_ROWS_MAX", 2)
    store = Counting({b"a": b"1", b"b": b"2", b"c": b"3"})
    overlay = Bodies(store)
    for _ in range(3):
        assert [b"1", b"2", b"3"] == [overlay.body(key) for key in KEYS]
    assert {b"a": 1, b"b": 1, b"c": 3} == store.gets


staged = st.none() | st.binary(max_size=2) | st.builds(rows.Completeness, st.integers(0, 3))
commands = st.lists(
    st.tuples(st.lists(st.tuples(st.sampled_from(KEYS), staged), max_size=4), st.booleans(), st.sampled_from(KEYS)),
    max_size=6,
)


@given(stored=st.dictionaries(st.sampled_from(KEYS), st.binary(max_size=2)), commands=commands)
def test_what_was_read_and_dropped_is_neither_shown_nor_in_the_way(
    stored: dict[bytes, bytes],
    commands: list[tuple[list[tuple[bytes, bytes | Packable | None]], bool, bytes]],
) -> None:
    overlay = Bodies(MemoryStore({key: rows.seal(key, body) for key, body in stored.items()}))
    kept: dict[bytes, bytes | None] = dict(stored)
    for puts, fails, look in commands:
        now = dict(kept)
        assert now.get(look) == overlay.body(look)
        for key, value in puts:
            overlay.put(key, value)
            now[key] = value if value is None or isinstance(value, bytes) else value.pack()
            assert now[key] == overlay.body(key)
        if fails:
            overlay.drop()
        else:
            overlay.keep()
            kept = now
        assert [kept.get(key) for key in KEYS] == [overlay.body(key) for key in KEYS]
