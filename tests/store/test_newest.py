"""A table of what is current, walked beside its revisions."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.errors import StorageInconsistency
from relatum.store import rows
from relatum.store.latest import walk
from relatum.store.memory import MemoryStore

CURRENT, REVISIONS = b"p" * 16 + b"\4", b"p" * 16 + b"\5"
IDS = [bytes([number]) * 16 for number in (0, 1, 7, 254, 255)]

Stored = dict[bytes, bytes]


def current(one: bytes) -> bytes:
    return CURRENT + one


def revision(one: bytes, number: int) -> bytes:
    return REVISIONS + one + number.to_bytes(8, "big")


def body(one: bytes, number: int) -> bytes:
    return one[:1] + b"%d" % number


def stored(revisions: dict[bytes, int]) -> Stored:
    """Rows of objects that have so many revisions."""
    found: Stored = {}
    for one, count in revisions.items():
        found[current(one)] = rows.seal(current(one), body(one, count))
        for number in range(1, count + 1):
            key = revision(one, number)
            found[key] = rows.seal(key, body(one, number))
    return found


def walked(found: Stored, after: bytes | None = None, *, reverse: bool = False) -> Iterator[tuple[bytes, bytes]]:
    return walk(MemoryStore(dict(sorted(found.items()))), CURRENT, REVISIONS, after, reverse=reverse)


@given(
    revisions=st.dictionaries(st.sampled_from(IDS), st.integers(1, 300)),
    after=st.none() | st.sampled_from(IDS),
    reverse=st.booleans(),
)
def test_it_gives_every_current_row_on_one_side_of_a_place(
    revisions: dict[bytes, int], after: bytes | None, reverse: bool
) -> None:
    expected = [(one, body(one, revisions[one])) for one in sorted(revisions, reverse=reverse)]
    if after is not None:
        expected = [(one, found) for one, found in expected if (one < after if reverse else one > after)]
    assert expected == list(walked(stored(revisions), after, reverse=reverse))


THREE = dict(zip(IDS, (2, 1, 3), strict=False))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("one", THREE)
def test_a_row_that_is_missing_is_missed_by_whoever_comes_by(one: bytes, reverse: bool) -> None:
    found = stored(THREE)
    del found[current(one)]
    before = [other for other in sorted(THREE, reverse=reverse) if (other > one if reverse else other < one)]
    met: list[bytes] = []
    with pytest.raises(StorageInconsistency):
        met.extend(key for key, _ in walked(found, reverse=reverse))
    walking = walked(found, reverse=reverse)
    assert before == [next(walking)[0] for _ in before], "a page that ends before it is whole"


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("one", [one for one, count in THREE.items() if count > 1])
def test_a_row_that_is_an_older_revision_is_noticed(one: bytes, reverse: bool) -> None:
    older = {current(one): rows.seal(current(one), body(one, 1))}
    with pytest.raises(StorageInconsistency):
        list(walked(stored(THREE) | older, reverse=reverse))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("missing", [current, lambda one: revision(one, 1)], ids=["no revision", "no current row"])
def test_a_row_that_was_never_written_is_noticed(missing: Callable[[bytes], bytes], reverse: bool) -> None:
    foreign = stored({IDS[3]: 1})
    key = missing(IDS[3])
    with pytest.raises(StorageInconsistency):
        list(walked(stored(THREE) | {key: foreign[key]}, reverse=reverse))


def test_a_current_row_with_a_wrong_checksum_is_noticed() -> None:
    found = stored(THREE)
    found[current(IDS[0])] = found[current(IDS[0])][:-1] + b"?"
    with pytest.raises(StorageInconsistency, match="checksum"):
        list(walked(found))
