"""Any text survives its way into a file and back, and a file has one form only."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relatum.ledger.text_export.escapes import as_it_was, on_one_line
from relatum.ledger.text_export.export_errors import TextUnusable
from relatum.ledger.text_export.grammar import LINE_BYTES_MAX, Entry, Fields, read, written

TEXT = st.text(st.characters(codec="utf-8"))
NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,9}", fullmatch=True)
BLOCKS = st.lists(TEXT.map(on_one_line), max_size=4).map(tuple)


def entries(members: st.SearchStrategy[tuple[Entry, ...]]) -> st.SearchStrategy[Entry]:
    return st.builds(Entry, NAMES, st.none() | TEXT, BLOCKS, members)


DOCUMENTS = st.lists(entries(st.lists(entries(st.just(())), max_size=3).map(tuple)), max_size=6)


@given(TEXT)
def test_an_escaped_text_is_one_line_and_comes_back(text: str) -> None:
    line = on_one_line(text)
    assert len(line.splitlines()) <= 1
    assert not line.endswith(" ")
    assert text == as_it_was(line)


@given(DOCUMENTS)
def test_what_is_written_is_read_back(document: list[Entry]) -> None:
    assert document == read(written(document))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("a\nb", r"a\nb"),
        ("a\\", r"a\\"),
        ("\x85\u2028", r"\u{85}\u{2028}"),
        (" a  ", r" a \u{20}"),
        ("夢", "夢"),
    ],
)
def test_the_escapes_are_these(text: str, line: str) -> None:
    assert line == on_one_line(text)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"a: 1\nb: \xff\n", "line 2 is not UTF-8"),
        (b"a: 1\nb: 2", "the last line has no end"),
        (b"a: 1\nB: 2\n", "line 2 can't be understood"),
        (b"a: 1\n\nb: 2\n", "line 2 can't be understood"),
        (b"a: \n", "line 1 can't be understood"),
        (b"a: 1\r\n", None),
        (b"a: 1\n    b: 2\n", "line 2 can't be understood"),
        (b"a: \\x\n", "line 1 has an escape that means nothing"),
        (b"a: \\u{110000}\n", "line 1 has an escape that means nothing"),
        (b"|a\n", "line 1 can't be understood"),
        (b"a: " + b"b" * LINE_BYTES_MAX + b"\n", "line 1 can't be understood"),
        (b"a:\n|" + b"b" * LINE_BYTES_MAX + b"\n", "line 2 can't be understood"),
    ],
)
def test_what_nobody_wrote_is_not_understood(data: bytes, said: str | None) -> None:
    if said is None:
        assert written(read(data)) != data
        return
    with pytest.raises(TextUnusable, match=said):
        read(data)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ([Entry("a", "1"), Entry("a", "2")], "a is there more than once"),
        ([Entry("b", "1")], "a is missing"),
        ([Entry("a", None, ("1",))], "a must have a value"),
        ([Entry("a", "1"), Entry("b", "2")], "b has no meaning here"),
    ],
)
def test_each_entry_is_asked_for_once(document: list[Entry], said: str) -> None:
    fields = Fields(document)
    with pytest.raises(TextUnusable, match=said):
        _only_a(fields)


def _only_a(fields: Fields) -> None:
    assert fields.required("a")
    fields.require_nothing_else()
